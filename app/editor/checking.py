"""Checking while typing: the language and the files on disk, beside the window's thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.stores.link import BrokerLink
from broker_core.client.sandbox import find
from broker_core.jdl.check import Limits, check
from broker_core.jdl.limits import DESCRIPTION_MAX
from broker_core.wire.checks import DiagnosticView

DEBOUNCE_MS = 200
_LOOK_MS = 15
"""How often the window looks whether a check has its answer.

A thread must not emit a signal of the editor: the editor may be deleted at that very moment.
"""
_THREADS = ThreadPoolExecutor(2, thread_name_prefix="check")


def diagnose(text: str, base: Path, dialect: str) -> list[DiagnosticView]:
    """Everything wrong with a description and with the files it sends, found below `base`."""
    if len(text) > DESCRIPTION_MAX:
        said = f"The description is larger than {DESCRIPTION_MAX:,} bytes, which no description needs to be."
        return [DiagnosticView(severity="error", code="description-too-large", message=said)]
    found = find(text, base)
    checked = check(text, files=found.facts, limits=Limits(dialect=dialect))
    told = [DiagnosticView.model_validate(asdict(one)) for one in checked.diagnostics]
    places = {(one.code, one.start, one.end) for one in told}
    return told + [one for one in found.diagnostics if (one.code, one.start, one.end) not in places]


class LatestWork(QObject):
    """Does one piece of work beside the window's thread; a new one takes the place of that under way."""

    done = Signal(object)
    """What the work that was begun last returned."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._work: Future[Any] | None = None
        self._looking = QTimer(self, interval=_LOOK_MS)
        self._looking.timeout.connect(self._look)

    def begin(self, work: Callable[..., Any], *given: Any) -> None:
        """Do this instead of what was begun before."""
        self.drop()
        self._work = _THREADS.submit(work, *given)
        self._looking.start()

    def drop(self) -> None:
        """Nothing is wanted any more."""
        self._looking.stop()
        if self._work is not None:
            self._work.cancel()
            self._work = None

    def _look(self) -> None:
        if self._work is not None and self._work.done():
            found = self._work.result()
            self.drop()
            self.done.emit(found)


class Checking(QObject):
    """Checks the last text it was given, 200 ms after the last change; older answers are dropped."""

    checked = Signal(object)
    """list[Diagnostic] of the text given last."""

    def __init__(self, link: BrokerLink, parent: QObject) -> None:
        super().__init__(parent)
        self._link = link
        self._asked: tuple[str, Path] = ("", Path())
        self._work = LatestWork(self)
        self._work.done.connect(self._answer)
        self.pending = False
        """True from a change of the text until its answer."""
        self._timer = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._timer.timeout.connect(self._start)

    def ask(self, text: str, base: Path, at_once: bool = False) -> None:
        """Check this text soon, or at once."""
        self._asked, self.pending = (text, base), True
        self._work.drop()
        self._timer.start(0 if at_once else DEBOUNCE_MS)

    def _start(self) -> None:
        self._work.begin(diagnose, *self._asked, self._link.dialect)

    def _answer(self, found: list[DiagnosticView]) -> None:
        self.pending = False
        self.checked.emit(found)
