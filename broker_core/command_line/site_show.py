"""`crossdesk site show`: everything that is known of one resource."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer
from rich.text import Text

from broker_core.command_line import output, tables, words
from broker_core.command_line.exits import Exit
from broker_core.command_line.session import Json, StateDir, session, with_client
from broker_core.wire.resources import AttributeView, ResourceDetail


def show(
    name: Annotated[str, typer.Argument(help="Computing element or site.", metavar="NAME")],
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Show every attribute of a resource with its source and age, its marks, lock and commitments."""
    detail = with_client(lambda client: client.resource(name))
    if session().json:
        output.as_json(detail.model_dump())
        return Exit.OK
    tables.facts(_facts(detail))
    if detail.commitments:
        output.line("")
        heads = ("COMMITTED TO", "CPUS", "COUNTED BY THE SITE")
        rows = [(one.job, str(one.cpus), "yes" if one.visible else "not yet") for one in detail.commitments]
        tables.table(heads, rows, right=("CPUS",))
    output.line("")
    tables.table(("ATTRIBUTE", "VALUE", "SOURCE", "HEARD"), [_attribute(one) for one in detail.attributes])
    return Exit.OK


def _facts(detail: ResourceDetail) -> list[tuple[str, str | Text]]:
    marks = [f"{mark}: {reason}" if reason else mark for mark, reason in detail.marks.items()]
    free = f"{detail.free[-1]} free CPUs, {detail.waiting[-1]} jobs waiting" if detail.free else ""
    way = "" if detail.access else "This broker has no way to send jobs there yet: add the site."
    return [
        ("Resource", detail.ce),
        ("Site", detail.site),
        ("Now", free),
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
    return ", ".join(map(str, value)) if isinstance(value, list) else f"{value}"
