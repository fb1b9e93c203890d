"""`crossdesk job list`, `status` and `logging-info`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from broker_core.client.client import BrokerClient
from broker_core.command_line import output, tables, words
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.folding import BatchLine, folded_page
from broker_core.command_line.job.following import (
    Row,
    all_rows,
    failed,
    outcome_of_row,
    rows_of,
    snapshot,
    until_ended,
    with_outcome,
)
from broker_core.command_line.job.ids import Job, Jobs, resolve
from broker_core.command_line.job.state_choice import StateChoice
from broker_core.command_line.job.submit import tell_ends, tell_state
from broker_core.jobs.site_names import site_name, site_names
from broker_core.jobs.states import JobState
from broker_core.wire.site_states import LinkState
from broker_core.wire.sites import SiteView
from broker_core.wire.views import EventView, JobDetail

_HEARD = (LinkState.CONNECTED, LinkState.CONNECTING)
Listed = Callable[[BrokerClient, Sequence[str], int], Awaitable[tuple[Sequence[Row | BatchLine], int, int]]]
"""Lines of a list, how many jobs they stand for, and how many jobs fit."""
_ACTIVE = tuple(state.value for state in JobState if state.active)
_USAGE = {
    "cpu_s": ("CPU time", words.duration),
    "max_rss_bytes": ("Memory", words.size),
    "output_bytes": ("Output", words.size),
}


def tell_silent(active: bool) -> None:
    """Name the sites that are not heard from, where the table has jobs that may be there."""
    if not active:
        return
    for site in silent(with_client(lambda client: client.sites())):
        since = site.link.heard or site.link.since
        output.say(
            f"{site.spec.name} is not heard from since {words.moment(since)} ({words.ago(since)}): "
            "its jobs are shown as they were last known.",
            "yellow",
        )


def silent(sites: Sequence[SiteView]) -> list[SiteView]:
    """The sites with jobs of this broker that cannot be asked about them now."""
    return [one for one in sites if one.link.state not in _HEARD and one.queued + one.running]


def list_jobs(
    everything: Annotated[bool, typer.Option("--all", "-a", help="Ended jobs too.")] = False,
    state: Annotated[
        list[StateChoice] | None,
        typer.Option(
            "--state",
            case_sensitive=False,
            help="Only jobs in this state, e.g. failed; may be repeated.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Limit (0: all); the newest come first.")] = 100,
    unfold: Annotated[
        bool, typer.Option("--unfold", help="Each job of a batch on its own line, however many.")
    ] = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """List jobs, newest first; without options the active ones."""
    chosen = tuple(one.asked for one in state or ()) or (() if everything else _ACTIVE)
    listed = _listed if unfold or session().json else folded_page
    lines, shown, total, others = with_client(lambda client: _list(client, listed, chosen, limit))
    if session().json:
        output.as_json(
            {
                "jobs": [with_outcome(row) for row in lines if isinstance(row, dict)],
                "total": total,
                "hidden": others,
            }
        )
        return Exit.OK
    if lines:
        tables.jobs(lines)
        tell_silent(any(state in _ACTIVE for state in chosen or _ACTIVE))
    if shown > len(lines):
        output.say("Jobs that were submitted together are one line; --unfold shows each.", "dim")
    _tell_rest(shown, total, others, "active" if chosen == _ACTIVE else "such")
    return Exit.OK


async def _list(
    client: BrokerClient, listed: Listed, states: tuple[str, ...], limit: int
) -> tuple[Sequence[Row | BatchLine], int, int, int]:
    """Lines, how many jobs they stand for, how many fit, and how many other jobs there are."""
    lines, shown, total = await listed(client, states, limit)
    others = (await client.jobs_page(1, columns=("id",))).total - total if states else 0
    return lines, shown, total, max(0, others)


async def _listed(
    client: BrokerClient, states: Sequence[str], limit: int
) -> tuple[Sequence[Row | BatchLine], int, int]:
    """A line for each job."""
    if limit:
        page = await client.jobs_page(limit, states=states)
        rows, total = rows_of(page.columns), page.total
    else:
        rows = [row async for part, _ in all_rows(client, states) for row in part]
        total = len(rows)
    return rows, len(rows), total


def _tell_rest(shown: int, total: int, others: int, wanted: str) -> None:
    if total > shown:
        output.say(f"{total - shown:,} more; --limit 0 shows all.", "dim")
    if others:
        what = "other job" if shown else f"job, none of them {wanted}"
        what = what.replace("job", "jobs") if others != 1 else what
        output.say(f"{others:,} {what}; --all shows all.", "dim")
    elif not total:
        output.say("No jobs yet. `crossdesk sample run neural-net` runs a first one.", "dim")


def status(
    ids: Jobs,
    wait: Annotated[bool, typer.Option("--wait", "-w", help="Wait until they have ended.")] = False,
    timeout: Annotated[float | None, typer.Option("--timeout", help="Timeout in seconds.")] = None,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Show how jobs stand and what they wait for; the id of a batch stands for its jobs."""

    async def work(client: BrokerClient) -> tuple[list[Row], list[JobDetail]]:
        jobs = await resolve(client, ids, batches=True)
        if wait:
            await until_ended(client, jobs, timeout=timeout, changed=None if session().json else tell_state)
        if len(jobs) > 1 and not session().json:
            found, _ = await snapshot(client, jobs)
            return [found[job] for job in jobs], []
        details = [await client.job(job) for job in jobs]
        return [one.row for one in details], details

    rows, details = with_client(work)
    if session().json:
        output.as_json({"jobs": [_detail_value(one) for one in details]})
    elif len(details) == 1:
        _show(details[0])
    else:
        tables.jobs(rows)
        tell_silent(any(outcome_of_row(row).active for row in rows))
        tell_ends(rows if wait else ())
    return Exit.JOB_FAILED if wait and failed(rows) else Exit.OK


