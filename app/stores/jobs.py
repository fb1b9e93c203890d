"""The live rows of all jobs, by columns: what the broker says, kept as it comes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any

from app.stores.signals import JobSignals
from broker_core.jobs.record import COLUMNS, JobRecord
from broker_core.jobs.states import JobState

PERIOD = 0.1
"""Seconds between two tellings of changes, at least."""
_SHARED = frozenset(
    {"owner", "structure", "state", "description", "batch", "pinned", "site", "name", "held", "error_line"}
)
"""Columns whose texts repeat: kept once."""
_PLAIN = {"str": "", "bool": False, "int": 0, "float": 0.0}
Columns = Mapping[str, Sequence[Any]]


def _default(field: Field[Any]) -> Any:
    if field.default is not MISSING:
        return field.default
    return _PLAIN.get(str(field.type), "")


_DEFAULTS = {column: _default(field) for column, field in zip(COLUMNS, fields(JobRecord), strict=True)} | {
    "cpus": 1,
    "site": "",
}
"""Values of a plain job, for columns that a broker of another version does not have."""


class JobStore:
    """The jobs of one broker. A row keeps its number for ever; a purged one is only marked."""

    def __init__(self, signals: JobSignals | None = None) -> None:
        self._signals = signals or JobSignals()
        self.changed, self.clearing = self._signals.changed, self._signals.clearing
        self.loaded = self._signals.loaded
        self._told = 0.0
        self._touched: set[str] = set()
        self._start()

    def _start(self) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
        self.at: dict[str, int] = {}
        self.of_batch: dict[str, list[int]] = {}
        """Batch to the numbers of its rows; some may be gone, or were run again."""
        self.repeated: dict[str, str] = {}
        """Job of a batch to the job that repeats it, as far as both are told."""
        self.complete = False
        self.expected = 0
        self.states: Counter[str] = Counter()
        self._gone: set[str] = set()
        self._texts: dict[str, str] = {}

    def clear(self) -> None:
        """Forget everything, as before the first page."""
        self.clearing.emit()
        self._start()
        self._touched.clear()
        self.changed.emit(set())

    def __len__(self) -> int:
        return len(self.at)

    def numbers(self) -> range:
        """All row numbers; some may be gone."""
        return range(len(self.columns["id"]))

    def alive(self, number: int) -> bool:
        """True if the row of this number was not purged."""
        return bool(self.columns["state"][number])

    def counts(self, number: int) -> bool:
        """True if the row stands for its job: it was not purged, nor run again within its batch."""
        return bool(self.columns["state"][number]) and self.columns["id"][number] not in self.repeated

    @property
    def shown(self) -> int:
        """Number of rows that `counts` says yes to."""
        return len(self.at) - sum(1 for job in self.repeated if job in self.at)

    def row(self, job: str) -> dict[str, Any] | None:
        """Return the row of a job, or None if there is no such job."""
        number = self.at.get(job)
        return None if number is None else self.by_number(number)

    def interactive(self) -> list[tuple[str, str]]:
        """Id and name of the interactive jobs that run now, the newest first."""
        columns = self.columns
        running = zip(columns["id"], columns["name"], columns["interactive"], columns["state"], strict=True)
        found = [(job, name) for job, name, has, state in running if has and state == JobState.RUNNING]
        return found[::-1]

    def by_number(self, number: int) -> dict[str, Any]:
        """Return a row by its number."""
        return {name: values[number] for name, values in self.columns.items()}

    def merge(self, columns: Columns) -> None:
        """Take in rows as they are now; one that is older than what is held changes nothing."""
        ids = columns.get("id", ())
        fresh = [place for place, job in enumerate(ids) if job not in self.at and job not in self._gone]
        known = [place for place, job in enumerate(ids) if job in self.at] if len(fresh) < len(ids) else []
        for place in known:
            self._update(self.at[ids[place]], place, columns)
        if fresh:
            self._append(fresh, columns)
        if ids:
            self._touched.update(ids)
            self._later()

    def _append(self, places: list[int], columns: Columns) -> None:
        first = len(self.columns["id"])
        whole = len(places) == len(columns["id"])
        for name, held in self.columns.items():
            said = columns.get(name)
            if said is None:
                held.extend([_DEFAULTS[name]] * len(places))
                continue
            new = said if whole else [said[place] for place in places]
            held.extend(self._once(new) if name in _SHARED else new)
        self.at.update(zip(self.columns["id"][first:], range(first, first + len(places)), strict=True))
        self.states.update(self.columns["state"][first:])
        for number, batch in enumerate(self.columns["batch"][first:], first):
            if batch:
                self.of_batch.setdefault(batch, []).append(number)
        repeats = self.columns["rerun_of"][first:] if "rerun_of" in self.columns else ()
        for number, job in enumerate(repeats, first):
            if job and self.columns["batch"][number]:
                self.repeated[job] = self.columns["id"][number]
                self._touched.add(job) if job in self.at else None

    def _once(self, texts: Sequence[str]) -> list[str]:
        keep = self._texts.setdefault
        return [keep(text, text) for text in texts]

    def _update(self, number: int, place: int, columns: Columns) -> None:
        if columns["position"][place] < self.columns["position"][number]:
            return
        self.states[self.columns["state"][number]] -= 1
        for name, said in columns.items():
            if name in self.columns:
                self.columns[name][number] = said[place]
        self.states[self.columns["state"][number]] += 1

    def drop(self, ids: Sequence[str]) -> None:
        """Forget purged jobs."""
        self._gone.update(ids)
        for job in ids:
            number = self.at.pop(job, None)
            if number is not None:
                self._uncover(number)
                self.states[self.columns["state"][number]] -= 1
                self.columns["state"][number] = ""
        if ids:
            self._touched.update(ids)
            self._later()

    def _uncover(self, number: int) -> None:
        """The job that this one repeated stands for its member of the batch again."""
        before = self.columns["rerun_of"][number] if "rerun_of" in self.columns else ""
        if before and self.repeated.get(before) == self.columns["id"][number]:
            del self.repeated[before]
            if before in self.at:
                self._touched.add(before)

    def finish(self) -> None:
        """All pages are in."""
        self.complete = True
        self.flush()
        self.loaded.emit()

    def flush(self) -> None:
        """Tell pending changes now."""
        self._signals.stop()
        self._tell()

    def _later(self) -> None:
        if not self._signals.waiting:
            wait = PERIOD - (time.monotonic() - self._told)
            self._signals.later(max(0, round(wait * 1000)), self._tell)

    def _tell(self) -> None:
        self._told = time.monotonic()
        if self._touched:
            touched, self._touched = self._touched, set()
            self.changed.emit(touched)
