"""One script under way, without a way under it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from broker_core.sites.transport.exchange import Exchange
from broker_core.sites.transport.script_io import ScriptIO


class _Pipe:
    """Takes all."""

    def write(self, data: bytes) -> None:
        pass

    def is_closing(self) -> bool:
        return False

    def write_eof(self) -> None:
        pass


async def test_a_cancel_that_comes_while_the_input_is_given_up_is_not_lost() -> None:
    begun, giving_up, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow_to_end() -> AsyncIterator[bytes]:
        yield b"x"
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            giving_up.set()
            await go_on.wait()

    exchange = Exchange(b"mark ")
    traffic = ScriptIO(exchange, 600.0, renewed=False)
    call = asyncio.create_task(traffic.carry(_Pipe(), b"", slow_to_end()))
    await begun.wait()
    exchange.out(b"mark 1\n")
    traffic.exited(0)
    traffic.finished()
    await giving_up.wait()
    call.cancel()
    go_on.set()
    await asyncio.gather(call, return_exceptions=True)
    assert call.cancelled()
