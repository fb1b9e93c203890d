"""Recording a display as a video: the button, how long it has been recording, and where it is written."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app import units
from app.context import Notice, Tone
from app.inspector.view.video.kinds import FILTERS, KINDS
from app.inspector.view.video.recorder import VideoRecorder
from app.widgets.labels import label
from app.widgets.save_dialog import ask_where
from app.widgets.tool_button import tool_button

if TYPE_CHECKING:
    from app.context import AppContext

RECORD, END = "Record a video", "End the recording"
_TICK_MS = 500


class DisplayRecording(QWidget):
    """Asks where first: from then on what is shown is in the file, whatever becomes of the window."""

    def __init__(self, context: AppContext, shown: Callable[[], QImage]) -> None:
        """`shown`: what the display shows now."""
        super().__init__()
        self._context, self._shown = context, shown
        self.recorder: VideoRecorder | None = None
        self.time_text = label(role="small")
        self.button = tool_button(context.theme.icon("circle-dot"), RECORD)
        self._ticking = QTimer(self, interval=_TICK_MS)
        self._ticking.timeout.connect(self._tell_time)
        self.button.clicked.connect(self._clicked)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.time_text)
        row.addWidget(self.button)
        context.theme.changed.connect(self._style)
        self._style()

    def show_image(self, image: QImage) -> None:
        """The display shows this from now on."""
        if self.recorder is not None:
            self.recorder.show(image)

    def begin(self, path: Path) -> None:
        """Record into this file what is shown from now on."""
        self.end()
        image = self._shown()
        if image.isNull():
            self._context.notify(Notice("The display is gone: nothing was recorded.", Tone.BAD))
            return
        self.recorder = recorder = VideoRecorder(path)
        recorder.written.connect(self._written)
        recorder.failed.connect(self._failed)
        recorder.start(image)
        self._ticking.start()
        self._style()

    def end(self) -> None:
        """Finish what is being recorded."""
        recorder, self.recorder = self.recorder, None
        if recorder is not None:
            recorder.stop()
            self._ticking.stop()
            self._style()

    def _clicked(self) -> None:
        if self.recorder is not None:
            self.end()
        else:
            name = time.strftime(f"display-%Y%m%d-%H%M%S.{KINDS[0]}")
            title = "Record the display"
            ask_where(self.window(), title, self.begin, name=name, suffix=KINDS[0], filters=FILTERS)

    def _style(self) -> None:
        runs = self.recorder is not None
        icons = self._context.theme
        self.button.setIcon(icons.icon("square", "negative") if runs else icons.icon("circle-dot"))
        self.button.setToolTip(END if runs else RECORD)
        self.button.setAccessibleName(END if runs else RECORD)
        self.time_text.setVisible(runs)
        self._tell_time()

    def _tell_time(self) -> None:
        seconds = int(self.recorder.seconds) if self.recorder is not None else 0
        self.time_text.setText(f"Recording {seconds // 60}:{seconds % 60:02}")

    def _written(self, path: Path, seconds: float) -> None:
        self._context.notify(Notice(f"Wrote {units.duration(seconds)} of video to {path}.", Tone.GOOD))

    def _failed(self, path: Path, reason: str) -> None:
        if self.recorder is not None and self.recorder.path == path:
            self.end()
        message = f"The video {path} ends here: {reason}. Choose a folder with room that you may write to."
        self._context.notify(Notice(message, Tone.BAD))
