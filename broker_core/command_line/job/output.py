"""`crossdesk job get-output` and `log`."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, TextIO

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

from broker_core.client.client import BrokerClient
from broker_core.client.fetch import Fetch, fetch_output
from broker_core.command_line import output, words
from broker_core.command_line.exits import Exit
from broker_core.command_line.invocation import Json, StateDir, session, with_client
from broker_core.command_line.job.following import follow_jobs, terminal_safe
from broker_core.command_line.job.ids import Job, Jobs, resolve
from broker_core.command_line.job.progress import tell_state
from broker_core.command_line.job.stayed import tell_stayed
from broker_core.errors import CrossDeskError, NotFound
from broker_core.jobs.states import JobState
from broker_core.wire.views import LeftView

_PART = 1 << 20


def get_output(
    ids: Jobs,
    directory: Annotated[
        Path, typer.Option("--dir", "-d", help="Make the folders of the jobs here.")
    ] = Path(),
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Save the output of ended jobs, each in a new folder; prints the folders."""

    stayed: dict[str, LeftView] = {}

    async def work(client: BrokerClient) -> tuple[list[Fetch], list[CrossDeskError]]:
        done, wrong = [], []
        for job in await resolve(client, ids, batches=True):
            try:
                done.append(await _fetch(client, job, directory))
                stayed[job] = await client.stayed(job)
            except CrossDeskError as error:
                wrong.append(error)
        return done, wrong

    done, wrong = with_client(work)
    if session().json:
        errors = [output.error_value(one) for one in wrong]
        fetched = [_value(one) | {"stayed": stayed[one.job].model_dump()} for one in done]
        output.as_json({"fetched": fetched, "errors": errors})
    else:
        for one in done:
            _show(one)
            tell_stayed(one.job, stayed[one.job])
        for error in wrong:
            output.error(error)
    complete = not wrong and not any(one.missing or one.refused or one.failed for one in done)
    return Exit.OK if complete else Exit.ERROR


async def _fetch(client: BrokerClient, job: str, directory: Path) -> Fetch:
    quiet = session().json or not sys.stderr.isatty()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    bar = None if quiet else Progress(*columns, console=output.messages(), transient=True)
    with bar or nullcontext():
        task = bar.add_task("Fetching", total=None) if bar else None

        def step(done: int, total: int) -> None:
            if bar and task is not None:
                bar.update(task, completed=done, total=total)

        return await fetch_output(client, job, directory, step)


def _value(one: Fetch) -> dict[str, object]:
    return {
        "id": one.job,
        "directory": str(one.directory),
        "files": [str(path) for path in one.files],
        "missing": list(one.missing),
        "refused": list(one.refused),
        "failed": list(one.failed),
        "size": one.size,
    }


def _show(one: Fetch) -> None:
    output.line(str(one.directory))
    count = len(one.files)
    output.say(f"{count} file{'s' if count != 1 else ''}, {words.size(one.size)}.", "green")
    for name in one.missing:
        output.say(
            f"The job did not make {name}, which its OutputSandbox names; the job stays Done.", "yellow"
        )
    for name in one.refused:
        output.say(f"{name!r} was not saved: the name leads out of the folder.", "red")
    for what in one.failed:
        output.say(f"Not saved: {what}", "red")


def log(
    job: Job,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the job has ended.")] = False,
    file: Annotated[str, typer.Option("--file", help="stdout, stderr, or a file of the job.")] = "",
    timeout: Annotated[float | None, typer.Option("--timeout", help="Timeout in seconds.")] = None,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Show what a job wrote: its stdout to stdout, its stderr to stderr."""

    async def work(client: BrokerClient) -> int:
        whole = (await resolve(client, [job]))[0]
        if follow and not session().json:
            await follow_jobs(client, [whole], tell_state, timeout)
            return Exit.OK
        names = await _names(client, whole, file)
        if session().json:
            parts = {role: await _text(client, whole, name) for role, name in names.items()}
            output.as_json({"id": whole, "files": names, "content": parts})
            return Exit.OK
        for role, name in names.items():
            await _print(client, whole, name, sys.stderr if role == "stderr" else sys.stdout)
        return Exit.OK

    return with_client(work)


async def _names(client: BrokerClient, job: str, file: str) -> dict[str, str]:
    detail = await client.job(job)
    streams = {"stdout": detail.stdout, "stderr": detail.stderr if detail.stderr != detail.stdout else ""}
    if not file:
        chosen = {role: name for role, name in streams.items() if name}
        if not chosen:
            remedy = "Add StdOutput and StdError to the description."
            raise NotFound("The description names no file for its output.", place=job, remedy=remedy)
        return chosen
    if file in streams and not streams[file]:
        raise NotFound(f"The description names no file for {file}.", place=job)
    name = streams.get(file, file)
    if JobState(detail.row["state"]).ended and name not in [one.path for one in await client.files(job)]:
        raise NotFound(f"The job has ended and left no file {name!r}.", place=job)
    return {file: name}


async def _text(client: BrokerClient, job: str, name: str) -> str | None:
    try:
        part = await client.read_file(job, name, 0, 16 * _PART)
    except NotFound:
        return None
    return part.content.decode(errors="replace")


async def _print(client: BrokerClient, job: str, name: str, stream: TextIO) -> None:
    start = 0
    while True:
        try:
            part = await client.read_file(job, name, start, _PART)
        except NotFound:
            output.say(f"{name} does not exist (yet).", "dim")
            return
        if not part.content:
            return
        if stream.isatty():
            stream.write(terminal_safe(part.content.decode(errors="replace")))
        else:
            stream.buffer.write(part.content)
        stream.flush()
        start += len(part.content)
