"""Files of attempts on their way from a site, and their removal there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from weakref import WeakValueDictionary

from broker_core.errors import NotFound
from broker_core.sites.adapter import SiteFailed
from broker_core.sites.batcher import Batcher
from broker_core.sites.contract import RunFile
from broker_core.sites.run_files import is_inside
from broker_core.sites.shell.exchanges import ShellExchanges
from broker_core.sites.shell.files import (
    FETCH_MANY,
    FETCH_REST,
    LIST,
    NO_FILE,
    REMOVE,
    Unpacking,
    Wanted,
    many_lines,
    read_files,
    writable,
)
from broker_core.sites.shell.workspace import words_of
from broker_core.worker.encoding import encode

_LINGER = 0.005
_FETCHES = 200
"""Attempts whose output one exchange brings."""


class ShellTransfers:
    """What ended at about the same time is brought by one exchange; what was begun is continued."""

    def __init__(self, site: str, exchanges: ShellExchanges) -> None:
        self._site, self._exchanges = site, exchanges
        self._fetching: Batcher[Wanted, None] = Batcher(
            self._fetch_many, linger=_LINGER, most=_FETCHES, at_once=2
        )
        self._turns: WeakValueDictionary[Path, asyncio.Lock] = WeakValueDictionary()
        """File here to the turn of those who bring it: what two bring at once would be there twice."""

    async def files(self, tag: str) -> list[RunFile]:
        """See `Adapter.files`; raises NotFound."""
        reply = await self._exchanges.run(lambda _: LIST, f"{tag}\n".encode())
        if reply.status == NO_FILE:
            raise NotFound("The job has no files at this site.", place=self._site)
        return read_files(reply.out)

    async def fetch(self, tag: str, names: Sequence[str], into: Path) -> None:
        """See `Adapter.fetch`; raises NotFound for a file that is continued and not there any more."""
        if not all(map(is_inside, names)):
            raise NotFound("The job has no such file.", place=self._site)
        async with AsyncExitStack() as turns:
            for place in sorted({into / name for name in names}):
                await turns.enter_async_context(self._turns.setdefault(place, asyncio.Lock()))
            begun = [name for name in names if _size(into / name)]
            for name in begun:
                await self._fetch_rest(tag, name, into / name)
            if fresh := tuple(name for name in names if name not in begun):
                await self._fetching.ask(Wanted(tag, fresh, into))

    async def remove(self, tags: Sequence[str]) -> None:
        """See `Adapter.remove`."""
        reply = await self._exchanges.run(lambda _: REMOVE, "".join(f"{tag}\n" for tag in tags).encode())
        if reply.status:
            raise SiteFailed(f"Not all could be removed: {words_of(reply.err)}.", place=self._site)

    async def close(self) -> None:
        """Give up what is under way."""
        await self._fetching.close()

    async def _fetch_rest(self, tag: str, name: str, place: Path) -> None:
        """Bring what a file has more than what is here."""
        line = f"{tag} {_size(place)} {encode(name)}\n".encode()
        with writable(place, append=True) as file:

            def write(piece: bytes) -> None:
                file.write(piece)

            status = await self._exchanges.stream(FETCH_REST, line, write)
        if status == NO_FILE:
            raise NotFound("The job has no such file.", place=self._site)

    async def _fetch_many(self, wanted: Sequence[Wanted]) -> Sequence[None]:
        unpacking = Unpacking(wanted)
        try:
            await self._exchanges.stream(FETCH_MANY, many_lines(wanted), unpacking.feed)
        finally:
            unpacking.close()
        return [None] * len(wanted)


def _size(place: Path) -> int:
    try:
        return place.lstat().st_size
    except OSError:
        return 0
