"""`crossdesk job stayed`: what a job made that did not come home."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.client.printable import printable
from broker_core.client.stayed_words import summary, until
from broker_core.command_line import output, tables, words
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.change import Yes
from broker_core.command_line.job.ids import Job, resolve
from broker_core.errors import BadRequest
from broker_core.wire.views import LeftView


def stayed(
    job: Job,
    names: Annotated[list[str] | None, typer.Argument(help="Some of these files; without: all.")] = None,
    fetch: Annotated[bool, typer.Option("--fetch", help="Bring them; get-output saves them.")] = False,
    forget: Annotated[bool, typer.Option("--forget", help="Remove them at the site for good.")] = False,
    yes: Yes = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """List what a job made that stayed at its site: files that are not in OutputSandbox, or too large."""
    if fetch and forget:
        raise BadRequest("Files are either fetched or forgotten.", remedy="Give --fetch or --forget.")
    if forget and not yes and not session().json and sys.stdin.isatty():
        typer.confirm("Remove these files at the site for good?", abort=True, err=True)

    async def work(client: BrokerClient) -> LeftView:
        found = (await resolve(client, [job]))[0]
        if fetch:
            return await client.fetch_stayed(found, names or ())
        if forget:
            return await client.forget_stayed(found, names or ())
        return await client.stayed(found)

    left = with_client(work)
    if session().json:
        output.as_json(left.model_dump())
        return Exit.OK
    if fetch:
        output.say(f"Fetched. `crossdesk job get-output {job}` saves it.", "green")
    _show(left)
    return Exit.OK


def tell_stayed(job: str, left: LeftView) -> None:
    """Say after something else what stayed, and what can be done."""
    if sentence := summary(left, words.size):
        output.say(f"{sentence}. {until(left)}".strip(), "yellow")
        output.say(f"`crossdesk job stayed {job} --fetch` brings it, --forget removes it there.", "dim")


def _show(left: LeftView) -> None:
    if not (left.files or left.more):
        output.say("Nothing stayed there.", "dim")
        return
    tables.table(
        ("NAME", "SIZE"),
        [(printable(one.path), words.size(one.size)) for one in left.files],
        right=("SIZE",),
    )
    if left.more:
        output.say(f"{left.more:,} more, {words.size(left.more_bytes)}.", "dim")
    if sentence := until(left):
        output.say(sentence, "dim")
