"""A job's description to be changed: in a folder of its own, with the files that the job was sent with."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from app.context import Notice, Tone
from broker_core.client.fetch import fetch_inputs, folder_name, new_folder
from broker_core.errors import CrossDeskError
from broker_core.jdl.changes import text_of_value
from broker_core.jdl.names import from_base, scheme
from broker_core.jdl.syntax.edit import set_attribute
from broker_core.jdl.syntax.parse import parse
from broker_core.jdl.syntax.tokens import quoted
from broker_core.jdl.syntax.tree import Ad, ListOf, Literal
from broker_core.system.paths import places

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.views import JobDetail


async def open_copy(context: AppContext, job: str) -> None:
    """Open an editor with the description of a job; of a sweep with the value of this one."""
    text, path = await copied(context, job)
    context.open_editor(text, path)


async def copied(context: AppContext, job: str) -> tuple[str, Path | None]:
    """The description of a job, and its file in a folder of its own beside the files that it was sent with.

    None for the file where there are no files, or where they cannot be had any more, which is told.
    """
    detail = await context.client.job(job)
    parameter = str(detail.row["parameter"])
    text = text_of_value(detail.description, parameter) if parameter else detail.description
    if not detail.files:
        return text, None
    try:
        folder = await _with_files(context, detail)
        copy = with_inputs(text, [file.name for file in detail.files])
        path = folder / f"{folder.name}.jdl"
        await asyncio.to_thread(path.write_text, copy, "utf-8")
    except (CrossDeskError, OSError) as error:
        why = f"{error.strerror}." if isinstance(error, OSError) else error.message
        context.notify(Notice(f"{why} The files of the job have to be added again.", Tone.WARNING))
        return text, None
    return copy, path


async def _with_files(context: AppContext, detail: JobDetail) -> Path:
    copies = places(context.state_dir).state / "copies"
    folder = await asyncio.to_thread(new_folder, copies, folder_name(detail))
    task = asyncio.current_task()
    transfer = context.transfers.begin(f"Files of {detail.row['name']}", task.cancel if task else None)
    outcome = "stopped"
    try:
        await fetch_inputs(context.client, detail, folder, transfer.advance)
        outcome = f"saved in {folder}"
    except (CrossDeskError, OSError) as error:
        outcome = str(error)
        raise
    finally:
        transfer.end(outcome)
    return folder


def with_inputs(text: str, names: Iterable[str]) -> str:
    """The description with these files beside it as its InputSandbox; addresses in it stay."""
    ad = parse(text).ad or Ad()
    written, base = ad.get("InputSandbox"), ad.get("InputSandboxBaseURI")
    start = base.value if isinstance(base, Literal) and isinstance(base.value, str) else ""
    items = written.items if isinstance(written, ListOf) else [written]
    entries = [str(one.value) for one in items if isinstance(one, Literal)]
    remote = [one for one in entries if scheme(from_base(one, start)) not in ("", "file")]
    listed = ", ".join(quoted(one) for one in [*names, *remote])
    return set_attribute(text, "InputSandbox", "{" + listed + "}")
