"""Windows of the job's own program on their way to a desk that shows them (CB-I2G-03).

Until a desk offers a display, programs that open a window wait, for a limited time, and desks are told so.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

import asyncssh

from broker_core.interactive.channel.frames import DISPLAY_PATH
from broker_core.interactive.channel.x_setup import BadSetup, Setup, read_setup
from broker_core.worker.agent_display import Display

log = logging.getLogger("crossdesk.agent")
SETUP_TIME = 10.0
"""Seconds that a program has for its first words."""
AT_ONCE = 128
"""Connections of programs; more are refused."""
TURN = 64 * 1024
_AGAIN, _TRIES = 0.1, 20
"""Seconds until a desk that refused a window is asked again, and how often it is."""
NOBODY = "No desk showed its windows in time: attach one with a display."


class NoDisplay(Exception):
    """No desk shows windows."""


class Windows:
    """Connections of programs to a display, each carried to a desk."""

    def __init__(
        self,
        display: Display,
        patience: float,
        choose: Callable[[list[asyncssh.SSHServerConnection]], asyncssh.SSHServerConnection],
        changed: Callable[[int], None],
    ) -> None:
        """`patience`: seconds that programs wait for a desk; `choose`: which of those that offer a display
        shows a new window; `changed` is told how many wait.
        """
        self._display = display
        self._patience = patience
        self._choose, self._changed = choose, changed
        self._offers: list[asyncssh.SSHServerConnection] = []
        self._news = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting = 0

    async def start(self) -> None:
        """Serve programs from now on."""
        self._server = await asyncio.start_server(self._accepted, sock=self._display.door)

    def close(self) -> None:
        """Close all windows, and listen no longer."""
        self._server.close()
        for task in self._tasks:
            task.cancel()

    def offer(self, connection: asyncssh.SSHServerConnection) -> DisplayOffer:
        """A desk shows windows until the offer is closed."""
        self._offers.append(connection)
        self._news.set()
        return DisplayOffer(lambda: self._withdraw(connection))

    def _withdraw(self, connection: asyncssh.SSHServerConnection) -> None:
        if connection in self._offers:
            self._offers.remove(connection)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if len(self._tasks) <= AT_ONCE:
                await self._serve(reader, writer)
        except (OSError, BadSetup, TimeoutError, EOFError, asyncssh.Error) as error:
            log.info("A program opened no window: %s", error or type(error).__name__)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Check the cookie, find a desk, and carry bytes until one side ends."""
        async with asyncio.timeout(SETUP_TIME):
            setup = await read_setup(reader.readexactly)
        if not self._display.admits(setup):
            writer.write(setup.refusal("This display belongs to another job."))
            return
        try:
            far_reader, far_writer = await self._shown()
        except NoDisplay as error:
            writer.write(setup.refusal(str(error)))
            return
        far_writer.write(Setup(setup.order, setup.major, setup.minor).words())
        ways = [
            asyncio.ensure_future(_carry(reader, far_writer)),
            asyncio.ensure_future(_carry(far_reader, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            far_writer.close()

    async def _shown(self) -> tuple[asyncssh.SSHReader[bytes], asyncssh.SSHWriter[bytes]]:
        """A channel to a desk that shows the window; raises NoDisplay."""
        deadline = asyncio.get_running_loop().time() + self._patience
        refusals: Counter[asyncssh.SSHServerConnection] = Counter()
        while True:
            connection = await self._offered(deadline)
            try:
                return await connection.open_unix_connection(DISPLAY_PATH, encoding=None)
            except asyncssh.ChannelOpenError as error:
                refusals[connection] += 1
                if refusals[connection] < _TRIES:
                    # What comes right after its offer reaches a desk that does not know of it yet.
                    await asyncio.sleep(_AGAIN)
                    continue
                log.info("A desk that offered a display has none now: %s", error)
                self._withdraw(connection)

    async def _offered(self, deadline: float) -> asyncssh.SSHServerConnection:
        if not self._offers:
            self._count(1)
            try:
                async with asyncio.timeout_at(deadline):
                    while not self._offers:
                        self._news.clear()
                        await self._news.wait()
            except TimeoutError as error:
                raise NoDisplay(NOBODY) from error
            finally:
                self._count(-1)
        return self._choose(self._offers)

    def _count(self, more: int) -> None:
        self._waiting += more
        self._changed(self._waiting)


class DisplayOffer(asyncssh.SSHListener):
    """A desk's word that it shows windows; closed by it, or with its connection."""

    def __init__(self, withdraw: Callable[[], None]) -> None:
        super().__init__()
        self._withdraw = withdraw

    def close(self) -> None:
        """Take it back; windows that are open stay."""
        self._withdraw()

    async def wait_closed(self) -> None:
        """It is closed at once."""


async def _carry(reader: Any, writer: Any) -> None:
    with contextlib.suppress(OSError, EOFError, asyncssh.Error):
        while data := await reader.read(TURN):
            writer.write(data)
            await writer.drain()
