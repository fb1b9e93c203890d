"""The Job Starter and the input files of an attempt as one tar stream, of a size that is known beforehand."""

from __future__ import annotations

import asyncio
import os
import tarfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from broker_core.launching.cached_program import CachedProgram
from broker_core.sites.arc.description import JOB
from broker_core.sites.arc.launch_script import STARTER
from broker_core.sites.contract import InputFile
from broker_core.sites.staging import StagingFailed, check_name
from broker_core.worker.script import publish_files, publish_path, starter_path, use_path

_BLOCK = tarfile.BLOCKSIZE
_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Bundle:
    """What is to be sent, in order: a tar header and the file behind it (None: a folder)."""

    members: tuple[tuple[bytes, Path | None, int], ...]

    @property
    def size(self) -> int:
        """Bytes of the stream."""
        return sum(len(head) + _padded(size) for head, _, size in self.members) + 2 * _BLOCK

    async def chunks(self) -> AsyncIterator[bytes]:
        """The stream; raises StagingFailed where a file is no longer what it was."""
        for head, path, size in self.members:
            yield head
            if path is None:
                continue
            try:
                async for piece in _content(path, size):
                    yield piece
            except OSError as error:
                raise _unreadable(path, error) from error
            yield bytes(_padded(size) - size)
        yield bytes(2 * _BLOCK)


def bundle(
    inputs: Sequence[InputFile], programs: Sequence[CachedProgram] = (), scripts: Sequence[Path] = ()
) -> Bundle:
    """The bundle of an attempt; A-REX keeps no file that is sent to it, so programs travel each time.

    `scripts`: what the job needs of `worker/scripts`.
    Raises StagingFailed for an input that cannot be sent."""
    folder = tarfile.TarInfo(JOB.rstrip("/"))
    folder.type, folder.mode = tarfile.DIRTYPE, 0o700
    starter = starter_path()
    members: list[tuple[bytes, Path | None, int]] = [(_head(folder), None, 0)]
    members.append(_member(STARTER, starter, 0o700))
    members.append(_member(use_path().name, use_path(), 0o600))
    members += [_member(one.name, one, 0o600) for one in scripts]
    members += [_member(f"{publish_path().name}/{one.name}", one, 0o700) for one in publish_files()]
    members += [_member(one.name, one.path, 0o700) for one in programs]
    for file in inputs:
        check_name(file.name)
        members.append(_member(JOB + file.name, file.path, 0o700 if file.executable else 0o600))
    return Bundle(tuple(members))


def _member(name: str, path: Path, mode: int) -> tuple[bytes, Path, int]:
    info = tarfile.TarInfo(name)
    try:
        found = os.stat(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    info.size, info.mtime, info.mode = found.st_size, int(found.st_mtime), mode
    return _head(info), path, info.size


def _head(info: tarfile.TarInfo) -> bytes:
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


async def _content(path: Path, size: int) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while size:
            chunk = await asyncio.to_thread(file.read, min(size, _AT_ONCE))
            if not chunk:
                raise StagingFailed(f"The input file {path.name} became shorter while it was sent.")
            size -= len(chunk)
            yield chunk


def _unreadable(path: Path, error: OSError) -> StagingFailed:
    return StagingFailed(f"The input file {path.name} cannot be read: {error.strerror}. Submit again.")
