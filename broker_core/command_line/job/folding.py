"""The jobs of one submission as one line of a list: hundreds of a sweep would hide all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from broker_core.command_line.job.following import Row, latest_rows
from broker_core.jobs.batch_names import BatchName
from broker_core.jobs.outcome import Outcome, brief_cause, failure_cause, outcomes
from broker_core.jobs.site_names import site_name

ALONE = 10
"""Jobs of one batch up to which each has its own line."""


@dataclass(frozen=True, slots=True)
class BatchLine:
    """Jobs that were submitted together."""

    id: str
    rows: Sequence[Row]

    @property
    def name(self) -> str:
        """What the names of its jobs have in common."""
        name = BatchName()
        for row in self.rows:
            name.add(row["name"], row["parameter"])
        return name.common()

    @property
    def standing(self) -> str:
        """How many jobs have which outcome, and how many are held."""
        held = sum(bool(row["held"]) for row in self.rows)
        return summary(self.rows) + (f" ({held:,} held)" if held else "")

    @property
    def failure(self) -> str:
        """Why its jobs failed, the commonest first: `exit 3 (6), SIGKILL (2)`."""
        whys = Counter(failure_of(row) for row in latest_rows(self.rows))
        del whys[""]
        return ", ".join(f"{why} ({number:,})" for why, number in whys.most_common(2))

    @property
    def site(self) -> str:
        """The one site where they are; of several how many."""
        sites = {site_name(row["site"]) for row in self.rows if row["site"]}
        return sites.pop() if len(sites) == 1 else f"{len(sites)} sites" if sites else ""


def summary(rows: Sequence[Row]) -> str:
    """How many jobs have which outcome, those that are furthest last: `40 jobs: 8 Failed, 32 Done`.

    What was run again counts once, as its last run stands.
    """
    rows = latest_rows(rows)
    found = Counter(outcomes((row["state"] for row in rows), (row["exit_code"] for row in rows)))
    counts = ", ".join(f"{found[one]:,} {one.value}" for one in Outcome if found[one])
    jobs = "job" if len(rows) == 1 else "jobs"
    return f"{len(rows):,} {jobs}: {counts}" if counts else f"{len(rows):,} {jobs}"


def folded(rows: Iterable[Row]) -> list[Row | BatchLine]:
    """The lines of a list: batches of more than ALONE jobs where their newest job stands."""
    rows = list(rows)
    batches: dict[str, list[Row]] = {}
    for row in rows:
        if row["batch"]:
            batches.setdefault(row["batch"], []).append(row)
    lines: dict[str, Row | BatchLine] = {}
    for row in rows:
        together = batches.get(row["batch"], ())
        if len(together) > ALONE:
            lines.setdefault(row["batch"], BatchLine(row["batch"], together))
        else:
            lines[row["id"]] = row
    return list(lines.values())


def failure_of(row: Row) -> str:
    """Why a job failed, as short as can be; empty if it did not."""
    known = (row["state"], row["exit_code"], row["signal"], row["reason"])
    return brief_cause(*known) or failure_cause(*known)
