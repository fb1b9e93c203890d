"""`crossdesk sample list` and `run`."""

from __future__ import annotations

from typing import Annotated

import typer

from broker_core.client.samples import Sample, sample, samples
from broker_core.command_line import output, tables
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.submit import SubmitRequest, send
from broker_core.errors import BadRequest


def list_samples(as_json: Json = False, state_dir: StateDir = None) -> int:
    """List the sample jobs that come with the program."""
    if session().json:
        output.as_json({"samples": [_value(one) for one in samples()]})
    else:
        tables.table(
            ("NAME", "TITLE", "FOLDER"), [(one.name, one.title, str(one.folder)) for one in samples()]
        )
    return Exit.OK


def _value(one: Sample) -> dict[str, object]:
    return {
        "name": one.name,
        "title": one.title,
        "about": one.about,
        "folder": str(one.folder),
        "descriptions": [path.name for path in one.descriptions],
        "jobs": len(one.values or one.descriptions),
    }


def _names(incomplete: str) -> list[tuple[str, str]]:
    return [(one.name, one.title) for one in samples() if one.name.startswith(incomplete)]


def run(
    name: Annotated[str, typer.Argument(help="Name of the sample.", autocompletion=_names)],
    wait: Annotated[bool, typer.Option("--wait", "-w", help="Wait until it has ended.")] = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait, and show its output; at a prompt: attach.")
    ] = False,
    timeout: Annotated[float | None, typer.Option("--timeout", help="Timeout in seconds.")] = None,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Submit a sample; prints the ids of its jobs. An interactive one is attached to with --follow."""
    chosen = sample(name)
    if not chosen.runs_here:
        raise BadRequest(
            f"{name} is a collection; submit one of its descriptions.",
            place=str(chosen.folder),
            code="collection",
            remedy="They are " + ", ".join(path.name for path in chosen.descriptions) + ".",
        )
    wish = SubmitRequest(values=chosen.values, wait=wait, follow=follow, timeout=timeout)
    return with_client(lambda client: send(client, [str(chosen.jdl)], wish))
