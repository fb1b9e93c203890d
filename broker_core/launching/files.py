"""The sandbox files that clients upload, each kept once under the hash of its content (CB-UAM-07)."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import re
import secrets
from collections.abc import AsyncIterable, Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from broker_core.errors import BadRequest, NotFound, StorageFull

_HASH = re.compile(r"[0-9a-f]{64}")
_FULL = (errno.ENOSPC, errno.EDQUOT)
_INLINE = 65_536
"""Bytes up to which writing is quicker than the way to a thread and back."""


class FileStore:
    """Content by SHA-256 below one directory; files are 0600, directories 0700.

    A file gets its name only when it is whole and its hash is right, so that a name is a promise:
    a broker killed while it receives leaves a part that the next one removes.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._parts = directory / "parts"
        self._parts.mkdir(mode=0o700, parents=True, exist_ok=True)
        for part in self._parts.iterdir():
            part.unlink()

    def path(self, sha256: str) -> Path:
        """Where content of this hash lies or would lie; raises BadRequest for what is no hash."""
        if not _HASH.fullmatch(sha256):
            raise BadRequest("This is not a SHA-256 in lower-case hexadecimal digits.", place=sha256[:80])
        return self._directory / sha256[:2] / sha256

    def has(self, sha256: str) -> bool:
        """True if the content is here."""
        return self.path(sha256).is_file()

    async def put(self, sha256: str, chunks: AsyncIterable[bytes], size_limit: int) -> int:
        """Receive content; returns its bytes. Raises BadRequest (too big, wrong hash) or StorageFull."""
        target = self.path(sha256)
        part = self._parts / f"{sha256}.{secrets.token_hex(8)}"
        try:
            with _new_file(part) as file:
                size, found = await _receive(chunks, file, size_limit)
            if found != sha256:
                raise BadRequest(
                    f"The content received has the SHA-256 {found}, not {sha256}.",
                    code="wrong_hash",
                    remedy="Send it again; the file may have changed while it was sent.",
                )
            target.parent.mkdir(mode=0o700, exist_ok=True)
            part.replace(target)
        except OSError as error:
            raise _told(error, self._directory) from error
        finally:
            part.unlink(missing_ok=True)
        return size

    def held(self) -> Iterator[str]:
        """The hashes of all content here."""
        for path in self._directory.glob("[0-9a-f][0-9a-f]/*"):
            if _HASH.fullmatch(path.name):
                yield path.name

    def release(self, unreferenced: Collection[str]) -> int:
        """Remove content that no job needs any more; returns the bytes freed."""
        freed = 0
        for sha256 in unreferenced:
            path = self.path(sha256)
            try:
                size = path.stat().st_size
                path.unlink()
            except FileNotFoundError:
                continue
            freed += size
        return freed

    def size(self, sha256: str) -> int:
        """Bytes of content; raises NotFound."""
        try:
            return self.path(sha256).stat().st_size
        except FileNotFoundError:
            raise NotFound("This content has not been uploaded.", place=sha256) from None


def _new_file(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


async def _receive(chunks: AsyncIterable[bytes], file: BinaryIO, limit: int) -> tuple[int, str]:
    """Write chunks, counting and hashing; big ones in a thread, so that others are served meanwhile."""
    digest, size = hashlib.sha256(), 0

    def take(chunk: bytes) -> None:
        digest.update(chunk)
        file.write(chunk)

    async for chunk in chunks:
        size += len(chunk)
        if size > limit:
            raise BadRequest(
                f"The file has more than the {limit:,} bytes that are accepted.",
                code="file_too_big",
                remedy="Fetch larger data from storage during the run.",
            )
        if len(chunk) > _INLINE:
            await asyncio.to_thread(take, chunk)
        else:
            take(chunk)
    return size, digest.hexdigest()


def _told(error: OSError, directory: Path) -> Exception:
    if error.errno in _FULL:
        return StorageFull(
            "The disk that holds the sandbox files is full; nothing was kept.",
            place=str(directory),
            remedy="Free some space and send the file again.",
        )
    return error
