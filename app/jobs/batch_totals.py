"""What the line of a batch says: sums over all of its jobs, kept under changes one by one. Pure.

They are the same whatever the table shows of the batch and in which order: every job of the batch counts,
of one that was run again the last run only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from app.stores.slices import SLICE, breathe
from broker_core.jobs.batch_names import BatchName
from broker_core.jobs.outcome import Outcome, brief_cause, outcomes

if TYPE_CHECKING:
    from app.stores.jobs import JobStore

Unheard = Callable[[str], float | None]
"""Place of a job (JobRecord.site) to since when it is not heard from; None: it is."""
UNHEARD_PART = "Unheard"
"""Name under which a tally counts what is not heard from."""
_AT_SITE = frozenset({Outcome.READY, Outcome.SCHEDULED, Outcome.RUNNING})
_GROUND = 3
"""Jobs that must have run to their end before an end of the others is foretold."""


class JobPart(NamedTuple):
    """What one job adds to the totals of its batch."""

    outcome: Outcome
    site: str
    cpus: int
    waited: float | None
    """Seconds until it was started; None: it was not."""
    ran: float | None
    """Seconds that it ran; None: it did not, or goes on."""
    since: float
    """Start of what runs now; 0 for others."""
    exit: str
    """How it ended badly: its exit code or signal; empty for others."""
    kind: str
    tags: str
    """As the column of a row has them."""
    memory: int
    """Most bytes that it had in main memory; 0: not known."""


class BatchTotals:
    """Sums over the jobs of a batch, each under the number of its row."""

    def __init__(self) -> None:
        self.parts: dict[int, JobPart] = {}
        self.submitted: float | None = None
        """When the first was submitted."""
        self.ended: float | None = None
        """When the last so far ended."""
        self.sites: Counter[str] = Counter()
        self.exits: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.tags: Counter[str] = Counter()
        """Tags, as the columns of rows have them, to the number of jobs."""
        self.cpus = 0
        self._named = BatchName()
        self._counts: Counter[tuple[Outcome, str]] = Counter()
        self._waited, self._waits, self._ran, self._runs = 0.0, 0, 0.0, 0
        self._since = 0.0
        self._memory: int | None = 0

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def name(self) -> str:
        """The name that its jobs share."""
        return self._named.common()

    @property
    def wait(self) -> float | None:
        """Seconds that its jobs waited until they were started, on average; None before the first was."""
        return self._waited / self._waits if self._waits else None

    @property
    def runtime(self) -> float | None:
        """Seconds that its jobs ran, on average; None before one ran to its end."""
        return self._ran / self._runs if self._runs else None

    @property
    def memory(self) -> int:
        """Bytes in main memory of the job with the most of them; 0: not known of any."""
        if self._memory is None:
            self._memory = max((part.memory for part in self.parts.values()), default=0)
        return self._memory

    @property
    def exit(self) -> str:
        """How jobs ended badly, the most frequent first, e.g. `8 × 3, 1 × SIGKILL`; empty if none did."""
        ordered = sorted(self.exits.items(), key=lambda item: (-item[1], item[0]))
        return ", ".join(f"{number:,} × {code}" for code, number in ordered)

    def tally(self, unheard: Unheard = lambda site: None) -> Counter[str]:
        """How many jobs have each outcome; what is not heard from counts apart."""
        found: Counter[str] = Counter()
        for (outcome, site), number in self._counts.items():
            silent = outcome is Outcome.UNKNOWN or (outcome in _AT_SITE and unheard(site))
            found[UNHEARD_PART if silent else outcome.value] += number
        return found

    def outcomes(self) -> Counter[Outcome]:
        """How many jobs have each outcome."""
        counts: Counter[Outcome] = Counter()
        for (outcome, _), number in self._counts.items():
            if number:
                counts[outcome] += number
        return counts

    def remaining(self, now: float) -> float | None:
        """Seconds until all have ended, if they go on as those before; None where there is no ground to say.

        As many run at a time as run now, each as long as those that ended did.
        """
        counts = self.outcomes()
        active, running = sum(number for one, number in counts.items() if one.active), counts[Outcome.RUNNING]
        mean = self.runtime
        if not running or mean is None or self._runs < _GROUND:
            return None
        begun = max(0.0, running * mean - (running * now - self._since))
        return ((active - running) * mean + begun) / running

    def add(self, columns: Mapping[str, Sequence[Any]], numbers: Sequence[int]) -> None:
        """Count rows, each for the first time or as it is now."""
        for number, part in zip(numbers, _parts_of(columns, numbers), strict=True):
            self.remove(number)
            self.parts[number] = part
            self._count(part, 1)
            self._named.add(columns["name"][number], columns["parameter"][number])
            begin, end = columns["submitted"][number], columns["ended"][number]
            self.submitted = begin if self.submitted is None else min(begin, self.submitted)
            if end:
                self.ended = max(end, self.ended or 0.0)

    def remove(self, number: int) -> None:
        """Count a row no longer."""
        part = self.parts.pop(number, None)
        if part is not None:
            self._count(part, -1)

    def _count(self, part: JobPart, step: int) -> None:
        self._counts[part.outcome, part.site] += step
        _step(self.kinds, part.kind, step)
        self.cpus += step * part.cpus
        if part.tags:
            _step(self.tags, part.tags, step)
        if part.site:
            _step(self.sites, part.site, step)
        if part.exit:
            _step(self.exits, part.exit, step)
        if part.waited is not None:
            self._waited, self._waits = self._waited + step * part.waited, self._waits + step
        if part.ran is not None:
            self._ran, self._runs = self._ran + step * part.ran, self._runs + step
        self._since += step * part.since
        if step > 0:
            self._memory = None if self._memory is None else max(self._memory, part.memory)
        elif part.memory and part.memory == self._memory:
            self._memory = None  # it may have been the only one


def _step(counter: Counter[str], name: str, step: int) -> None:
    counter[name] += step
    if not counter[name]:
        del counter[name]


def _parts_of(columns: Mapping[str, Sequence[Any]], numbers: Sequence[int]) -> Iterator[JobPart]:
    states, codes, signals = columns["state"], columns["exit_code"], columns["signal"]
    begins, starts, ends = columns["submitted"], columns["started"], columns["ended"]
    found = outcomes([states[number] for number in numbers], [codes[number] for number in numbers])
    for number, outcome in zip(numbers, found, strict=True):
        start, end = starts[number], ends[number]
        bad = ""
        if outcome is Outcome.FAILED:
            cause = brief_cause(
                states[number], codes[number], signals[number], columns["reason"][number] or ""
            )
            bad = cause.removeprefix("exit ")
        structure = columns["structure"][number]
        yield JobPart(
            outcome,
            columns["site"][number] or "",
            columns["cpus"][number] or 0,
            start - begins[number] if start else None,
            end - start if start and end else None,
            start if outcome is Outcome.RUNNING and start else 0.0,
            bad,
            f"{structure}, interactive" if columns["interactive"][number] else structure,
            columns["tags"][number],
            columns["memory"][number] or 0,
        )


class BatchBook:
    """The totals of all batches that were asked for, kept as the rows of the store change.

    A batch is counted in slices: `totals` counts one, and says by `behind` that more is to be counted.
    """

    def __init__(self, rows: JobStore) -> None:
        self._rows = rows
        self._totals: dict[str, BatchTotals] = {}
        self._due: dict[str, list[int]] = {}

    def clear(self) -> None:
        """Forget everything, as all rows go."""
        self._totals.clear()
        self._due.clear()

    def totals(self, batch: str) -> BatchTotals:
        """The totals of a batch, as far as it is counted."""
        if batch not in self._totals:
            self._begin(batch)
        if batch in self._due:
            self._count(batch)
        return self._totals[batch]

    @property
    def behind(self) -> str:
        """A batch of which rows are still to be counted; empty if there is none."""
        return next(iter(self._due), "")

    async def ready(self, batches: Iterable[str]) -> None:
        """Count these batches to their end, in slices."""
        for batch in batches:
            self.totals(batch)
            while batch in self._due:
                await breathe()
                self._count(batch)

    def take(self, ids: set[str]) -> None:
        """Follow changed, new and gone jobs."""
        at, batches = self._rows.at, self._rows.columns["batch"]
        if not ids <= at.keys():
            for batch in self._totals:  # of a gone job it is not known any more where it was counted
                self._begin(batch)
        for job in ids & at.keys():
            number = at[job]
            if batches[number] in self._totals:
                self._due.setdefault(batches[number], []).append(number)

    def _begin(self, batch: str) -> None:
        self._totals[batch], self._due[batch] = BatchTotals(), list(self._rows.of_batch.get(batch, ()))

    def _count(self, batch: str) -> None:
        due, totals = self._due[batch], self._totals[batch]
        part, rest = list(dict.fromkeys(due[:SLICE])), due[SLICE:]
        counting = self._rows.counting(part)
        totals.add(self._rows.columns, counting)
        for number in set(part).difference(counting):
            totals.remove(number)
        if rest:
            self._due[batch] = rest
        else:
            del self._due[batch]
