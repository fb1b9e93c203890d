"""The live rows of all jobs, by columns: what the broker says, kept as it comes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any

from app.stores.signals import JobSignals
from app.stores.slices import set_aside
from broker_core.jobs.annotations import ANNOTATION_COLUMNS, PAGE_COLUMNS, counted_tags
from broker_core.jobs.record import COLUMNS, JobRecord
from broker_core.jobs.reruns import RerunChains, latest_runs
from broker_core.jobs.states import JobState

PERIOD = 0.1
"""Seconds between two tellings of changes, at least."""
_SHARED = frozenset(
    {"owner", "structure", "state", "description", "batch", "pinned", "site", "name", "held", "error_line"}
    | set(ANNOTATION_COLUMNS)
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
    **dict.fromkeys(ANNOTATION_COLUMNS, ""),
}
"""Values of a plain job, for columns that a broker of another version does not have."""


class JobStore:
    """The jobs of one broker. A row keeps its number for ever; a purged one is only marked."""

    def __init__(self, signals: JobSignals | None = None, more: Sequence[str] = ()) -> None:
        """`more`: columns beside those of the user's jobs."""
        self._names = (*PAGE_COLUMNS, *more)
        self._signals = signals or JobSignals()
        self.changed, self.clearing = self._signals.changed, self._signals.clearing
        self.loaded = self._signals.loaded
        self.opening: set[str] = set()
        """Jobs submitted from here whose page opens in the browser as soon as it is there."""
        self._told = 0.0
        self._touched: set[str] = set()
        self._start()

    def _start(self) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in self._names}
        self.at: dict[str, int] = {}
        self.of_batch: dict[str, list[int]] = {}
        """Batch to the numbers of its rows; some may be gone, or were run again."""
        self._chains = RerunChains()
        self.complete = False
        self.expected = 0
        self.states: Counter[str] = Counter()
        self.tags: Counter[str] = Counter()
        """Contents of the column of tags to the number of rows; `counted_tags` makes tags of them."""
        self._gone: set[str] = set()
        self._annotated: dict[str, dict[str, str]] = {}
        """Tags and notes that were told of jobs whose rows are not here yet; while pages still come,
        of all: a page may have been read before."""
        self._texts: dict[str, str] = {}

    def clear(self) -> None:
        """Forget everything, as before the first page."""
        self.clearing.emit()
        self._start()
        set_aside()
        self._touched.clear()
        self.changed.emit(set())

    @property
    def repeated(self) -> Mapping[str, str]:
        """Job to the job that repeats it, whether the first is here or not."""
        return self._chains.later

    def __len__(self) -> int:
        return len(self.at)

    def numbers(self) -> range:
        """All row numbers; some may be gone."""
        return range(len(self.columns["id"]))

    def alive(self, number: int) -> bool:
        """True if the row of this number was not purged."""
        return bool(self.columns["state"][number])

    def counting(self, numbers: Iterable[int]) -> list[int]:
        """Those rows that stand for their jobs: they were not purged, nor run again within their batches."""
        states, repeated = self.columns["state"], self.repeated
        alive = [number for number in numbers if states[number]]
        return latest_runs(alive, self.columns["id"], self.columns["batch"], repeated) if repeated else alive

    def earlier_runs(self, jobs: Iterable[str]) -> list[str]:
        """Runs that do not count since these jobs repeat them within their batches."""
        at, batches = self.at, self.columns["batch"]
        found = (before for job in jobs for before in self._chains.earlier(job))
        return [job for job in found if job in at and batches[at[job]]]

    @property
    def shown(self) -> int:
        """Number of rows that are `counting`."""
        at, batches = self.at, self.columns["batch"]
        return len(at) - sum(1 for job in self.repeated if job in at and batches[at[job]])

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

    @property
    def tagged(self) -> bool:
        """True if some job has a tag."""
        return any(text and number > 0 for text, number in self.tags.items())

    def tags_in_use(self) -> list[tuple[str, int]]:
        """Tags with the number of jobs that bear them, in the order of the alphabet."""
        return counted_tags(+self.tags)

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
        self._annotate_new(first)
        self.tags.update(self.columns["tags"][first:])
        self.at.update(zip(self.columns["id"][first:], range(first, first + len(places)), strict=True))
        self.states.update(self.columns["state"][first:])
        for number, batch in enumerate(self.columns["batch"][first:], first):
            if batch:
                self.of_batch.setdefault(batch, []).append(number)
        for number, job in enumerate(self.columns["rerun_of"][first:], first):
            if job:
                self._chains.add(self.columns["id"][number], job)
                self._touched.update({job} & self.at.keys())

    def annotate(self, columns: Mapping[str, Sequence[str]]) -> None:
        """Take in tags and notes as they are now: columns `id`, `tags` and `note`; rows may come later."""
        ids = columns.get("id", ())
        for line, job in enumerate(ids):
            number = self.at.get(job)
            texts = {name: self._once([columns[name][line]])[0] for name in ANNOTATION_COLUMNS}
            if number is not None:
                self.tags[self.columns["tags"][number]] -= 1
                self.tags[texts["tags"]] += 1
                for name, text in texts.items():
                    self.columns[name][number] = text
            if job not in self._gone and (number is None or not self.complete):
                self._annotated[job] = texts
        if ids:
            self._touched.update(self.at.keys() & ids)
            self._later()

    def _annotate_new(self, first: int, end: int | None = None) -> None:
        """Give the rows from one number up to another what was told of them before they came."""
        if self._annotated:
            for number, job in enumerate(self.columns["id"][first:end], first):
                for name, texts in self._annotated.get(job, {}).items():
                    self.columns[name][number] = texts

    def _once(self, texts: Sequence[str]) -> list[str]:
        return list(map(self._texts.setdefault, texts, texts))

    def _update(self, number: int, place: int, columns: Columns) -> None:
        if columns["position"][place] < self.columns["position"][number]:
            return
        self.states[self.columns["state"][number]] -= 1
        self.tags[self.columns["tags"][number]] -= 1
        for name, said in columns.items():
            if name in self.columns and name != "rerun_of":  # a chain that was closed stays so
                self.columns[name][number] = said[place]
        self._annotate_new(number, number + 1)
        self.states[self.columns["state"][number]] += 1
        self.tags[self.columns["tags"][number]] += 1

    def drop(self, ids: Sequence[str]) -> None:
        """Forget purged jobs."""
        self._gone.update(ids)
        for job in ids:
            self._annotated.pop(job, None)
            number = self.at.pop(job, None)
            if number is not None:
                self._close_chain(job)
                self.states[self.columns["state"][number]] -= 1
                self.tags[self.columns["tags"][number]] -= 1
                self.columns["state"][number] = ""
        if ids:
            self._touched.update(ids)
            self._later()

    def _close_chain(self, job: str) -> None:
        """What repeats a job that is gone repeats the one before it; without any, that one counts again."""
        before, after = self._chains.remove(job)
        if before and after in self.at:
            self.columns["rerun_of"][self.at[after]] = before
        self._touched.update({before} & self.at.keys())

    def finish(self) -> None:
        """All pages are in."""
        self.complete = True
        self._annotated = {job: texts for job, texts in self._annotated.items() if job not in self.at}
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
