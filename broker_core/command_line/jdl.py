"""`crossdesk jdl check`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from broker_core.client.prepare import Prepared, prepare_now
from broker_core.command_line import diagnostics, output, words
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session
from broker_core.jdl.description import JobDescription
from broker_core.jdl.number_of_jobs import cpus_of_each, number_of_jobs


def check(
    files: Annotated[list[str], typer.Argument(help="Job descriptions (JDL); - reads one.", metavar="FILE")],
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Check descriptions and the files they name; needs no broker."""
    checked = [prepare_now(sys.stdin.read() if file == "-" else Path(file)) for file in files]
    if session().json:
        reports = [_value(one) for one in checked]
        output.as_json(
            reports[0] if len(reports) == 1 else {"ok": all(one.ok for one in checked), "files": reports}
        )
    else:
        for one in checked:
            _show(one)
    return Exit.OK if all(one.ok for one in checked) else Exit.ERROR


def _value(one: Prepared) -> dict[str, object]:
    found = one.description
    return {
        "ok": one.ok,
        "file": one.origin,
        "diagnostics": [item.model_dump() for item in one.diagnostics],
        "name": found.name if found else "",
        "structure": found.structure if found else "",
        "interactive": found.interactive if found else False,
        "cpus": found.cpus if found else 0,
        "jobs": number_of_jobs(found) if found else 0,
        "sandbox": [item.wire().model_dump() for item in one.files],
    }


def _show(one: Prepared) -> None:
    diagnostics.show(output.results(), one.diagnostics, one.origin, one.text)
    name = one.origin or "description"
    if one.description is None or not one.ok:
        count = len(one.errors)
        output.say(f"{name}: {count} error{'s' if count != 1 else ''}.", "bold red")
        return
    files = (
        f", {len(one.files)} file{'s' if len(one.files) != 1 else ''} ({words.size(one.size)})"
        if one.files
        else ""
    )
    output.say(f"{name}: no problems. {_demand(one.description)}{files}.", "green")


def _demand(description: JobDescription) -> str:
    """What it asks for, in words."""
    kind = ("interactive " if description.interactive else "") + description.structure.lower()
    count, (fewest, most) = number_of_jobs(description), cpus_of_each(description)
    cpus = _counted(most, "CPU") if fewest == most else f"{fewest:,} to {_counted(most, 'CPU')}"
    if count > 1:
        return f"{_counted(count, 'job')} of {cpus} each"
    return f"{kind.capitalize()} job, {cpus}"


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
