"""How a desk comes to a connection with an agent: at its own door, over the relay, or called without it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from socket import socket
from typing import Any, TypeVar

import asyncssh

from broker_core.errors import CrossDeskError
from broker_core.interactive.channel.contact import Contact, Introduce, SessionOver
from broker_core.interactive.channel.rendezvous import DESK, Endpoint, NoRendezvous, meet
from broker_core.interactive.relay.relay import CannotListen
from broker_core.interactive.shadow.direct_call import called_directly
from broker_core.interactive.shadow.direct_listener import DirectListener
from broker_core.interactive.shadow.link import speak

log = logging.getLogger("crossdesk.sessions")
DOOR_TIME = 0.3
"""Seconds that an agent which was met at the relay may still take to come to our own door."""
ASK = 0.5
"""Seconds after which the broker is asked, while an agent is waited for, whether the job has ended."""
PATIENCE = 60.0
"""Seconds that a program which connects amid a cut waits for the other connection."""
MOST_WAITING = 200
"""Programs that wait so at once; a browser opens six connections to a server."""
Made = TypeVar("Made")


@dataclass(slots=True)
class AgentConnector:
    """Makes connections to agents; times in seconds."""

    key: asyncssh.SSHKey
    keepalive: float
    meeting_time: float
    direct_ports: range | None
    """None: as the broker says."""
    listen: Endpoint | None
    session: str = ""
    """Its name: the agent ends older connections of it."""
    _door: DirectListener | None = None

    def open(self) -> None:
        """Listen, where the desk wants that and can; else the relay will do."""
        if self.listen is None:
            return
        try:
            self._door = DirectListener(self.listen)
        except CannotListen as error:
            log.warning("Agents reach this desk over the relay only: %s", error)

    async def close(self) -> None:
        """Listen no longer."""
        if self._door is not None:
            await self._door.close()

    async def unless_over(
        self, contact: Contact, introduce: Introduce, again: asyncio.Event
    ) -> tuple[asyncssh.SSHClientConnection, bool]:
        """The same as `connect`, given up with SessionOver when the job ends: its agent comes no more.

        Given up with NoRendezvous too when `again` is set: somebody wants another attempt.
        """
        meeting = asyncio.ensure_future(self.connect(contact))
        ending, wish = asyncio.ensure_future(_until_over(introduce)), asyncio.ensure_future(again.wait())
        met = False
        try:
            await asyncio.wait([meeting, ending, wish], return_when=asyncio.FIRST_COMPLETED)
            if not meeting.done() and wish.done():
                raise NoRendezvous("The attempt was given up for another one.")
            if not meeting.done():
                await ending
            met = True
            return meeting.result()
        finally:
            ending.cancel()
            wish.cancel()
            if not met:
                await _dropped(meeting, lambda near: near[0].abort())
            await asyncio.wait([ending, wish])

    async def connect(self, contact: Contact) -> tuple[asyncssh.SSHClientConnection, bool]:
        """A connection to the agent, and whether it goes without the relay; raises NoRendezvous."""
        meeting, direct = await self._met(contact)
        ssh = await speak(meeting, contact, self.key, self.keepalive, self.session)
        if direct:
            return ssh, True
        try:
            near = await self._without_relay(contact, ssh)
        except BaseException:
            ssh.abort()
            raise
        return (ssh, False) if near is None else (near, True)

    async def _met(self, contact: Contact) -> tuple[socket, bool]:
        """Where the agent is first: at our own door (preferred), or at a relay; raises NoRendezvous."""
        if self._door is None:
            return await self._at_relay(contact), False
        arriving = asyncio.ensure_future(self._door.expect(contact.token))
        relayed = asyncio.ensure_future(self._at_relay(contact))
        chosen: asyncio.Future[socket] | None = None
        try:
            await asyncio.wait(
                [arriving, relayed], timeout=self.meeting_time, return_when=asyncio.FIRST_COMPLETED
            )
            if not arriving.done():
                failed = relayed.done() and relayed.exception() is not None
                await asyncio.wait([arriving], timeout=self.meeting_time if failed else DOOR_TIME)
            chosen = arriving if arriving.done() else relayed
            return await chosen, chosen is arriving
        finally:
            for one in (arriving, relayed):
                if one is not chosen:
                    await _dropped(one, socket.close)

    async def _at_relay(self, contact: Contact) -> socket:
        """A connection to the agent over the first place that has it; raises NoRendezvous."""
        reasons = []
        for place in contact.places:
            try:
                return await meet(place, DESK, contact.token, self.meeting_time)
            except NoRendezvous as error:
                reasons.append(str(error))
        raise NoRendezvous(" ".join(reasons) or "There is no place to meet.")

    async def _without_relay(
        self, contact: Contact, relayed: asyncssh.SSHClientConnection
    ) -> asyncssh.SSHClientConnection | None:
        """A connection that the agent made to us because we asked it to, over the relay; None: it cannot."""
        try:
            ports = contact.manners.ports if self.direct_ports is None else self.direct_ports
            meeting = await called_directly(relayed, ports)
            near = await speak(meeting, contact, self.key, self.keepalive, self.session)
        except NoRendezvous as error:
            log.info("Over the relay: %s", error)
            return None
        relayed.close()
        return near


async def _until_over(introduce: Introduce) -> None:
    """Raise SessionOver when the broker says so; what else it says, or that it is silent, is for later."""
    while True:
        await asyncio.sleep(ASK)
        try:
            await introduce()
        except SessionOver:
            raise
        except CrossDeskError as error:
            log.debug("Whether the job has ended: %s", error)


async def _dropped(task: asyncio.Future[Made], close: Callable[[Made], object]) -> None:
    """Give an attempt up, and close what it made all the same.

    Who waits for this and is given up too waits on: no attempt outlives its session.
    """
    task.cancel()
    given_up = False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            given_up = True
    if not task.cancelled() and task.exception() is None:
        close(task.result())
    if given_up:
        raise asyncio.CancelledError


class LiveConnection:
    """The present connection of a session, or the next one while it is cut."""

    def __init__(self) -> None:
        self._connection: asyncssh.SSHClientConnection | None = None
        self._news, self._waiting = asyncio.Event(), 0

    @property
    def connection(self) -> asyncssh.SSHClientConnection | None:
        """The present connection; None while there is none."""
        here = self._connection
        return None if here is None or here.is_closed() else here

    def connected(self, connection: asyncssh.SSHClientConnection) -> None:
        """Another connection is there."""
        self._connection = connection
        self.wake()

    def wake(self) -> None:
        """Have all who wait find out whether they are still wanted."""
        self._news.set()
        self._news = asyncio.Event()

    async def open(
        self, dial: Callable[[asyncssh.SSHClientConnection], Awaitable[Any]], wanted: Callable[[], bool]
    ) -> Any:
        """What `dial` makes of the connection; raises OSError and asyncssh.Error.

        Amid a cut it waits for the next connection, as long as it is `wanted`.
        """
        end = asyncio.get_running_loop().time() + PATIENCE
        while True:
            here = self.connection
            if here is None:
                await self._next(end)
                if not wanted():
                    raise OSError("the forward was closed")
                continue
            try:
                return await dial(here)
            except (OSError, asyncssh.Error):
                await asyncio.sleep(0)  # a connection that breaks off is closed a turn later
                if not here.is_closed():
                    raise

    async def _next(self, end: float) -> None:
        """Wait for news until `end`; raises OSError where there are none or too many wait."""
        if self._waiting >= MOST_WAITING:
            raise OSError("there is no connection to the agent, and too many programs wait for one")
        self._waiting += 1
        try:
            async with asyncio.timeout_at(end):
                await self._news.wait()
        except TimeoutError as error:
            raise OSError("there is no connection to the agent") from error
        finally:
            self._waiting -= 1
