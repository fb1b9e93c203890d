"""Records what a display shows, in a thread of its own: neither window nor session waits for the encoder."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from app.console import threads

if TYPE_CHECKING:
    from app.inspector.view.video.file import VideoFile


log = logging.getLogger(__name__)


class VideoRecorder(QObject):
    """Writes the newest picture whenever there is time for one, with the moment at which it was shown."""

    written = Signal(object, float)
    """The file is complete: its path and its seconds."""
    failed = Signal(object, str)
    """Nothing more is written to the file, and why."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.path = path
        self._clock = clock
        self._begun: float | None = None
        self._waiting: tuple[QImage, float] | None = None
        """What is shown, until it is written."""
        self._busy = True
        self._ended: float | None = None
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._live, name=f"recording {path.name}")

    @property
    def seconds(self) -> float:
        """How long it has been recording."""
        return self._clock() - self._begun if self._begun is not None else 0.0

    @property
    def idle(self) -> bool:
        """All that was shown is in the file, or left out."""
        with self._news:
            return self._waiting is None and not self._busy

    def start(self, image: QImage) -> None:
        """Begin with what is shown now."""
        self._begun = self._clock()
        self.show(image)
        threads.start(self._thread, self)

    def show(self, image: QImage) -> None:
        """Something else is shown from now on; one that is not written yet is left out."""
        with self._news:
            if self._ended is None:
                self._waiting = (image, self.seconds)
                self._news.notify()

    def stop(self) -> None:
        """Finish the file, without waiting for it."""
        with self._news:
            if self._ended is None:
                self._ended = self.seconds
                self._news.notify()

    # In its own thread.

    def _live(self) -> None:
        try:
            seconds = self._write_all()
        except Exception as error:  # of the disk or the encoder: whoever records must hear that it ended
            log.warning("Recording %s", self.path, exc_info=True)
            self.failed.emit(self.path, getattr(error, "strerror", None) or str(error))
        else:
            self.written.emit(self.path, seconds)
        finally:
            threads.end()

    def _write_all(self) -> float:
        from app.inspector.view.video.file import VideoFile

        file: VideoFile | None = None
        last = QImage()
        try:
            while (found := self._next()) is not None:
                last, at = found
                if file is None:
                    file = VideoFile(self.path, last.width(), last.height())
                file.add(last, at)
            assert self._ended is not None
            if file is not None:
                file.add(last, self._ended)  # players show each picture until the next one
        finally:
            if file is not None:
                file.close()
        return self._ended

    def _next(self) -> tuple[QImage, float] | None:
        """Wait for a picture; None when there will be none."""
        with self._news:
            self._busy = False
            self._news.wait_for(lambda: self._waiting is not None or self._ended is not None)
            found, self._waiting = self._waiting, None
            self._busy = found is not None
            return found
