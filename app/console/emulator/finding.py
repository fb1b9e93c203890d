"""A search in a terminal as it goes on: what is marked in sight, how much was found, hit by hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from app.console.emulator.search import ScreenSearch

if TYPE_CHECKING:
    from app.console.emulator.ghostty import Ghostty

SLICE = 0.006
"""Seconds of one turn of the event loop that go into searching."""


class HitFinder(QObject):
    """At most one search at a time; it goes on in turns until everything was searched."""

    found = Signal(int)
    """So many hits so far."""
    done = Signal()
    """Everything that is there now was searched."""

    def __init__(self, terminal: Ghostty, parent: QObject) -> None:
        super().__init__(parent)
        self._terminal = terminal
        self._search: ScreenSearch | None = None
        self.marks: dict[int, list[tuple[int, int]]] = {}
        """Row in sight to the first and last columns of the hits there."""
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._work)

    def begin(self, text: str) -> None:
        """Search for a text; empty: for nothing any more."""
        if self._search is not None:
            self._search.close()
        self._search = ScreenSearch(self._terminal, text) if text else None
        if self._search is None:
            self._turn.stop()
            self._terminal.deselect()
        else:
            self._turn.start()

    def go_on(self) -> None:
        """The terminal can be asked again."""
        if self._search is not None:
            self._turn.start()

    def step(self, way: int) -> tuple[int, int]:
        """Go to the next hit, -1 towards the past; its number and how many there are."""
        if self._search is None:
            return 0, 0
        self._search.work(SLICE / 6)
        return self._search.step(way), self._search.hits

    def renewed(self, changed: list[int]) -> list[int]:
        """Look for the hits in sight; returns the rows that changed, and those whose hits are others now."""
        marks = {} if self._search is None else self._search.in_sight()
        before, self.marks = self.marks, marks
        if marks == before:
            return changed
        return sorted({*changed, *(row for row in {*marks, *before} if marks.get(row) != before.get(row))})

    def _work(self) -> None:
        if self._search is None or self._terminal.busy:
            return
        over = self._search.work(SLICE)
        self.found.emit(self._search.hits)
        if over:
            self.done.emit()
        else:
            self._turn.start()
