"""`crossdesk job status` and `logging-info`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import typer
from rich.text import Text

from broker_core.client.client import BrokerClient
from broker_core.command_line import output, tables, words
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.following import (
    Row,
    failed,
    outcome_of_row,
    snapshot,
    until_ended,
    with_outcome,
)
from broker_core.command_line.job.ids import Job, Jobs, resolve
from broker_core.command_line.job.progress import refusal_remedy, tell_ends, tell_state
from broker_core.command_line.job.stayed import tell_stayed
from broker_core.jobs.annotations import tags_in
from broker_core.jobs.components import CoallocationStory, coallocation_of
from broker_core.jobs.placement import ids_in
from broker_core.jobs.site_names import choice_words, site_name, site_names
from broker_core.jobs.states import CHOOSING
from broker_core.wire.job_events import replayed_events
from broker_core.wire.queue import WhyView
from broker_core.wire.site_states import LinkState
from broker_core.wire.sites import SiteView
from broker_core.wire.views import EventView, JobDetail, LeftView

_HEARD = (LinkState.CONNECTED, LinkState.CONNECTING)
_CHOICES = {"trying", "failed", "next_round"}
_USAGE = {
    "cpu_s": ("CPU time", words.duration),
    "max_rss_bytes": ("Memory", words.size),
    "output_bytes": ("Output", words.size),
}


@dataclass
class _Standing:
    """What is known of jobs; of several, for a table, the rows alone."""

    rows: list[Row]
    details: list[JobDetail] = field(default_factory=list)
    choosing: list[WhyView] = field(default_factory=list)
    stories: dict[str, CoallocationStory] = field(default_factory=dict)
    """Of the jobs over several sites."""
    left: LeftView | None = None


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


def status(
    ids: Jobs,
    wait: Annotated[bool, typer.Option("--wait", "-w", help="Wait until they have ended.")] = False,
    timeout: Annotated[float | None, typer.Option("--timeout", help="Timeout in seconds.")] = None,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Show how jobs stand and what they wait for; the id of a batch stands for its jobs, as they ran last."""

    async def work(client: BrokerClient) -> _Standing:
        jobs = await resolve(client, ids, batches=True, latest=True)
        if wait:
            await until_ended(client, jobs, timeout=timeout, changed=None if session().json else tell_state)
        return await _standing(client, jobs)

    standing = with_client(work)
    rows, details = standing.rows, standing.details
    if session().json:
        output.as_json({"jobs": [_value(one, standing) for one in details]})
    elif len(details) == 1:
        _show(details[0], standing.choosing)
        for story in standing.stories.values():
            tables.components(story)
        if standing.left is not None:
            tell_stayed(rows[0]["id"], standing.left)
    else:
        tables.jobs(rows)
        tell_silent(any(outcome_of_row(row).active for row in rows))
        tell_ends(rows if wait else ())
    return Exit.JOB_FAILED if wait and failed(rows) else Exit.OK


async def _standing(client: BrokerClient, jobs: Sequence[str]) -> _Standing:
    if len(jobs) > 1 and not session().json:
        found, _ = await snapshot(client, jobs)
        return _Standing([found[job] for job in jobs])
    details = [await client.job(job) for job in jobs]
    standing = _Standing([one.row for one in details], details)
    for row in standing.rows:
        if row["state"] in CHOOSING:
            standing.choosing.append(await client.why(row["id"]))
        if len(ids_in(row["site"])) > 1:
            story = coallocation_of(replayed_events(await client.events_of(row["id"])))
            standing.stories.update({row["id"]: story} if story is not None else {})
    if len(jobs) == 1 and not session().json:
        standing.left = await client.stayed(jobs[0])
    return standing


def _value(detail: JobDetail, standing: _Standing) -> dict[str, Any]:
    job = detail.row["id"]
    tried = {one.job: one.model_dump(include=_CHOICES) for one in standing.choosing}
    story = standing.stories.get(job)
    return {
        **with_outcome(detail.row),
        **detail.model_dump(exclude={"row"}),
        "description": detail.row["description"],
        **tried.get(job, {}),
        **({} if story is None else {"coallocation": {**asdict(story), "barrier": story.barrier}}),
    }


def _show(detail: JobDetail, choosing: Sequence[WhyView]) -> None:
    row = detail.row
    times = ("submitted", "accepted", "matched", "scheduled", "started", "ended")
    tables.facts(
        [
            ("Job", Text(row["id"], style="bold")),
            ("Name", row["name"]),
            ("State", words.standing(row, cause=True)),
            ("Because", row["reason"]),
            ("Remedy", refusal_remedy(row)),
            ("Last error line", output.printable(row.get("error_line", ""))),
            ("Waits for", detail.waits_for),
            *(fact for one in choosing for fact in _choices(one)),
            ("On the way", _on_the_way(detail)),
            ("Not heard from", _unheard(detail)),
            ("Place in queue", str(detail.queue_place or "")),
            ("Held", row["held"]),
            ("Kind", f"{row['structure']}, {row['cpus']} CPU{'s' if row['cpus'] != 1 else ''}"),
            ("Site", site_name(row["site"])),
            ("Batch", row["batch"]),
            ("Value", row["parameter"]),
            ("Tags", ", ".join(tags_in(row.get("tags", "")))),
            ("Note", output.printable(row.get("note", ""))),
            ("Rerun of", row.get("rerun_of", "")),
            ("Run again by", detail.repeated_by),
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


def _choices(why: WhyView) -> list[tuple[str, str]]:
    """How the choices of a job fared that no site has yet, and when it is matched again (SA-UI-01)."""
    failed = (f"{choice_words(one.ces)}: {one.error}" for one in why.failed)
    return [
        ("Being tried", output.printable(choice_words(why.trying))),
        ("Did not take it", "\n".join(map(output.printable, failed))),
        ("Next round", f"{words.moment(why.next_round)} at the latest" if why.next_round else ""),
    ]


def _on_the_way(detail: JobDetail) -> str:
    """How much of its files has arrived that are on their way now."""
    moving = detail.transfer
    if moving is None:
        return ""
    what = "input to its site" if moving.to_site else "output from its site"
    return f"{what}: {words.size(moving.done)} of {words.size(moving.total)}"


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
    place = site_names(tuple(one.resources))
    if not place or place in one.reason:
        return one.reason
    return f"{one.reason} at {place}".lstrip()
