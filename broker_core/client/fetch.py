"""Bringing the output of a job home (CB-CMD-04)."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from broker_core.client.client import BrokerClient
from broker_core.errors import Conflict, CrossDeskError, NotFound
from broker_core.jdl.names import ALL_NEW, is_listed
from broker_core.jobs.states import JobState
from broker_core.wire.views import JobDetail, OutputFile

_TRIES = 10_000


@dataclass(frozen=True, slots=True)
class Fetch:
    """What was brought home."""

    job: str
    directory: Path
    """The new folder that holds it."""
    files: tuple[Path, ...]
    missing: tuple[str, ...]
    """Entries of OutputSandbox that the job did not make."""
    refused: tuple[str, ...]
    """Names that would have been written outside of the folder."""
    size: int
    """Bytes in all."""
    failed: tuple[str, ...] = ()
    """Files that could not be saved, each with the reason, as `name: reason`."""


class UnsafeName(CrossDeskError):
    """A file of a job has a name that leads out of the folder it is saved to."""

    code = "unsafe_name"
    status = 422


async def fetch_output(
    client: BrokerClient,
    job: str,
    directory: Path | str,
    progress: Callable[[int, int], None] | None = None,
) -> Fetch:
    """Save every output file of an ended job into a new folder below `directory`.

    The folder is named after the job; where that name exists a number is added, nothing is ever overwritten.
    A Done job becomes Cleared, unless something was missing or could not be saved; one bad file never keeps
    the others back. `progress` gets bytes saved and bytes in all. Raises Conflict if the job has not ended.
    Where it is cut off, what was saved whole stays, and the job stays as it was.
    """
    detail = await client.job(job)
    state = JobState(detail.row["state"])
    if not state.ended:
        raise Conflict(
            f"The job is {state}; its output can be fetched when it has ended.",
            place=job,
            code="not_ended",
            remedy="`crossdesk job log` shows what it has written so far.",
        )
    files = [one for one in await client.files(job) if _delivered(one, detail)]
    target = await asyncio.to_thread(new_folder, Path(directory), folder_name(detail))
    try:
        done = await _save_all(client, job, files, target, progress)
    except BaseException:
        await asyncio.to_thread(_remove_empty, target)
        raise
    missing = tuple(entry for entry in detail.output_sandbox if not _present(entry, files))
    if state is JobState.DONE and not done.failed:
        await client.fetched(job, missing)
    return replace(done, missing=missing)


async def _save_all(
    client: BrokerClient,
    job: str,
    files: list[OutputFile],
    target: Path,
    progress: Callable[[int, int], None] | None,
) -> Fetch:
    total = sum(one.size for one in files)
    done = 0
    saved, refused, failed = [], [], []
    for one in files:
        try:
            path = below(target, one.path)
            async for count in _save(client.stream_file(job, one.path), path):
                done += count
                if progress:
                    progress(min(done, total), total)
        except UnsafeName:
            refused.append(one.path)
        except NotFound as error:
            failed.append(f"{one.path!r}: {error.message}")
        except OSError as error:
            failed.append(f"{one.path!r}: {error.strerror}.")
        else:
            saved.append(path)
    return Fetch(job, target, tuple(saved), (), tuple(refused), done, tuple(failed))


async def save_file(client: BrokerClient, job: str, path: str, target: Path) -> int:
    """Save one file of a job as `target`, which must not exist; returns its size in bytes."""
    size = 0
    async for count in _save(client.stream_file(job, path), target):
        size += count
    return size


async def fetch_inputs(
    client: BrokerClient,
    detail: JobDetail,
    folder: Path,
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Save what a job was sent with into `folder`, which must not have files of these names.

    Raises NotFound for what the broker has no longer, and OSError.
    """
    total, done = sum(one.size for one in detail.files), 0
    for one in detail.files:
        path = below(folder, one.name)
        async for count in _save(client.stream_input(detail.row["id"], one.name), path):
            done += count
            if progress:
                progress(min(done, total), total)
        if one.executable:
            path.chmod(path.stat().st_mode | 0o100)


def below(folder: Path, name: str) -> Path:
    """The path of a job's file inside `folder`; raises UnsafeName if it would lie elsewhere."""
    parts = PurePosixPath(name).parts
    unsafe = not parts or name.startswith("/") or ".." in parts or "\0" in name
    if unsafe or (os.name == "nt" and re.search(r'[<>:"\\|?*]', name)):
        raise UnsafeName("This name leads out of the folder that output is saved to.", place=repr(name))
    return folder.joinpath(*parts)


async def _save(content: AsyncIterator[bytes], path: Path) -> AsyncIterator[int]:
    await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
    # At most 160 bytes of the name, because 255 is all that a file system takes.
    part = path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as stream:
            async for piece in content:
                await asyncio.to_thread(stream.write, piece)
                yield len(piece)
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)


def _remove_empty(folder: Path) -> None:
    """Remove what has no files of a folder, and the folder itself if nothing is left."""
    for path, _, _ in os.walk(folder, topdown=False):
        with suppress(OSError):  # it is not empty
            os.rmdir(path)


def folder_name(detail: JobDetail) -> str:
    """Name of a folder for the files of a job."""
    return named_folder(str(detail.row["name"]), str(detail.row.get("parameter") or ""), detail.row["id"])


def named_folder(name: str, value: str, identifier: str) -> str:
    """Name of a folder for a job or batch: its name, the value of its parameter, the beginning of its id."""
    in_name = re.search(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", name)
    words = name if in_name else f"{name}-{value}"
    plain = re.sub(r"[^\w.+-]+", "_", words).strip("._-")[:60]
    return f"{plain or 'job'}-{identifier[:8]}"


def new_folder(directory: Path, name: str) -> Path:
    """A new folder of this name, or of one with a number added; raises CrossDeskError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for number in range(_TRIES):
            target = directory / (f"{name}.{number}" if number else name)
            try:
                target.mkdir()
            except FileExistsError:
                continue
            return target
    except OSError as error:
        raise CrossDeskError(
            f"The files cannot be saved: {error.strerror}.",
            place=str(directory),
            remedy="Choose a folder that you may write to; --dir names one.",
            code="cannot_save",
        ) from error
    raise CrossDeskError(f"There are {_TRIES} folders of this name already.", place=str(directory / name))


def _delivered(file: OutputFile, detail: JobDetail) -> bool:
    """What OutputSandbox lists; and what the job wrote to its streams, even if they are not listed."""
    if file.role in ("stdout", "stderr"):
        return file.size > 0 or any(is_listed(file.path, entry) for entry in detail.output_sandbox)
    return file.role == "output"


def _present(entry: str, files: list[OutputFile]) -> bool:
    return entry == ALL_NEW or any(is_listed(one.path, entry) for one in files)
