"""`crossdesk job list`: the active jobs, or those that a query asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.command_line import output, tables
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, Start, StateDir, session, with_client
from broker_core.command_line.job.folding import BatchLine, folded
from broker_core.command_line.job.following import Row, matching_rows, rows_of, with_outcome
from broker_core.command_line.job.outside import list_outside
from broker_core.command_line.job.status import tell_silent
from broker_core.command_line.shielding import unshielded
from broker_core.jobs.query import JobQuery, complete, parse
from broker_core.jobs.states import JobState

ACTIVE = tuple(state.value for state in JobState if state.active)
"""States of the jobs that are listed without a query."""
_COUNTED = 50_000
"""Jobs that are counted for a list without an end; more are said to be left."""


class StateChoice(StrEnum):
    """How jobs stand, and the two states that the story of a job tells apart within an outcome."""

    SUBMITTED = "submitted"
    WAITING = "waiting"
    READY = "ready"
    SCHEDULED = "scheduled"
    RUNNING = "running"
    FAILED = "failed"
    DONE = "done"
    CANCELED = "canceled"
    ABORTED = "aborted"
    CLEARED = "cleared"

    @property
    def asked(self) -> str:
        """The name under which the broker is asked: outcomes in small letters, states by their names."""
        return (
            self.value
            if self in (StateChoice.FAILED, StateChoice.DONE)
            else JobState(self.value.capitalize()).value
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """Which jobs a list shows."""

    states: tuple[str, ...] = ()
    """States and outcomes; none: all."""
    query: JobQuery | None = None
    limit: int = 100
    """Lines at most; 0: all."""
    unfold: bool = False
    """A line for each job of a batch."""
    earlier: bool = False
    """Jobs that were run again too."""

    @property
    def of_active(self) -> bool:
        """True if the list is that of the active jobs."""
        return self.states == ACTIVE


@dataclass(frozen=True, slots=True)
class JobListing:
    """What a list shows, and what it leaves out."""

    lines: Sequence[Row | BatchLine]
    total: int
    """Jobs that were asked for; the lines may show fewer."""
    others: int = 0
    """Jobs that were not asked for."""
    failed: int = 0
    """How many of the others failed, where only active ones were asked for."""

    @property
    def shown(self) -> int:
        """Jobs that the lines stand for."""
        return sum(len(one.rows) if isinstance(one, BatchLine) else 1 for one in self.lines)


def _offer_terms(incomplete: str) -> list[tuple[str, str]]:
    offers = complete(incomplete, len(incomplete))
    return [(incomplete[: one.start] + one.text.strip(), one.about) for one in offers]


Query = Annotated[
    list[str] | None,
    typer.Argument(
        help="What to look for, as in the desktop: state:failed name:scan* failed:today runtime:>1h; a word"
        " alone is looked for in name, id, site and value.",
        metavar="QUERY",
        autocompletion=_offer_terms,
    ),
]
"""Terms of the desktop's query language."""


def asked_query(words: Sequence[str] | None) -> JobQuery | None:
    """The query in the words of the command line, None without any; raises UnclearQuery.

    The shell has taken away the quotes around spaces: of several words each is a term of its own.
    """
    if not words:
        return None
    terms = [unshielded(word) for word in words]
    return parse(terms[0] if len(terms) == 1 else " ".join(map(_quoted, terms))).checked()


def _quoted(word: str) -> str:
    if " " not in word or '"' in word:
        return word
    field, colon, value = word.rpartition(":")
    return f'{field}{colon}"{value}"'


def list_jobs(
    terms: Query = None,
    everything: Annotated[bool, typer.Option("--all", "-a", help="Ended jobs too.")] = False,
    state: Annotated[
        list[StateChoice] | None,
        typer.Option(
            "--state", case_sensitive=False, help="Only jobs in this state, e.g. failed; may be repeated."
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Limit (0: all); the newest come first.")] = 100,
    unfold: Annotated[
        bool,
        typer.Option("--unfold", help="Each job on its own line; with --all those that were run again too."),
    ] = False,
    outside: Annotated[
        bool,
        typer.Option(
            "--outside", help="Jobs of your accounts that were submitted outside CrossDesk instead."
        ),
    ] = False,
    start: Start = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """List jobs, newest first; without a query or options the active ones."""
    query = asked_query(terms)
    if outside or (query is not None and query.outside):
        return list_outside(query, everything=everything, limit=limit)
    states = tuple(one.asked for one in state or ()) or (() if everything or query else ACTIVE)
    each = unfold or session().json
    asked = Asked(states, query, limit, each, earlier=each and everything)
    found = with_client(lambda client: listing(client, asked))
    if session().json:
        jobs = [with_outcome(row) for row in found.lines if isinstance(row, dict)]
        output.as_json({"jobs": jobs, "total": found.total, "hidden": found.others})
        return Exit.OK
    if found.lines:
        tables.jobs(found.lines)
        tell_silent(any(state in ACTIVE for state in states or ACTIVE))
    if found.shown > len(found.lines):
        output.say("Jobs that were submitted together are one line; --unfold shows each.", "dim")
    _tell_rest(asked, found)
    return Exit.OK


async def listing(client: BrokerClient, asked: Asked) -> JobListing:
    """Ask the broker for what a list shows."""
    lines, total = await _lines(client, asked)
    if not asked.states and asked.query is None:
        return JobListing(lines, total)
    others = await _number(client, asked) - total
    failed = await _number(client, asked, ("failed",)) if asked.of_active else 0
    return JobListing(lines, total, max(0, others), failed)


async def _lines(client: BrokerClient, asked: Asked) -> tuple[Sequence[Row | BatchLine], int]:
    """The lines, and how many jobs were asked for."""
    if asked.unfold and asked.limit and asked.query is None:
        page = await client.jobs_page(asked.limit, states=asked.states, latest=not asked.earlier)
        return rows_of(page.columns), page.total
    rows: list[Row] = []
    whole = True
    async for part in matching_rows(client, asked.states, asked.query, latest=not asked.earlier):
        rows += part
        # What a query leaves out only a look at all jobs tells; how many have a state the broker knows.
        if asked.query is None and _enough(rows, asked):
            whole = False
            break
    lines = rows if asked.unfold else folded(rows)
    total = len(rows) if whole else await _number(client, asked, asked.states)
    return lines[: asked.limit or None], total


async def _number(client: BrokerClient, asked: Asked, states: Sequence[str] = ()) -> int:
    """How many jobs have these states; of those that were run again the last one counts in folded lists."""
    return (await client.jobs_page(1, states=states, columns=("id",), latest=not asked.earlier)).total


def _enough(rows: list[Row], asked: Asked) -> bool:
    return bool(asked.limit) and (len(rows) >= _COUNTED or len(folded(rows)) > asked.limit)


def _tell_rest(asked: Asked, found: JobListing) -> None:
    if found.total > found.shown:
        output.say(f"{found.total - found.shown:,} more; --limit 0 shows all.", "dim")
    if asked.query is not None:
        every = found.total + found.others
        output.say(f"{found.total:,} of {every:,} job{'s' if every != 1 else ''}.", "dim")
    elif found.others:
        what = "other job" if found.shown else f"job, none of them {'active' if asked.of_active else 'such'}"
        what = what.replace("job", "jobs") if found.others != 1 else what
        output.say(f"{found.others:,} {what}; --all shows all.", "dim")
        if found.failed:
            output.say(f"{found.failed:,} failed; `crossdesk job list state:failed` shows them.", "red")
    elif not found.total:
        output.say("No jobs yet. `crossdesk sample run neural-net` runs a first one.", "dim")
