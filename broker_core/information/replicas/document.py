"""The embedded replica catalogue: a document that people can read and the broker edits."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

from broker_core.errors import BadRequest, NotFound
from broker_core.information.replicas.contract import checked, replica
from broker_core.information.updater import SourceFailed
from broker_core.resources.closeness import Replica

LARGEST = 200_000_000
"""Bytes of the document."""
_State = tuple[int, int, int]


class DocumentCatalog:
    """One JSON object: name of a file to the addresses of its copies.

    Read again when another program has changed it. Changes replace the document at once or not at all.
    """

    def __init__(self, path: Path) -> None:
        """The document need not exist: then no file is known."""
        self._path = path
        self._files: dict[str, tuple[str, ...]] = {}
        self._seen: _State | None = None
        self._turn = asyncio.Lock()

    async def locations(self, names: Sequence[str]) -> Mapping[str, Replica]:
        """The files that the document names; raises SourceFailed if it cannot be read."""
        wanted = checked(names)
        async with self._turn:
            await self._read()
            return {name: replica(name, self._files[name]) for name in wanted if name in self._files}

    async def listed(self, start: str = "", limit: int = 1000) -> dict[str, tuple[str, ...]]:
        """At most `limit` files whose names begin with `start`, with the addresses of their copies."""
        async with self._turn:
            await self._read()
            names = sorted(name for name in self._files if name.startswith(start))[:limit]
            return {name: self._files[name] for name in names}

    async def put(self, name: str, addresses: Sequence[str]) -> None:
        """Say where a file is; replaces what was said before."""
        (name,) = checked([name])
        if not addresses or any(not one.strip() for one in addresses):
            raise BadRequest(
                "A file needs the address of a copy.",
                place=name,
                remedy="Name a storage element, or protocol://host/path.",
            )
        async with self._turn:
            await self._read()
            await self._write(self._files | {name: tuple(dict.fromkeys(addresses))})

    async def remove(self, name: str) -> None:
        """Forget a file; raises NotFound."""
        async with self._turn:
            await self._read()
            if name not in self._files:
                raise NotFound("The catalogue does not know this file.", place=name)
            await self._write({key: value for key, value in self._files.items() if key != name})

    async def close(self) -> None:
        """Nothing is held open."""

    async def _read(self) -> None:
        state = self._state()
        if state == self._seen:
            return
        files = await asyncio.to_thread(_load, self._path) if state is not None else {}
        self._files, self._seen = files, state

    async def _write(self, files: dict[str, tuple[str, ...]]) -> None:
        await asyncio.to_thread(_store, self._path, files)
        self._files, self._seen = files, self._state()

    def _state(self) -> _State | None:
        try:
            found = os.stat(self._path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unusable(self._path, error) from error
        return found.st_mtime_ns, found.st_size, found.st_ino


def _load(path: Path) -> dict[str, tuple[str, ...]]:
    try:
        if path.stat().st_size > LARGEST:
            raise ValueError(f"it has more than {LARGEST:,} bytes")
        document = orjson.loads(path.read_bytes())
        if not isinstance(document, dict):
            raise ValueError("it is no object of names and addresses")
        return {name: _addresses(name, said) for name, said in document.items()}
    except (OSError, ValueError) as error:
        raise _unusable(path, error) from error


def _addresses(name: str, said: object) -> tuple[str, ...]:
    found = [said] if isinstance(said, str) else said
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError(f"{name} has no list of addresses")
    return tuple(found)


def _store(path: Path, files: Mapping[str, Sequence[str]]) -> None:
    fresh = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with fresh.open("wb") as stream:
            stream.write(orjson.dumps(files, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
            stream.flush()
            os.fsync(stream.fileno())
        fresh.replace(path)
    except OSError as error:
        raise _unusable(path, error) from error


def _unusable(path: Path, error: Exception) -> SourceFailed:
    why = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    return SourceFailed(
        f"The replica catalogue cannot be used: {why}.",
        place=str(path),
        remedy="Correct the document, or remove it to begin with an empty one.",
    )
