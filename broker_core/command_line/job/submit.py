"""`crossdesk job submit`, and what waits for jobs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

from broker_core.client.client import BrokerClient
from broker_core.client.desk_settings import own_ports
from broker_core.client.prepare import Prepared, prepare
from broker_core.client.programs.describe import describe, how_it_runs, runnable_at, translation
from broker_core.client.programs.file_kind import Item, ItemKind
from broker_core.client.submit import new_key
from broker_core.command_line import diagnostics, output
from broker_core.command_line.exits import Exit, TimedOut
from broker_core.command_line.invocation import Json, Start, StateDir, session, with_client
from broker_core.command_line.jdl import require_possible
from broker_core.command_line.job.attach import Attached
from broker_core.command_line.job.folding import ALONE
from broker_core.command_line.job.following import (
    Row,
    failed,
    follow_jobs,
    until_ended,
    with_outcome,
)
from broker_core.command_line.job.forward_forms import wishes
from broker_core.command_line.job.ids import Site
from broker_core.command_line.job.progress import state_teller, tell_ends
from broker_core.command_line.output import messages
from broker_core.errors import BadRequest, DescriptionRefused, NotFound
from broker_core.jdl.collection import is_collection
from broker_core.jdl.limits import Limits
from broker_core.jdl.parametric import MARK, is_parametric, is_range, values_in_line
from broker_core.jobs.batch_names import BatchName
from broker_core.system.file_errors import unusable
from broker_core.wire.submission import Receipt


@dataclass(frozen=True, slots=True)
class SubmitRequest:
    """What a submission should do."""

    site: str = ""
    name: str = ""
    hold: str = ""
    key: str = ""
    values: tuple[str, ...] | None = None
    wait: bool = False
    follow: bool = False
    timeout: float | None = None
    arguments: str = ""
    """Of what is no description, but a script or program."""
    with_files: tuple[Path, ...] = ()
    """Sent along with those."""
    force: bool = False
    """Submit a batch script also without what is not possible here."""
    again: bool = False
    """The jobs repeat others in their places of a batch."""


def submit(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Descriptions (JDL), scripts, batch scripts, notebooks or programs; - reads a description.",
            metavar="FILE",
        ),
    ],
    wait: Annotated[bool, typer.Option("--wait", "-w", help="Wait until the jobs have ended.")] = False,
    follow: Annotated[
        bool,
        typer.Option(
            "--follow", "-f", help="Wait, and show the output as it comes; an interactive job: attach."
        ),
    ] = False,
    site: Site = "",
    name: Annotated[str, typer.Option("--name", "-n", help="Short name for the jobs.")] = "",
    value: Annotated[
        list[str] | None, typer.Option("--value", help="One job for each value of _PARAM_.")
    ] = None,
    values: Annotated[
        str,
        typer.Option(
            "--values", help="File with a value on each line, or 1-10, 20-100:5, red.", metavar="FILE|LIST"
        ),
    ] = "",
    hold: Annotated[str, typer.Option("--hold", help="Let the jobs wait on hold, for this reason.")] = "",
    key: Annotated[str, typer.Option("--key", help="Key of the submission; the same key submits once.")] = "",
    timeout: Annotated[float | None, typer.Option("--timeout", help="Timeout in seconds.")] = None,
    arguments: Annotated[
        str, typer.Option("--arguments", "-a", help="Arguments of the scripts and programs.")
    ] = "",
    with_files: Annotated[
        list[Path] | None, typer.Option("--with", help="A file to send along with them.")
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Submit batch scripts also without the lines that are not possible."),
    ] = False,
    start: Start = False,
    as_json: Json = False,
    state_dir: StateDir = None,
) -> int:
    """Submit jobs; prints their ids. A batch script (#SBATCH, #PBS, ...) runs at any site."""
    request = SubmitRequest(
        site=site,
        name=name,
        hold=hold,
        key=key,
        values=_values(value, values),
        wait=wait,
        follow=follow,
        timeout=timeout,
        arguments=arguments,
        with_files=tuple(one.absolute() for one in with_files or ()),
        force=force,
    )
    return with_client(lambda client: send(client, files, request))


def _values(given: list[str] | None, listed: str) -> tuple[str, ...] | None:
    """Values given one by one, and those of a file or a list; None if nothing is given."""
    if not given and not listed:
        return None
    return (*(given or ()), *_listed(listed))


def _listed(text: str) -> list[str]:
    file = Path(text)
    if text and not file.exists() and ("," in text or is_range(text)):
        try:
            return values_in_line(text)
        except ValueError as error:
            raise BadRequest(str(error), code="too_many_values", place=text) from error
    try:
        lines = file.read_text(encoding="utf-8").splitlines() if text else []
    except (OSError, UnicodeDecodeError) as error:
        raise unusable("The values cannot be read", file, error) from error
    return [line for line in lines if line.strip()]


async def send(client: BrokerClient, sources: Sequence[str], request: SubmitRequest) -> int:
    """Check, upload, submit, and wait if wished; returns the exit code."""
    info = await client.info()
    known = Limits()
    limits = Limits(
        info.limits.get("description_max", known.description_max),
        info.limits.get("input_sandbox_max", known.input_sandbox_max),
        info.dialect,
    )
    prepared = await _prepare_all(sources, limits, request)
    receipt = await _submit(client, prepared, request)
    print_warnings(prepared, receipt)
    await warn_of_site(client, request.site)
    name = _common_name(request, prepared)
    talk = len(receipt.ids) == 1 and _interactive(prepared[0])
    if not (request.wait or request.follow):
        print_receipt(receipt, name)
        if talk and not session().json:
            output.say(f"Talk to it: crossdesk job attach {receipt.ids[0]}")
        return Exit.OK
    if talk and request.follow and not session().json:
        return await _attach(client, receipt.ids[0], request.timeout)
    return await watch(client, receipt, request, name)


def _interactive(prepared: Prepared) -> bool:
    return prepared.description is not None and prepared.description.interactive


async def _attach(client: BrokerClient, job: str, timeout: float | None) -> int:
    """Connect this terminal with the job: what it writes comes here, and it may be waiting for input."""
    output.say(f"Attached to {job}; Ctrl-] leaves it running.")
    attached = Attached(client, job, own_ports(), watch=False, take=False)
    try:
        async with asyncio.timeout(timeout):
            return await attached.run(wishes(None, None, None), "")
    except TimeoutError:
        raise TimedOut from None


def print_warnings(prepared: Sequence[Prepared], receipt: Receipt) -> None:
    """What is worth a word, each with its file and line; of the broker's, what the check here did not say."""
    if session().json:
        return
    for one in prepared:
        diagnostics.show(messages(), one.diagnostics, one.origin, one.text)
    said = {item.message for one in prepared for item in one.diagnostics}
    for caution in receipt.warnings:
        if caution.message not in said:
            line = f"line {caution.line}: " if caution.line else ""
            output.say(f"{line}warning[{caution.code}]: {caution.message}", "yellow")


async def warn_of_site(client: BrokerClient, site: str) -> None:
    """Say that jobs may only go where nothing is known to be: they wait until it is."""
    if not site or session().json or site.lower() in [one.name for one in await client.sites()]:
        return
    try:
        await client.resource(site)
    except NotFound:
        output.say(f"No site is called {site}: it is waited for. `crossdesk site list` names all.", "yellow")


async def _prepare_all(sources: Sequence[str], limits: Limits, request: SubmitRequest) -> list[Prepared]:
    prepared = []
    for source in sources:
        item = runnable_at(Path(source)) if source != "-" else None
        if item is not None:
            text = _description_of(item, source, request)
            ready = await prepare(text, item.facts.path.parent, limits=limits, values=request.values)
            slips = tuple(one for one in ready.diagnostics if one.severity != "hint")
            ready = replace(ready, origin=source, diagnostics=slips)
        else:
            _refuse_words(source, request)
            written = sys.stdin.read() if source == "-" else Path(source)
            ready = await prepare(written, limits=limits, values=request.values)
        prepared.append(ready)
    if request.values is None:
        for one in prepared:
            _require_values(one)
    refused = [one for one in prepared if not one.ok]
    for one in [] if session().json else refused[:-1]:
        output.error(one.refused())
    if refused:
        raise _together(refused)
    return prepared


def _refuse_words(source: str, request: SubmitRequest) -> None:
    """Raise BadRequest for words and files that go with scripts, given with a description."""
    if source != "-" and (request.arguments or request.with_files):
        words = "A description has arguments and files of its own; --arguments and --with are for scripts."
        raise BadRequest(words, place=source)


def _description_of(item: Item, source: str, request: SubmitRequest) -> str:
    """The description that runs a program, script or notebook, after a word on how.

    Raises BadRequest for a batch script that asks for what is not possible, unless that is forced.
    """
    output.say(how_it_runs(item))
    if item.kind is not ItemKind.BATCH_SCRIPT:
        return describe(item, request.with_files, 1, request.arguments)
    found = translation(item, request.with_files, request.arguments)
    require_possible(found, source, force=request.force)
    return found.description


def _require_values(one: Prepared) -> None:
    """Raise BadRequest for a sweep without values: its one job would run with the mark itself."""
    found = one.description
    if found is None or (found.ad is not None and (is_parametric(found.ad) or is_collection(found.ad))):
        return
    written = (found.name, found.executable, found.arguments, found.stdin, found.stdout, *found.input_sandbox)
    if any(MARK in text for text in written):
        raise BadRequest(
            f"The description is a sweep: {MARK} stands for a value, and no values are given.",
            code="no_values",
            place=one.origin,
            remedy="Give them with --values 1-10, --values FILE or --value, or as Parameters.",
        )


def _together(refused: Sequence[Prepared]) -> DescriptionRefused:
    """The error for the last of them; as JSON it holds what is wrong with all."""
    last = refused[-1].refused()
    if session().json:
        return DescriptionRefused(
            last.message,
            tuple(one for part in refused for one in part.diagnostics),
            place=", ".join(part.origin for part in refused),
            remedy=last.remedy,
        )
    return last


async def _submit(client: BrokerClient, prepared: Sequence[Prepared], request: SubmitRequest) -> Receipt:
    with _upload_bar() as progress:
        task = progress.add_task("Sending files", total=None) if progress else None

        def step(done: int, total: int) -> None:
            if progress and task is not None:
                progress.update(task, completed=done, total=total)

        return await client.submit_prepared(
            prepared,
            key=request.key or new_key(),
            site=request.site,
            name=request.name,
            values=request.values,
            hold=request.hold,
            progress=step,
        )


def _upload_bar() -> AbstractContextManager[Progress | None]:
    if session().json or not sys.stderr.isatty():
        return nullcontext(None)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    return Progress(*columns, console=messages(), transient=True)


def print_receipt(receipt: Receipt, name: str = "", *, again: bool = False) -> None:
    """The ids of new jobs, or all of it as JSON; `name`: what their names have in common; `again`: they are
    reruns."""
    if session().json:
        output.as_json(receipt_value(receipt))
        return
    _print_ids(receipt, name, again)


def _common_name(request: SubmitRequest, prepared: Sequence[Prepared]) -> str:
    name = BatchName()
    for one in prepared:
        name.add(request.name or (one.description.name if one.description else ""), "")
    return name.common()


def _print_ids(receipt: Receipt, name: str, again: bool) -> None:
    """The ids for programs, and in one line what people want to know of many."""
    done, of_batch = ("run again", "in") if again else ("submitted", "as")
    if receipt.batch and len(receipt.ids) > ALONE and sys.stdout.isatty():
        output.line(f"{name or done.capitalize()}: {len(receipt.ids):,} jobs, batch {receipt.batch}")
        return
    for job in receipt.ids:
        output.line(job)
    sys.stdout.flush()
    if len(receipt.ids) > 1:
        batch = f" {of_batch} batch {receipt.batch}" if receipt.batch else ""
        output.say(f"{len(receipt.ids):,} jobs {done}{batch}.", "green")


def receipt_value(receipt: Receipt, rows: Sequence[Row] = ()) -> dict[str, Any]:
    """The stable JSON form of a submission; `id` is the first job's."""
    value: dict[str, Any] = {"id": receipt.ids[0], **receipt.model_dump()}
    if rows:
        value["jobs"] = [with_outcome(row) for row in rows]
    return value


async def watch(client: BrokerClient, receipt: Receipt, request: SubmitRequest, name: str = "") -> int:
    """Wait for new jobs and tell how they end; returns the exit code."""
    ids = receipt.ids
    if not session().json and not request.follow:
        _print_ids(receipt, name, request.again)
    try:
        if request.follow and not session().json:
            rows = await follow_jobs(client, ids, state_teller(len(ids)), request.timeout)
        else:
            rows = await until_ended(client, ids, timeout=request.timeout, changed=state_teller(len(ids)))
    except (TimedOut, asyncio.CancelledError):
        if session().json:
            output.as_json(receipt_value(receipt))
        output.say("The jobs go on; `crossdesk job status` shows them.")
        raise
    if session().json:
        output.as_json(receipt_value(receipt, rows))
    tell_ends(rows)
    return Exit.JOB_FAILED if failed(rows) else Exit.OK