def _detail_value(detail: JobDetail) -> dict[str, Any]:
    return {
        **with_outcome(detail.row),
        **detail.model_dump(exclude={"row"}),
        "description": detail.row["description"],
    }


def _show(detail: JobDetail) -> None:
    row = detail.row
    times = ("submitted", "accepted", "matched", "scheduled", "started", "ended")
    tables.facts(
        [
            ("Job", Text(row["id"], style="bold")),
            ("Name", row["name"]),
            ("State", words.standing(row, cause=True)),
            ("Because", row["reason"]),
            ("Waits for", detail.waits_for),
            ("Not heard from", _unheard(detail)),
            ("Place in queue", str(detail.queue_place or "")),
            ("Held", row["held"]),
            ("Kind", f"{row['structure']}, {row['cpus']} CPU{'s' if row['cpus'] != 1 else ''}"),
            ("Site", site_name(row["site"])),
            ("Batch", row["batch"]),
            ("Value", row["parameter"]),
            *((name.capitalize(), _at(row[name])) for name in times),
            ("Run time", words.run_time(row)),
            ("Exit", words.exit_code_or_signal(row)),
            *(
                (_USAGE[name][0], _USAGE[name][1](value))
                for name, value in detail.usage.items()
                if name in _USAGE
            ),
        ]
    )


def _unheard(detail: JobDetail) -> Text:
    """What is shown of a job at a site without connection is from some time ago: it has not failed."""
    if detail.unheard_since is None:
        return Text("")
    since = f"since {words.moment(detail.unheard_since)} ({words.ago(detail.unheard_since)})"
    return Text(f"{since}: its site is not connected; `crossdesk site show` tells why", style="yellow")


def _at(when: float | None) -> str:
    return f"{words.moment(when)}  ({words.ago(when)})" if when else ""


def logging_info(job: Job, as_json: Json = False, state_dir: StateDir = None) -> int:
    """Show everything that happened to a job, with the reasons."""

    async def work(client: BrokerClient) -> list[EventView]:
        return await client.events_of((await resolve(client, [job]))[0])

    events = with_client(work)
    if session().json:
        output.as_json({"events": [{**vars(one)} for one in events]})
        return Exit.OK
    heads = ("TIME", "FROM", "EVENT", "STATE", "WHY")
    tables.table(heads, [_event(one) for one in events])
    return Exit.OK


def _event(one: EventView) -> tuple[str | Text, ...]:
    return (
        words.moment(one.time),
        one.source,
        one.type.removeprefix("job.").replace("_", " "),
        words.state(one.new, one.details.get("exit_code")),
        _why(one),
    )


def _why(one: EventView) -> str:
    """The reason with the place, unless it says the place itself."""
    place = site_names(one.resources)
    if not place or place in one.reason:
        return one.reason
    return f"{one.reason} at {place}".lstrip()
