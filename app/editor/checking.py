"""Checking while typing: the language and the files on disk, beside the window's thread."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from PySide6.QtCore import QObject, QRunnable, QThreadPool, QTimer, Signal

from broker_core.client.sandbox import find
from broker_core.jdl.check import check
from broker_core.jdl.limits import DESCRIPTION_MAX
from broker_core.wire.checks import Diagnostic

DEBOUNCE_MS = 200


def diagnose(text: str, base: Path) -> list[Diagnostic]:
    """Everything wrong with a description and with the files it sends, found below `base`."""
    if len(text) > DESCRIPTION_MAX:
        said = f"The description is larger than {DESCRIPTION_MAX:,} bytes, which no description needs to be."
        return [Diagnostic(severity="error", code="description-too-large", message=said)]
    found = find(text, base)
    told = [Diagnostic.model_validate(asdict(one)) for one in check(text, files=found.facts).diagnostics]
    places = {(one.code, one.start, one.end) for one in told}
    return told + [one for one in found.diagnostics if (one.code, one.start, one.end) not in places]


class Checking(QObject):
    """Checks the last text it was given, 200 ms after the last change; older answers are dropped."""

    checked = Signal(object)
    """list[Diagnostic] of the text given last."""
    _answered = Signal(int, object)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._asked: tuple[str, Path] = ("", Path())
        self._number = 0
        self.pending = False
        """True from a change of the text until its answer."""
        self._timer = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._timer.timeout.connect(self._start)
        self._answered.connect(self._answer)

    def ask(self, text: str, base: Path, at_once: bool = False) -> None:
        """Check this text soon, or at once."""
        self._asked, self.pending = (text, base), True
        self._number += 1
        self._timer.start(0 if at_once else DEBOUNCE_MS)

    def _start(self) -> None:
        number, (text, base), answered = self._number, self._asked, self._answered
        QThreadPool.globalInstance().start(_Work(number, text, base, answered.emit))

    def _answer(self, number: int, diagnostics: list[Diagnostic]) -> None:
        if number == self._number:
            self.pending = False
            self.checked.emit(diagnostics)


class _Work(QRunnable):
    def __init__(self, number: int, text: str, base: Path, tell: object) -> None:
        super().__init__()
        self._number, self._text, self._base, self._tell = number, text, base, tell

    def run(self) -> None:
        found = diagnose(self._text, self._base)
        try:
            self._tell(self._number, found)  # type: ignore[operator]
        except RuntimeError:
            return  # the editor was closed meanwhile; nobody waits for the answer
