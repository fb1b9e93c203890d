"""How many jobs each query of the sidebar has, kept true under live updates."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from app.stores.jobs import JobStore
from app.stores.outside import OutsideStore
from app.stores.saved_queries import SavedQueries
from app.stores.slices import SLICE
from broker_core.jobs.query import JobQuery, parse

_AGAIN = 30_000
"""Milliseconds after which all is counted anew, since days and ages pass."""


class QueryCounts(QObject):
    """Query text to the number of its jobs; each job that changes is asked again, never all at once."""

    changed = Signal()

    def __init__(
        self,
        rows: JobStore,
        saved: SavedQueries,
        parent: QObject | None = None,
        outside: OutsideStore | None = None,
    ) -> None:
        super().__init__(parent)
        self._outside = outside
        if outside is not None:
            outside.rows.changed.connect(lambda _: self.changed.emit())
        self._rows, self._saved = rows, saved
        self._more: frozenset[str] = frozenset()
        self._queries: dict[str, JobQuery] = {}
        self._members: dict[str, set[int]] = {}
        self._next = 0
        self._sweep = QTimer(self, interval=0)
        self._sweep.timeout.connect(self._step)
        self._again = QTimer(self, interval=_AGAIN)
        self._again.timeout.connect(self._restart)
        self._again.start()
        rows.changed.connect(self._touched)
        saved.changed.connect(self._renew)
        self._renew()

    def of(self, text: str) -> int:
        """Return the number of jobs of a query; without a text all jobs."""
        query = self._queries.get(text)
        if query is not None and query.outside and self._outside is not None:
            return self._outside.number(query, time.time())
        return len(self._members.get(text, ())) if text else self._rows.shown

    def follow(self, texts: Iterable[str]) -> None:
        """Count the jobs of these queries too, instead of those named so before."""
        if self._more != (more := frozenset(texts)):
            self._more = more
            self._renew()

    def _renew(self) -> None:
        wanted = {query.text for query in self._saved.all if query.text} | self._more
        self._queries = {text: parse(text) for text in wanted}
        self._members = {text: self._members.get(text, set()) for text in wanted}
        self._restart()

    def _restart(self) -> None:
        self._next = 0
        self._sweep.start()

    def _touched(self, ids: set[str]) -> None:
        if not ids:
            for members in self._members.values():
                members.clear()
            self.changed.emit()
            return
        at = self._rows.at
        self._ask([at[job] for job in ids if job in at])
        if any(job not in at for job in ids):
            self._restart()
        self.changed.emit()

    def _ask(self, numbers: Sequence[int]) -> None:
        now, columns = time.time(), self._rows.columns
        counting = self._rows.counting(numbers)
        for text, query in self._queries.items():
            found = set(query.select(columns, counting, now))
            members = self._members[text]
            members.difference_update(numbers)
            members |= found

    def _step(self) -> None:
        """Ask the next slice; what is gone or was run again is taken out here."""
        numbers = self._rows.numbers()[self._next : self._next + SLICE]
        self._ask(numbers)
        self._next += SLICE
        if self._next >= len(self._rows.numbers()):
            self._sweep.stop()
            self.changed.emit()
