"""The jobs of one submission as one line of a list: hundreds of a sweep would hide all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from broker_core.client.client import BrokerClient
from broker_core.command_line.job.following import Row, latest_rows, rows_of
from broker_core.jobs.outcome import Outcome, outcomes
from broker_core.jobs.site_names import site_name

ALONE = 10
"""Jobs of one batch up to which each has its own line."""
LOOKED = 50_000
"""Jobs that are counted for a list without an end; more are said to be left."""
_PAGE = 5000


@dataclass(frozen=True, slots=True)
class BatchLine:
    """Jobs that were submitted together."""

    id: str
    rows: Sequence[Row]

    @property
    def name(self) -> str:
        """What their names begin with."""
        names = [row["name"] for row in self.rows]
        first, last = min(names), max(names)
        same = "".join(
            one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
        )
        return first if first == last else f"{same}*"

    @property
    def standing(self) -> str:
        """How many jobs have which outcome, and how many are held."""
        held = sum(bool(row["held"]) for row in self.rows)
        return summary(self.rows) + (f" ({held:,} held)" if held else "")

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
    return f"{len(rows):,} jobs: {counts}"


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


async def folded_page(
    client: BrokerClient, states: Sequence[str], limit: int
) -> tuple[list[Row | BatchLine], int, int]:
    """At most `limit` lines (0: all), how many jobs they stand for, and how many there are."""
    rows: list[Row] = []
    after, total = "", 0
    while True:
        page = await client.jobs_page(_PAGE, after, states, latest=True)
        rows += rows_of(page.columns)
        after, total = page.next, total or page.total
        if not after or (limit and (len(folded(rows)) > limit or len(rows) >= LOOKED)):
            break
    shown = folded(rows)[: limit or None]
    return shown, sum(len(one.rows) if isinstance(one, BatchLine) else 1 for one in shown), total
