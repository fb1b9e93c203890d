"""Following the broker's events, without a gap (CB-LB-04)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from httpx_sse import EventSource, SSEError

from broker_core.client.answers import unchecked, value
from broker_core.client.transport import BrokerTransport
from broker_core.errors import Busy, CrossDeskError, Unreachable
from broker_core.wire.views import EventView, Update

Lost = Callable[[CrossDeskError], None]
"""Called with the reason when the stream breaks."""
Regained = Callable[[], None]
"""Called when it goes on."""

_PAUSES = (0.02, 0.1, 0.25, 0.5, 1.0)
_EVENTS_AT_ONCE = 250
"""Events of an update that are read at one stretch: a burst of thousands would keep a window waiting."""


async def follow(
    transport: BrokerTransport,
    after: int,
    *,
    lost: Lost | None = None,
    regained: Regained | None = None,
    events: bool = True,
) -> AsyncGenerator[Update]:
    """Yield updates after position `after`; when the stream breaks, go on after the last one seen. `events`:
    read the events too, not only the rows.

    Ends only by an error that trying again cannot mend, or by being closed: who leaves the loop early should
    use `contextlib.aclosing`, so that the connection is given back at once. Such an error is BrokerStopped,
    when the broker was told to stop: a broker that is away on purpose is not started again unasked.
    """
    position, tries = after, 0
    while True:
        try:
            async with aclosing(_stream(transport, position, regained if tries else None, events)) as stream:
                async for update in stream:
                    tries = 0
                    if update is not None:
                        position = update.position
                        yield update
            error: CrossDeskError = Unreachable("The broker closed the stream of events.")
        except (Unreachable, Busy) as broken:
            error = broken
        if transport.stopped is not None:
            raise transport.stopped
        if lost and not tries:
            lost(error)
        await asyncio.sleep(_PAUSES[min(tries, len(_PAUSES) - 1)])
        tries += 1
        await _recover(transport)


async def _recover(transport: BrokerTransport) -> None:
    try:
        await transport.recover()
    except Unreachable:
        return  # the next try tells; the pauses grow


async def _stream(
    transport: BrokerTransport, after: int, begun: Regained | None, with_events: bool
) -> AsyncGenerator[Update | None]:
    """Updates of one connection; a None first, as soon as the broker accepts the request."""
    headers = {"accept": "text/event-stream", "cache-control": "no-store"}
    async with transport.stream(
        "GET", "/events", query={"after": after}, headers=headers, patient=True
    ) as answer:
        if begun:
            begun()
        yield None
        try:
            async with aclosing(EventSource(answer).aiter_sse()) as events:
                async for event in events:
                    if event.event == "stopped":
                        transport.tell_stopped()
                    elif event.data:
                        yield await read_update(event.data, with_events=with_events)
        except SSEError as error:
            raise Unreachable(f"What answers is no stream of events: {error}") from error


async def read_update(data: str, *, with_events: bool) -> Update:
    """An update as it was sent; other work gets its turn between its events."""
    update = unchecked(Update, value(data.encode()))
    events, update.events = update.events if with_events else [], []
    for start in range(0, len(events), _EVENTS_AT_ONCE):
        update.events += [unchecked(EventView, one) for one in events[start : start + _EVENTS_AT_ONCE]]
        await asyncio.sleep(0)
    return update
