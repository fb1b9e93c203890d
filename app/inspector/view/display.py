"""The display of a job's program in the View tab: picture, figures, and who has mouse and keyboard."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, QTimer, Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.context import Notice, Tone
from app.inspector.view.display_canvas import RELEASE, DisplayCanvas
from app.inspector.view.display_figures import DisplayFigures
from app.inspector.view.following import still_runs
from app.inspector.view.full_screen import FullScreen
from app.inspector.view.video.recording import DisplayRecording
from app.widgets.labels import label
from app.widgets.save_dialog import ask_where, not_saved
from app.widgets.tool_button import tool_button
from broker_core.errors import CrossDeskError
from broker_core.jdl.syntax.parse import parse

if TYPE_CHECKING:
    from app.context import AppContext
    from app.inspector.view.display_link import DisplayFrame, DisplayLink
    from app.inspector.view.shared_session import SharedSession

_ATTRIBUTE = "interactivedisplay"
_FIGURES_MS = 500
CONNECTING = "Connecting to the display of the program…"
FREE = f"Click into the picture, or press Return, to use mouse and keyboard there; {RELEASE} gives them back."
OURS = f"Mouse and keyboard go to the program; {RELEASE} gives them back."
OTHERS = "Another desk uses mouse and keyboard. Click into the picture to take them over."

VIDEO, EXACT, NO_VIDEO = "video", "exact", "without video"
FIGURES = "Pictures a second; milliseconds from the node's screen to this window and back; bits a second."
WITH_VIDEO = "What changes much is sent as video, and exactly once it is still."
WITHOUT_VIDEO = "Every change is sent exactly, which takes more of the network than video:"


class DisplayView(QWidget):
    """Shown while a job runs that asks for a display."""

    appeared = Signal()
    """There is a display to show now."""

    def __init__(self, context: AppContext, session: SharedSession) -> None:
        super().__init__()
        self._context, self._session = context, session
        self.link: DisplayLink | None = None
        self.wanted = False
        """The job shown has a display, or should have one."""
        self._job = ""
        self._without_video = ""
        self._frame: DisplayFrame | None = None
        self._confirmed: DisplayFrame | None = None
        self.canvas = DisplayCanvas()
        self.figures_text = label(role="small", fluid=True)
        self.remark = label(role="muted", wrap=True)
        self.snapshot = tool_button(context.theme.icon("image"), "Save a snapshot as PNG")
        self.recording = DisplayRecording(context, lambda: self.canvas.image)
        self.full = tool_button(context.theme.icon("maximize-2"), "Show it on the full screen")
        self.full_screen: FullScreen | None = None
        self._figures = DisplayFigures(time.monotonic)
        self._counting = QTimer(self, interval=_FIGURES_MS)
        self._lay_out()
        self._connect_parts()
        self.stand_beside(on=False)
        self.hide()

    def stand_beside(self, *, on: bool) -> None:
        """Be as high as there is room, or no higher than the picture."""
        policies = QSizePolicy.Policy
        self.setSizePolicy(policies.Preferred, policies.Preferred if on else policies.Maximum)

    def _lay_out(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(12, 4, 8, 4)
        bar.setSpacing(4)
        bar.addWidget(label("Display", role="strong"))
        bar.addSpacing(8)
        bar.addWidget(self.figures_text, 1)
        bar.addWidget(self.recording)
        bar.addWidget(self.snapshot)
        bar.addWidget(self.full)
        self.remark.setContentsMargins(12, 0, 12, 6)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._column.addLayout(bar)
        self._column.addWidget(self.remark)
        self._column.addWidget(self.canvas, 1)
        self._column.addStretch(0)

    def _connect_parts(self) -> None:
        self._counting.timeout.connect(self._count)
        self.snapshot.clicked.connect(self._ask_snapshot)
        self.full.clicked.connect(self.enter_full_screen)
        self.canvas.painted.connect(self._painted)
        self.canvas.captured.connect(lambda on: self._send(lambda link: link.take_input(take=on)))
        self.canvas.moved.connect(lambda x, y: self._send(lambda link: link.move(x, y)))
        self.canvas.pressed.connect(lambda number, down: self._send(lambda link: link.button(number, down)))
        self.canvas.typed.connect(lambda symbol, down: self._send(lambda link: link.key(symbol, down)))
        self._context.theme.changed.connect(self._style)
        self._style()

    def _style(self) -> None:
        self.canvas.set_colors(self._context.theme.color("ground"), self._context.theme.color("focus"))

    # Which job

    def follow(self, row: Mapping[str, Any] | None) -> None:
        """Show the display of this job, if it runs and has one."""
        if row is None or not still_runs(row) or not row["interactive"]:
            self.leave()
        elif row["id"] != self._job:
            self.leave()
            self._job = str(row["id"])
            self._context.run(self._open(self._job), "showing the display of the job")

    def leave(self) -> None:
        """Show nothing more."""
        self.leave_full_screen()
        self.recording.end()
        self.canvas.capture(on=False)
        if self.link is not None:
            self.link.close()
            self.link.blockSignals(True)
            self.link = None
        self._job, self.wanted, self._frame, self._confirmed = "", False, None, None
        self._counting.stop()
        self._figures.clear()
        self.hide()

    async def _open(self, job: str) -> None:
        """Open the session of a job that asks for a display; what it needs is loaded beside the window."""
        try:
            detail = await self._context.client.job(job)
        except CrossDeskError:
            self._job = ""  # to be asked again
            raise
        if not asks_for_display(detail.description) or job != self._job:
            return
        self.wanted = True
        self._refused("")
        self.remark.setText(CONNECTING)
        self.show()
        self.appeared.emit()
        module = await asyncio.to_thread(import_module, "app.inspector.view.display_link")
        if job != self._job:
            return
        session = self._session.join(job)
        self.link = link = module.DisplayLink(session)
        link.begun.connect(self._begin)
        link.pictured.connect(self._pictured)
        link.control.connect(self._show_control)
        link.refused.connect(self._refused)
        link.waits.connect(self._show_waits)
        link.over.connect(self._refused)
        self._show_waits(session.reason)

    # What arrives

    def _begin(self, size: QSize, without_video: str) -> None:
        self._without_video = without_video.rstrip(".")
        how = f"{WITHOUT_VIDEO} {self._without_video}." if without_video else WITH_VIDEO
        self.figures_text.setToolTip(f"{size.width()} × {size.height()} pixels. {FIGURES} {how}")

    def _pictured(self, frame: DisplayFrame) -> None:
        if self._frame is None:
            self._show_canvas(on=True)
        if not self._counting.isActive():
            self._counting.start()
        self._frame = frame
        self.canvas.fade(on=False)
        self.canvas.show_image(frame.image)
        self.recording.show_image(frame.image)

    def _painted(self) -> None:
        frame = self._frame
        if frame is not None and self.link is not None and frame is not self._confirmed:
            self._confirmed = frame
            self.link.confirm(frame.number)
            kind = NO_VIDEO if self._without_video else EXACT if frame.exact else VIDEO
            self._figures.add(frame.size, frame.delay, kind)

    def _count(self) -> None:
        self.figures_text.setText(self._figures.text())

    def _show_control(self, mine: bool, taken: bool, viewers: int) -> None:
        if self.canvas.captures and taken and not mine:
            self.canvas.capture(on=False)
        others = f" {viewers} desks see this display." if viewers > 1 else ""
        self.remark.setText((OURS if mine else OTHERS if taken else FREE) + others)

    def _show_waits(self, reason: str) -> None:
        """The connection is cut, or not there yet; what was shown is old."""
        if reason:
            self.canvas.capture(on=False)
            self.canvas.fade(on=True)
            self._counting.stop()
            self.figures_text.setText("")
            self.remark.setText(reason)

    def _refused(self, reason: str) -> None:
        """There is nothing to see; the reason stands alone."""
        self._frame = None
        self._show_canvas(on=False)
        self.remark.setText(reason)

    def _show_canvas(self, *, on: bool) -> None:
        """Without a picture the words stand alone."""
        if not on:
            self.leave_full_screen()
            self.recording.end()
        for part in (self.canvas, self.recording, self.snapshot, self.full):
            part.setVisible(on)
        self.figures_text.setText("")
        self._counting.stop()

    # Full screen

    def enter_full_screen(self) -> None:
        """Show the picture alone, as large as the screen."""
        if self.full_screen is None:
            self.canvas.set_enlarged(on=True)
            self.full_screen = FullScreen(self.canvas, self)
            self.full_screen.left.connect(self.leave_full_screen)

    def leave_full_screen(self) -> None:
        """Show the picture here again."""
        window, self.full_screen = self.full_screen, None
        if window is not None:
            self.canvas.set_enlarged(on=False)
            self._column.insertWidget(self._column.indexOf(self.remark) + 1, self.canvas, 1)
            self.canvas.show()
            window.close()
            window.deleteLater()

    # What goes back, and snapshots

    def _send(self, act: Callable[[DisplayLink], None]) -> None:
        if self.link is not None:
            act(self.link)

    def _ask_snapshot(self) -> None:
        """What is shown at this moment is saved, not what is there when the file has its name."""
        write = partial(self.write_snapshot, self.canvas.image)
        name = time.strftime("display-%Y%m%d-%H%M%S.png")
        ask_where(self.window(), "Save the snapshot", write, name=name, suffix="png")

    def write_snapshot(self, image: QImage, path: Path) -> None:
        """Save a picture, each pixel as it was at the node."""
        self._context.run(self._write(image, path), f"writing {path}")

    async def _write(self, image: QImage, path: Path) -> None:
        if not await asyncio.to_thread(image.save, str(path)):
            raise not_saved("The snapshot", path, OSError("the file cannot be written"))
        self._context.notify(Notice(f"Wrote the snapshot to {path}.", Tone.GOOD))


def asks_for_display(description: str) -> bool:
    """Whether a description gives its job a display."""
    ad = parse(description).ad
    return ad is not None and _ATTRIBUTE in ad.entries


