"""One session with an interactive job, in a thread with a loop of its own: the window never waits for it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.console import threads
from app.console.forwards.entry import Where
from broker_core.client.desk_settings import own_ports
from broker_core.client.interactive import (
    ENDED,
    ForwardView,
    OutputReceived,
    SessionOptions,
    ShadowSession,
    Status,
    open_session,
)
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from broker_core.client.client import BrokerClient

log = logging.getLogger(__name__)
AHEAD = 4 << 20
"""Bytes that may be on their way to the screen; beyond that the program has to wait."""
_PIECE = 64 * 1024
_PAUSE = 0.05
"""Seconds until a session that is full is asked again."""
Connect = Callable[[], Awaitable["BrokerClient"]]


class ConsoleChannel(QObject):
    """Output, status and words of a session as signals; commands from any thread."""

    output = Signal(int, bytes, bool)
    """Stream, bytes, and whether a desk had them before. Whoever shows them says so with `taken`."""
    status = Signal(object)
    """A `Status`."""
    lost = Signal(int, int)
    """Stream and bytes that the node did not keep."""
    failed = Signal(str)
    """The session could not be had: why, in words."""
    unforwarded = Signal(str)
    """A forward could not be made: why, in words."""
    addressed = Signal(str)
    """Address of a service that is to be opened: a secret, for the browser alone."""
    unopened = Signal(str)
    """A service could not be opened: why, in words."""
    over = Signal()
    """Nothing follows."""

    def __init__(self, connect: Connect, job: str, columns: int, rows: int, *, attached: bool = True) -> None:
        """`attached`: show the job's program; else only what is beside it."""
        super().__init__()
        self._connect, self._job = connect, job
        self._options = SessionOptions(attached=attached, columns=columns, rows=rows)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._session: ShadowSession | None = None
        self._stop: asyncio.Event | None = None
        self._room: asyncio.Event | None = None
        self._ahead = 0
        self._typed = bytearray()
        self._pouring: asyncio.TimerHandle | None = None
        self._early: list[Callable[[ShadowSession], Any]] = []
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._live, name=f"console of {job}", daemon=True)

    def start(self) -> None:
        """Begin."""
        threads.start(self._thread, self)

    def keep(self, one: QObject) -> None:
        """Keep what commands to this session use as long as its thread lives."""
        threads.keep(self._thread, one)

    def close(self) -> None:
        """Detach, without waiting for it: the program goes on."""
        with self._lock:
            if not self._closed and self._loop is not None and self._stop is not None:
                self._loop.call_soon_threadsafe(self._stop.set)
            self._closed = True

    def write(self, data: bytes) -> None:
        """Type; what the session has no room for yet follows when it has."""
        self.do(lambda session: self._type(session, data))

    def resize(self, columns: int, rows: int) -> None:
        """The terminal has another size in cells."""
        self.do(lambda session: session.resize(columns, rows))

    def taken(self, size: int) -> None:
        """So many bytes of output are shown."""
        with self._lock:
            if self._loop is None or self._closed:
                return
            self._loop.call_soon_threadsafe(self._took, size)

    def forward(self, kind: str, listen: Where, target: Where) -> None:
        """Have a port or socket lead to the other side; `kind` is `local`, `remote` or `dynamic`."""
        self.do(lambda session: self._forward(session, kind, listen, target))

    def unforward(self, shown: ForwardView) -> None:
        """Remove a forward with its connections."""
        self.do(lambda session: self._unforward(session, shown))

    def open_service(self, name: str) -> None:
        """Have the address of a service told by `addressed`."""
        self.do(lambda session: self._address(session, name))

    def _type(self, session: ShadowSession, data: bytes) -> None:
        self._typed += data
        if self._pouring is None:
            self._pour(session)

    def _pour(self, session: ShadowSession) -> None:
        self._pouring = None
        while self._typed:
            piece = bytes(self._typed[:_PIECE])
            if session.write(piece):
                del self._typed[: len(piece)]
            elif session.status.writer and session.status.state not in ENDED:
                self._pouring = asyncio.get_running_loop().call_later(_PAUSE, self._pour, session)
                return
            else:
                self._typed.clear()

    async def _forward(self, session: ShadowSession, kind: str, listen: Where, target: Where) -> None:
        try:
            if kind == "dynamic":
                await session.forwards.dynamic(listen)
            elif kind == "remote":
                await session.forwards.remote(listen, target)
            else:
                await session.forwards.local(listen, target)
        except CrossDeskError as error:
            self.unforwarded.emit(str(error))

    async def _address(self, session: ShadowSession, name: str) -> None:
        try:
            self.addressed.emit(await session.forwards.services.address(name))
        except CrossDeskError as error:
            self.unopened.emit(str(error))

    async def _unforward(self, session: ShadowSession, shown: ForwardView) -> None:
        forward = session.forwards.find(shown)
        if forward is not None:
            await session.forwards.remove(forward)

    def do(self, act: Callable[[ShadowSession], Any]) -> None:
        """Have something done with the session, as soon as there is one."""
        with self._lock:
            if self._closed:
                return
            if self._loop is None or self._session is None:
                self._early.append(act)
            else:
                self._loop.call_soon_threadsafe(self._done, act)

    def _done(self, act: Callable[[ShadowSession], Any]) -> None:
        assert self._session is not None
        made = act(self._session)
        if asyncio.iscoroutine(made):
            task = asyncio.ensure_future(self._told(made))
            task.add_done_callback(lambda _: None)

    async def _told(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            await work
        except CrossDeskError as error:
            self.failed.emit(str(error))

    def _live(self) -> None:
        try:
            asyncio.run(self._run())
        except CrossDeskError as error:
            self.failed.emit(str(error))
        except Exception:  # whatever it is, the pane must tell that nothing follows
            log.exception("The console of %s", self._job)
            self.failed.emit("Something went wrong in the console; the window's log has the details.")
        finally:
            self.over.emit()
            threads.end()

    async def _run(self) -> None:
        stop, self._room = asyncio.Event(), asyncio.Event()
        self._room.set()
        async with await self._connect() as client:
            options = replace(self._options, direct_ports=own_ports())
            session = await open_session(client, self._job, options)
            try:
                self._ready(session, stop)
                await self._until_over(session, stop)
            finally:
                with self._lock:
                    self._closed = True
                await session.close()

    def _ready(self, session: ShadowSession, stop: asyncio.Event) -> None:
        with self._lock:
            self._loop, self._session, self._stop = asyncio.get_running_loop(), session, stop
            early, self._early = self._early, []
            if self._closed:
                stop.set()
        for act in early:
            self._done(act)

    async def _until_over(self, session: ShadowSession, stop: asyncio.Event) -> None:
        reading = asyncio.ensure_future(self._read(session))
        stopping = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait((reading, stopping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            reading.cancel()
            results = await asyncio.gather(reading, stopping, return_exceptions=True)
        if isinstance(results[0], Exception):
            raise results[0]

    async def _read(self, session: ShadowSession) -> None:
        async for event in session.events():
            if isinstance(event, OutputReceived):
                await self._show(event, session.seen.get(event.stream, 0))
            elif isinstance(event, Status):
                self.status.emit(event)
                if event.state in ENDED:
                    return
            else:
                self.lost.emit(event.stream, event.end - event.start)

    async def _show(self, event: OutputReceived, seen: int) -> None:
        """Give output to the screen as soon as there is room; what was seen before apart from the rest."""
        await self._room_for(len(event.data))
        known = max(0, seen - event.offset)
        for past, data in ((True, event.data[:known]), (False, event.data[known:])):
            if data:
                self.output.emit(event.stream, data, past)

    async def _room_for(self, size: int) -> None:
        """Wait until the screen has read most of what it was given."""
        assert self._room is not None
        await self._room.wait()
        self._ahead += size
        if self._ahead > AHEAD:
            self._room.clear()

    def _took(self, size: int) -> None:
        assert self._room is not None
        self._ahead = max(0, self._ahead - size)
        if self._ahead <= AHEAD // 4:
            self._room.set()
