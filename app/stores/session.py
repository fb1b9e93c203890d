"""The conversation with the broker: start it, load the rows, follow the events, over and over."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.stores.jobs import Columns, JobStore
from app.stores.link import BrokerLink, ConnectionState
from app.stores.slices import breathe
from broker_core.errors import BrokerStopped, CrossDeskError, Unreachable

if TYPE_CHECKING:
    from broker_core.client.client import BrokerClient
    from broker_core.wire.views import BrokerInfo, EventView, JobsPage

log = logging.getLogger(__name__)
FIRST, PAGE = 200, 1750
"""Rows of the first page, and of the others: one page must be taken in and shown well within 30 ms."""
_MERGED = 250
"""Rows of an update that are taken in at one stretch."""
_PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)
_LOOK = 1.0
"""Seconds between two looks for a broker that somebody else started."""
_CHECK, _SILENCE = 2.0, 4.0
"""Seconds between two questions whether the broker answers, and after which it counts as silent."""
_LAST_STEP, _LAST_STEPS = 0.05, 200
"""Seconds between two looks whether a stopped broker has gone, and how many of them."""


class NoBroker:
    """Stands for the client until there is one: every call says that the broker is not reached."""

    def __getattr__(self, name: str) -> Any:
        async def refuse(*words: Any, **options: Any) -> Any:
            raise Unreachable("The broker is not connected yet.", remedy="Wait a moment and try again.")

        return refuse


class BrokerSession:
    """Keeps `client`, `rows` and `link` true. `run` is one task of the window and ends with it."""

    def __init__(self, state_dir: Path | None, rows: JobStore, link: BrokerLink) -> None:
        self.client: BrokerClient = NoBroker()  # type: ignore[assignment]
        self.info: BrokerInfo | None = None
        self._position = 0
        self._state_dir, self._rows, self._link = state_dir, rows, link
        self._again = asyncio.Event()
        self._asked: set[asyncio.Task[JobsPage]] = set()
        self.on_events: list[Callable[[list[EventView]], None]] = []
        """Called with the events of each update."""
        self.on_topics: list[Callable[[int, int, int, int], None]] = []
        """Called with the numbers of resources, scheduler, sites and slots of each update."""
        self.on_connected: list[Callable[[], None]] = []

    def retry(self) -> None:
        """Try at once instead of waiting for the pause to pass."""
        self._again.set()

    async def run(self) -> None:
        """Connect and follow until cancelled."""
        failures = 0
        while True:
            try:
                await self._connect()
                failures = 0
                await self._live_watched()
            except BrokerStopped:
                self._link.set(ConnectionState.STOPPED, "The broker was stopped; jobs that run go on.")
            except CrossDeskError as error:
                self._link.set(ConnectionState.UNREACHABLE, str(error))
            except Exception:  # whatever it is, the desktop must find its broker again
                log.exception("Talking to the broker")
                trouble = "Something went wrong in the window; its log has the details."
                self._link.set(ConnectionState.UNREACHABLE, trouble)
            finally:
                await self._leave()
            if self._link.state is ConnectionState.STOPPED:
                await self._stopped()
                continue
            await self._pause(_PAUSES[min(failures, len(_PAUSES) - 1)])
            failures += 1

    async def _pause(self, seconds: float) -> None:
        self._again.clear()
        if await self._asked_within(seconds):
            self._link.set(ConnectionState.STARTING, "Starting the broker")

    async def _stopped(self) -> None:
        """Wait until the user wants a broker, or somebody else started one."""
        from broker_core.client.start import answers
        from broker_core.system.paths import places

        self._again.clear()
        where = places(self._state_dir)
        for _ in range(_LAST_STEPS):
            if not where.socket.exists() and not where.holder.exists():
                break
            await asyncio.sleep(_LAST_STEP)
        while not await self._asked_within(_LOOK):
            if where.socket.exists() and await asyncio.to_thread(answers, self._state_dir):
                break
        self._link.set(ConnectionState.STARTING, "Starting the broker")

    async def _asked_within(self, seconds: float) -> bool:
        """True if `retry` was called."""
        try:
            async with asyncio.timeout(seconds):
                await self._again.wait()
        except TimeoutError:
            return False
        return True

    async def _connect(self) -> None:
        module = await asyncio.to_thread(import_module, "broker_core.client.connect")
        client = await module.connect(self._state_dir)
        await self._greet(client)
        self.client = client
        self._regained()

    async def _greet(self, client: BrokerClient) -> None:
        info = self.info = await client.info()
        self._link.broker = f"{info.mode} broker {info.version}"
        self._link.user = info.user
        self._link.dialect = info.dialect

    async def _leave(self) -> None:
        client, self.client = self.client, NoBroker()  # type: ignore[assignment]
        await client.aclose() if not isinstance(client, NoBroker) else None

    async def _live_watched(self) -> None:
        watching = asyncio.create_task(self._watch(), name="watching whether the broker answers")
        try:
            await self._live()
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)

    async def _watch(self) -> None:
        """Tell within seconds that the broker hangs, which no connection shows, and then that it goes on."""
        while True:
            await asyncio.sleep(_CHECK)
            asked = asyncio.create_task(self.client.alive())
            try:
                done, _ = await asyncio.wait({asked}, timeout=_SILENCE)
                if not done:
                    since = time.strftime("%H:%M:%S", time.localtime(self._link.last_answer))
                    self._link.set(ConnectionState.SILENT, f"Nothing was heard of it since {since}.")
                await asked
            except CrossDeskError:
                continue  # a broker that is gone is told by the stream of events
            finally:
                asked.cancel()
            self._link.last_answer = time.time()
            if self._link.state is ConnectionState.SILENT:
                self._regained()

    async def _live(self) -> None:
        if self._rows.complete and self.info is not None and self._position <= self.info.position:
            await self._follow()  # the rows are right up to there, whichever broker told them
            return
        self._rows.clear()
        page = await self.client.jobs_page(limit=FIRST)
        self._rows.expected = page.total
        self._rows.merge(page.columns)
        self._rows.flush()
        loading = asyncio.create_task(self._load(page.next))
        try:
            self._position = page.position
            await self._follow()
        finally:
            pending = [loading, *self._asked]
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)

    async def _load(self, cursor: str) -> None:
        """Merge the pages after the first; a broken connection is tried again where it broke."""
        asked = self._ask(cursor) if cursor else None
        while asked is not None:
            page = await asked
            asked = self._ask(page.next) if page.next else None
            await asyncio.sleep(0)
            self._rows.merge(page.columns)
            await asyncio.sleep(0)
            self._rows.flush()
            await asyncio.sleep(0)
        self._rows.finish()

    def _ask(self, cursor: str) -> asyncio.Task[JobsPage]:
        """Begin to ask for a page, so that the broker works while the page before is taken in."""
        task = asyncio.create_task(self._page(cursor))
        self._asked.add(task)
        task.add_done_callback(self._asked.discard)
        return task

    async def _page(self, cursor: str) -> JobsPage:
        while True:
            try:
                return await self.client.jobs_page(limit=PAGE, after=cursor)
            except Unreachable:
                await asyncio.sleep(_PAUSES[0])

    async def _follow(self) -> None:
        async for update in self.client.follow(self._position, lost=self._lost, regained=self._regained):
            self._link.last_answer = time.time()
            # First what rows say of themselves: a query for a tag must have it when the row comes.
            for part in _slices(update.annotated):
                await breathe()
                self._rows.annotate(part)
            await self._take_in(update.rows)
            self._rows.drop(update.gone)
            self._position = update.position
            for tell in self.on_events:
                tell(update.events)
            for pass_on in self.on_topics:
                pass_on(update.resources, update.scheduler, update.sites, update.slots)

    async def _take_in(self, rows: Columns) -> None:
        """Merge the rows of an update in slices: a sweep may come as thousands at once.

        The last slice is merged without a pause after it, so that events are told before rows are shown.
        """
        for part in _slices(rows):
            await breathe()
            self._rows.merge(part)

    def _lost(self, error: CrossDeskError) -> None:
        if self._link.state is not ConnectionState.SILENT:
            self._link.set(ConnectionState.RECONNECTING, error.message)

    def _regained(self) -> None:
        self._link.last_answer = time.time()
        self._link.set(ConnectionState.CONNECTED)
        for tell in self.on_connected:
            tell()


def _slices(columns: Columns) -> Iterator[Columns]:
    """Columns in parts that are taken in at one stretch each."""
    for first in range(0, len(columns.get("id", ())), _MERGED):
        yield {name: values[first : first + _MERGED] for name, values in columns.items()}
