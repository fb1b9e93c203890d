"""`crossdesk site show`: everything that is known of one resource."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer
from rich.text import Text

from broker_core.client.client import BrokerClient
from broker_core.command_line import output, tables, words
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.sites import words as site_words
from broker_core.errors import NotFound
from broker_core.jobs.placement import SLOT_SYSTEM, computing_element
from broker_core.wire.resources import AttributeView, ResourceDetail, gpu_words
from broker_core.wire.sites import SiteView

_IN_FULL = 3
"""Computing elements of a site that are shown one after the other; more are shown as a table."""


def show(
    name: Annotated[str, typer.Argument(help="Computing element or site.", metavar="NAME")],
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Show a site, or every attribute of a resource with its source and age, its marks, lock and commitments.

    A site is shown with its connection and settings, and with all its computing elements: one after the
    other, or as a table if there are many.
    """
    view, details = with_client(lambda client: _details(client, name))
    if session().json:
        about = {} if view is None else {"about": view.model_dump()}
        several = {"resources": [one.model_dump() for one in details]}
        output.as_json(about | (details[0].model_dump() if len(details) == 1 else several))
        return Exit.OK
    if view is not None:
        site_words.show(view)
    if len(details) > _IN_FULL:
        output.line("")
        tables.table(("CE", "CPUS", "NOW", "MARKS"), map(_row, details), right=("CPUS",))
        output.say("Name one of them to see everything that is known of it.", "dim")
        return Exit.OK
    for place, detail in enumerate(details):
        if place or view is not None:
            output.line("")
        _show(detail)
    return Exit.OK


async def _details(client: BrokerClient, name: str) -> tuple[SiteView | None, list[ResourceDetail]]:
    """The site of that name, if it is one, and all computing elements that the name means."""
    view = next((one for one in await client.sites() if one.name == name.lower()), None)
    try:
        first = await client.resource(name)
    except NotFound:
        if view is None:
            raise
        return view, []  # it was never heard from
    return view, [first, *[await client.resource(ce) for ce in first.ces[1:]]]


def _row(detail: ResourceDetail) -> tuple[str | Text, ...]:
    marks = [*detail.marks, *([] if detail.access else ["no access"])]
    return (
        detail.ce,
        str(detail.total_cpus),
        now_in_words(detail),
        Text(", ".join(marks), style="yellow"),
    )


def _show(detail: ResourceDetail) -> None:
    tables.facts(_facts(detail))
    if detail.commitments:
        output.line("")
        heads = ("COMMITTED TO", "CPUS", "COUNTED BY THE SITE")
        rows = [(one.job, str(one.cpus), "yes" if one.visible else "not yet") for one in detail.commitments]
        tables.table(heads, rows, right=("CPUS",))
    site_words.show_equipment(detail)
    output.line("")
    tables.table(("ATTRIBUTE", "VALUE", "SOURCE", "HEARD"), [_attribute(one) for one in detail.attributes])


def now_in_words(detail: ResourceDetail) -> str:
    """What is free now, what the site published of it and what was given to jobs, and who waits there."""
    unit = "slot" if computing_element(detail.ce).system == SLOT_SYSTEM else "CPU"
    free = f"{detail.free_cpus} free {unit if detail.free_cpus == 1 else f'{unit}s'}"
    jobs = f"{detail.waiting_jobs} {'job' if detail.waiting_jobs == 1 else 'jobs'} waiting"
    return f"{free}{_given(detail)}, {jobs}"


def _given(detail: ResourceDetail) -> str:
    if not detail.committed:
        return ""
    part = "all" if detail.counted == detail.committed else f"{detail.counted} of them"
    counted = f", {part} counted already" if detail.counted else ""
    return f" ({detail.published_free} published, {detail.committed} given to jobs{counted})"


def _facts(detail: ResourceDetail) -> list[tuple[str, str | Text]]:
    marks = [f"{mark}: {reason}" if reason else mark for mark, reason in detail.marks.items()]
    way = "" if detail.access else "This broker has no way to send jobs there yet: add the site."
    return [
        ("Resource", detail.ce),
        ("Site", detail.site),
        ("Now", now_in_words(detail)),
        ("GPUs", gpu_words(detail.gpus)),
        ("Licenses", ", ".join(f"{one.free} of {one.total} {one.name} free" for one in detail.licenses)),
        ("Marks", Text("\n".join(map(output.printable, marks)), style="yellow")),
        ("Locked for", _lock(detail)),
        ("Access", Text(way, style="yellow")),
    ]


def _lock(detail: ResourceDetail) -> str:
    if not detail.lock_owner:
        return ""
    if detail.lock_until is None:
        return detail.lock_owner
    return f"{detail.lock_owner}, {words.duration(detail.lock_until - time.time())} more at most"


def _attribute(one: AttributeView) -> tuple[str | Text, ...]:
    return (one.name, _value(one.value), one.source, words.ago(one.heard))


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return " ".join(f"{name}={_value(part)}" for name, part in value.items())
    return ", ".join(map(_value, value)) if isinstance(value, list) else f"{value}"
