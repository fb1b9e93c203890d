"""One script under way: its streams, its end, and its deadline, whichever way it travels."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

from broker_core.sites.transport.contract import Reply
from broker_core.sites.transport.exchange import Exchange, standstill

PIECE = 128 * 1024
"""Bytes that are handed to the way at a time."""
_LEFTOVER = 2.0
"""Seconds of silence after a script's end for which a process that it left may keep the streams open."""


class Pipe(Protocol):
    """Where a script's stdin goes."""

    def write(self, data: bytes) -> None:
        """Take a piece."""
        ...

    def is_closing(self) -> bool:
        """Nobody reads any more."""
        ...

    def write_eof(self) -> None:
        """There is no more."""
        ...


class _NobodyReads(Exception):
    """The input is of no use any more."""


class ScriptIO:
    """Gets what the way reports, and knows when the script is over."""

    def __init__(self, exchange: Exchange, deadline: float, *, renewed: bool) -> None:
        """`deadline`: seconds. `renewed`: it begins anew while bytes move."""
        self.exchange = exchange
        self.sent = False
        """The command may have reached the site."""
        self._deadline, self._renewed = deadline, renewed
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._limit = asyncio.timeout_at(self._began + deadline)
        self._status: int | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._leftover: asyncio.TimerHandle | None = None
        self._over: asyncio.Future[int | None] = self._loop.create_future()

    @property
    def limit(self) -> asyncio.Timeout:
        """The deadline as a context; raises TimeoutError."""
        return self._limit

    @property
    def status(self) -> int | None:
        """Exit status of the script's process; None while it is not known to have ended."""
        return self._status

    def received(self, data: bytes, *, is_error: bool) -> None:
        """A piece of output came."""
        if self._over.done():
            return
        try:
            (self.exchange.err if is_error else self.exchange.out)(data)
        except Exception as error:  # noqa: BLE001 - whatever the caller's `write` raises is the call's end
            self.failed(error)
            return
        self._moved()

    def exited(self, status: int) -> None:
        """The script's process ended; output may follow."""
        self._status = status
        self._await_leftover()

    def finished(self) -> None:
        """Nothing more will come."""
        if not self._over.done():
            self._over.set_result(self._status)
        self._settle()

    def failed(self, error: BaseException) -> None:
        """The call ends with an error."""
        if not self._over.done():
            self._over.set_exception(error)
        self._settle()

    def pause_writing(self) -> None:
        """The way takes no more for now."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """The way takes more."""
        self._writable.set()

    async def carry(self, pipe: Pipe, head: bytes, chunks: AsyncIterator[bytes]) -> Reply | None:
        """Feed the input and wait for the end; None where the way was lost before the script ended."""
        feeding = asyncio.create_task(self._feed(pipe, head, chunks))
        try:
            status = await self._over
        finally:
            self._settle()
            feeding.cancel()
            # Awaited itself it would take a cancel of this call for its own.
            await asyncio.wait((feeding,))
        return None if status is None else self.exchange.reply(status)

    async def _feed(self, pipe: Pipe, head: bytes, chunks: AsyncIterator[bytes]) -> None:
        try:
            await self._write(pipe, head)
            async for chunk in chunks:
                await self._write(pipe, chunk)
        except _NobodyReads:
            return  # the script ended without reading all, which is its own affair
        except Exception as error:  # noqa: BLE001 - the caller's source of bytes may raise anything
            self.failed(error)
            return
        if not pipe.is_closing():
            pipe.write_eof()

    async def _write(self, pipe: Pipe, chunk: bytes) -> None:
        for start in range(0, len(chunk), PIECE):
            await self._writable.wait()
            if pipe.is_closing() or self._over.done():
                raise _NobodyReads
            pipe.write(chunk[start : start + PIECE])
            self.exchange.moved += PIECE
            self._moved()

    def _moved(self) -> None:
        if self._status is not None:
            self._await_leftover()
        if self._renewed and not self._limit.expired():
            now = self._loop.time()
            self._limit.reschedule(standstill(self._began, now, self.exchange.moved, self._deadline))

    def _await_leftover(self) -> None:
        self._forget_leftover()
        self._leftover = self._loop.call_later(_LEFTOVER, self.finished)

    def _forget_leftover(self) -> None:
        if self._leftover is not None:
            self._leftover.cancel()
            self._leftover = None

    def _settle(self) -> None:
        self._forget_leftover()
        self._writable.set()


async def in_one_piece(data: bytes) -> AsyncIterator[bytes]:
    """Bytes in memory as a source of chunks."""
    if data:
        yield data
