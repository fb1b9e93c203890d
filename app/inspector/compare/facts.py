"""What is known of jobs beside each other: one row for each fact. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app import units
from app.inspector.compare.compared_job import ComparedJob
from app.widgets.state_glyph import style_of_row
from broker_core.jobs.outcome import ended_by
from broker_core.jobs.site_names import site_name
from broker_core.jobs.states import JobState

NOT_KNOWN = "–"


_Read = Callable[[dict[str, Any]], str]
_ROWS: tuple[tuple[str, str, _Read], ...] = (
    ("Job", "Value", lambda row: str(row.get("parameter") or "")),
    ("Job", "Kind", lambda row: _kind(row)),
    ("Job", "CPUs", lambda row: str(row.get("cpus") or "")),
    ("End", "State", lambda row: style_of_row(row).word),
    ("End", "Exit code", lambda row: _ended_by(row, 0)),
    ("End", "Signal", lambda row: _ended_by(row, 1)),
    ("End", "Last error", lambda row: str(row.get("error_line") or "")),
    ("End", "Reason", lambda row: str(row.get("reason") or "")),
    ("Site", "Ran at", lambda row: site_name(row["site"]) if row.get("site") else ""),
    ("Site", "Sent only to", lambda row: str(row.get("pinned") or "")),
    ("Site", "Attempts", lambda row: str(row.get("attempt") or "")),
    ("Times", "Submitted", lambda row: units.exact(row.get("submitted"))),
    ("Times", "Started", lambda row: units.exact(row.get("started"))),
    ("Times", "Ended", lambda row: units.exact(row.get("ended"))),
    ("Times", "Waited", lambda row: _span(row, "submitted", "started")),
    ("Times", "Ran for", lambda row: _span(row, "started", "ended")),
)
_USE: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("Wall time", "wall_s", units.duration),
    ("CPU time", "cpu_s", units.duration),
    ("Memory at most", "max_rss_bytes", units.size),
    ("Output", "output_bytes", units.size),
)


@dataclass(frozen=True, slots=True)
class Fact:
    """One row: what it is about, and what each job has of it."""

    section: str
    name: str
    values: tuple[str, ...]
    compared: bool = True
    """False where the values say too little to call them equal."""

    @property
    def differs(self) -> bool:
        """True if not all jobs have the same, as far as it is known."""
        return not self.compared or len(set(self.values)) > 1


def facts(jobs: Sequence[ComparedJob]) -> list[Fact]:
    """Return every fact of which at least one job has something to say."""
    found = [*_of_rows(jobs), *_of_use(jobs), *_of_files(jobs)]
    return [one for one in found if any(value != NOT_KNOWN for value in one.values)]


def _kind(row: dict[str, Any]) -> str:
    return f"{row.get('structure') or 'Normal'}, {'interactive' if row.get('interactive') else 'batch'}"


def _ended_by(row: dict[str, Any], which: int) -> str:
    """Exit code (0) or signal (1) of the end, as a text."""
    known = row["state"], row.get("exit_code"), row.get("signal")
    number = ended_by(*known, row.get("reason") or "")[which]
    return "" if number is None else str(number)


def _span(row: dict[str, Any], begin: str, end: str) -> str:
    first, last = row.get(begin), row.get(end)
    return units.duration(last - first) if first and last else ""


def _of_rows(jobs: Sequence[ComparedJob]) -> Iterator[Fact]:
    for section, name, read in _ROWS:
        yield Fact(section, name, tuple((job.row and read(job.row)) or NOT_KNOWN for job in jobs))


def _of_use(jobs: Sequence[ComparedJob]) -> Iterator[Fact]:
    used = [job.detail.usage if job.detail is not None else {} for job in jobs]
    for name, key, words in _USE:
        yield Fact("Use", name, tuple(words(one[key]) if key in one else NOT_KNOWN for one in used))
    yield Fact("Use", "CPUs kept busy", tuple(map(_busy, jobs)))


def _busy(job: ComparedJob) -> str:
    """The share of the CPUs' time that was used, of a job that has ended."""
    use = job.detail.usage if job.detail is not None else {}
    wall, cpu = use.get("wall_s", 0.0), use.get("cpu_s")
    if not wall or cpu is None or not JobState(job.row["state"]).ended:
        return NOT_KNOWN
    return f"{100 * cpu / (wall * (job.row.get('cpus') or 1)):.0f} %"


def _of_files(jobs: Sequence[ComparedJob]) -> Iterator[Fact]:
    """Files the jobs were sent with; equal only if their content is."""
    sent = [{one.name: one for one in job.detail.files} if job.detail is not None else {} for job in jobs]
    for name in dict.fromkeys(name for files in sent for name in files):
        found = [files.get(name) for files in sent]
        sizes = [None if one is None else one.size for one in found]
        versions = [None if one is None else one.sha256 for one in found]
        yield Fact("Sent files", name, version_words(sizes, versions))


def version_words(sizes: Sequence[int | None], versions: Sequence[str | None]) -> tuple[str, ...]:
    """Say how large each job's file is (None: it has none), and its version where sizes do not tell."""
    known = list(dict.fromkeys(one for one in versions if one is not None))
    numbered = len(known) > len({size for size in sizes if size is not None})
    return tuple(
        NOT_KNOWN
        if size is None
        else units.size(size)
        + (f", version {known.index(version) + 1}" if numbered and version is not None else "")
        for size, version in zip(sizes, versions, strict=True)
    )
