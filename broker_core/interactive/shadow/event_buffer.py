"""What a session tells, in order: output by the rules of its agent, statuses, gaps; never too much."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

from broker_core.interactive.channel.contact import FlowSettings
from broker_core.interactive.shadow.session_events import ENDED, Event, OutputReceived, Status

FULL, EMPTY = 1 << 20, 256 * 1024
"""Bytes that wait to be shown before the agent has to wait, and when it may go on."""
MERGED = 256 * 1024
"""Bytes of output that are told at once, at most."""


class Flushing:
    """Holds output back until a rule lets it go; the caller keeps the clock."""

    def __init__(self, size: int = 4096, time_out: float = 0.2) -> None:
        self._size = size
        self.time_out = time_out
        """Seconds after which what is held is to be shown: a prompt has no end of line."""
        self._held = bytearray()

    def add(self, data: bytes) -> bytes:
        """Take output; returns what is to be shown now."""
        self._held += data
        if len(self._held) >= self._size:
            return self.flush()
        lines = self._held.rfind(b"\n") + 1
        shown = bytes(self._held[:lines])
        del self._held[:lines]
        return shown

    def flush(self) -> bytes:
        """All that is held."""
        shown = bytes(self._held)
        self._held.clear()
        return shown

    @property
    def size(self) -> int:
        """Bytes that wait for the time-out."""
        return len(self._held)


class EventBuffer:
    """Events on their way to who shows them; `listen` is told whether more output is wanted."""

    def __init__(self, listen: Callable[[bool], None]) -> None:
        self._manners = FlowSettings()
        self._listen = listen
        self._events: deque[Event] = deque()
        self._pending = 0
        self._news = asyncio.Event()
        self._closed = False
        self._flushing: dict[int, Flushing] = {}
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self._shown: dict[int, int] = {}

    def follow(self, manners: FlowSettings) -> None:
        """Show lines by these numbers, for streams of which nothing was shown yet."""
        self._manners = manners

    async def events(self) -> AsyncIterator[Event]:
        """Every event, until one says that the session has ended, or all were told and it is closed."""
        while True:
            while self._events:
                event = self._merged()
                yield event
                if isinstance(event, Status) and event.state in ENDED:
                    return
            if self._closed:
                return
            self._news.clear()
            await self._news.wait()

    def tell(self, event: Event) -> None:
        """Tell anything but output."""
        self._events.append(event)
        self._news.set()

    def output(self, stream: int, place: int, data: bytes, *, by_lines: bool) -> None:
        """Tell output that begins at `place`: at once, or by the rules of CB-BYP-06."""
        if not by_lines:
            self._show(stream, place, data)
            return
        flushing = self._flushing.setdefault(
            stream, Flushing(self._manners.flush_size, self._manners.flush_time)
        )
        begin = place - flushing.size
        self._show(stream, begin, flushing.add(data))
        self._shown[stream] = place + len(data) - flushing.size
        timer = self._timers.get(stream)
        if timer is not None and not flushing.size:
            self._timers.pop(stream).cancel()
        elif timer is None and flushing.size:
            loop = asyncio.get_running_loop()
            self._timers[stream] = loop.call_later(flushing.time_out, self._time_out, stream)

    def flush(self) -> None:
        """Tell all that is held back."""
        for stream in self._flushing:
            self._time_out(stream)

    def close(self) -> None:
        """Tell nothing more by time; who waits for more gets no more."""
        self._closed = True
        self._news.set()
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _time_out(self, stream: int) -> None:
        timer = self._timers.pop(stream, None)
        if timer is not None:
            timer.cancel()
        held = self._flushing[stream].flush()
        begin = self._shown.get(stream, 0)
        self._shown[stream] = begin + len(held)
        self._show(stream, begin, held)

    def _show(self, stream: int, place: int, data: bytes) -> None:
        if not data:
            return
        self.tell(OutputReceived(stream, place, data))
        self._pending += len(data)
        if self._pending > FULL:
            self._listen(False)

    def _merged(self) -> Event:
        """The next event; neighbouring output is joined."""
        event = self._events.popleft()
        if not isinstance(event, OutputReceived):
            return event
        parts, size = [event.data], len(event.data)
        while self._events and size < MERGED:
            following = self._events[0]
            if not isinstance(following, OutputReceived) or following.stream != event.stream:
                break
            parts.append(following.data)
            size += len(following.data)
            self._events.popleft()
        before, self._pending = self._pending, self._pending - size
        if before > EMPTY >= self._pending:
            self._listen(True)
        return event if len(parts) == 1 else replace(event, data=b"".join(parts))
