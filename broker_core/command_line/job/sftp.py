"""`crossdesk job sftp`: files of a running interactive job, one command, a batch of them, or by hand."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Annotated

import typer

from broker_core.client.client import BrokerClient
from broker_core.client.printable import printable
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, with_client
from broker_core.command_line.job.forward import beside
from broker_core.command_line.job.forward_forms import DirectPorts
from broker_core.command_line.job.ids import Job
from broker_core.command_line.job.raw_keys import lines as typed_lines
from broker_core.command_line.job.sftp_commands import COMMANDS, Files, words_of
from broker_core.errors import BadRequest, CrossDeskError

PROMPT = "sftp> "


def sftp(
    job: Job,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="One command with its names; none: they are read as you type them.", metavar="COMMAND"
        ),
    ] = None,
    batch: Annotated[
        Path | None,
        typer.Option(
            "-b",
            "--batch",
            help="Read commands from this file, or - for the input, and stop at the first that fails.",
        ),
    ] = None,
    direct_ports: DirectPorts = "",
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Files of a running interactive job, whose directory is the root.

    Commands: ls [-l] [PATH], get NAME... [HERE], put HERE... [NAME], rm NAME..., mkdir, rmdir, cd, pwd, lcd,
    lpwd, rename OLD NEW, help, quit. Names may have wildcards; folders are taken whole. In a batch a line
    that begins with - may fail, and # begins a remark.
    """
    lines = _lines(words or [], batch)

    async def work(client: BrokerClient) -> int:
        async with beside(client, job, direct_ports) as opened:
            connection = await opened.connection()
            async with connection.start_sftp_client() as there:
                return await _all(Files(there), lines, stop=bool(words or batch))

    return with_client(work)


async def _all(files: Files, lines: AsyncIterator[list[str]], *, stop: bool) -> int:
    """Carry out line by line; returns the exit code."""
    code = Exit.OK
    async for words in lines:
        may_fail = words[0].startswith("-")
        name = words[0].removeprefix("-")
        if name in ("quit", "exit", "bye"):
            break
        try:
            await files.do(name, words[1:])
        except CrossDeskError as error:
            if stop and not may_fail:
                raise
            sys.stderr.write(f"{printable(str(error))}\n")
            code = code if may_fail or sys.stdin.isatty() else Exit.ERROR
    return code


def _lines(words: list[str], batch: Path | None) -> AsyncIterator[list[str]]:
    """Commands to carry out, each as words; raises BadRequest."""
    if words and batch is not None:
        raise BadRequest("Give a command or a batch, not both.", code="usage")
    if words:
        if words[0] not in COMMANDS:
            raise BadRequest(
                f"There is no command {words[0]!r}.", remedy="Use " + ", ".join(COMMANDS) + ".", code="usage"
            )
        return _given([words])
    if batch is None or str(batch) == "-":
        return _typed()
    try:
        text = batch.read_text()
    except OSError as error:
        raise BadRequest(f"The batch cannot be read: {error.strerror}.", place=str(batch)) from error
    return _given([found for line in text.splitlines() if (found := words_of(line))])


async def _given(commands: Iterable[list[str]]) -> AsyncIterator[list[str]]:
    for words in commands:
        yield words


async def _typed() -> AsyncIterator[list[str]]:
    _prompt()
    async for line in typed_lines(sys.stdin.fileno()):
        if found := words_of(line):
            yield found
        _prompt()


def _prompt() -> None:
    if sys.stdin.isatty():
        sys.stdout.write(PROMPT)
        sys.stdout.flush()
