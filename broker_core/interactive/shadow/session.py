"""The shadow: the desk's end of an interactive job, over as many connections as it takes (CB-IA-01)."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import asyncssh

from broker_core.errors import BadRequest, CrossDeskError
from broker_core.interactive.channel.contact import Contact, Introduce, NotYet, SessionOver
from broker_core.interactive.channel.rendezvous import Endpoint, NoRendezvous
from broker_core.interactive.channel.stream_link import CarriedLink, StreamLink
from broker_core.interactive.shadow.connecting import AgentConnector
from broker_core.interactive.shadow.event_buffer import EventBuffer
from broker_core.interactive.shadow.forwards import Forwards
from broker_core.interactive.shadow.input import SessionInput
from broker_core.interactive.shadow.link import FAREWELL, farewell, open_link
from broker_core.interactive.shadow.session_events import ENDED, Event, Gap, SessionState, Status
from broker_core.interactive.shadow.session_life import SessionEvent, state_after

log = logging.getLogger("crossdesk.sessions")
TOLD = 0.25
"""Seconds between two reports of counters."""
LINES = "lines"


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """Times in seconds."""

    attached: bool = True
    """Show the program; else only files, commands and forwards beside it are wanted."""
    write: bool = True
    """Ask for the program's input if no other desk has it."""
    columns: int = 80
    rows: int = 24
    keepalive: float = 5.0
    """Between two signs of life; after three without an answer the connection is broken."""
    answer_time: float = 4.0
    """Without an answer of the agent, after which that is told."""
    meeting_time: float = 5.0
    """That the agent is waited for at a relay before the broker is asked again."""
    shortest_pause: float = 0.2
    longest_pause: float = 5.0
    """Between two attempts to connect."""
    direct_ports: range | None = None
    """Where the agent may call us without the relay; empty: nowhere, None: as the broker's settings say."""
    listen: Endpoint | None = None
    """Where agents come to us by themselves, as the registration of this desk says; None: nowhere."""
    display: str = ""
    """Show windows of the program on this display of the desk, as in DISPLAY."""


class ShadowSession:
    """A job's program at this desk. Made by `open_session`; all methods belong to the loop that made it."""

    def __init__(self, introduce: Introduce, key: asyncssh.SSHKey, options: SessionOptions) -> None:
        self._introduce = introduce
        self.desk = secrets.token_urlsafe(12)
        """Name of this session at the agent; the same over all its connections."""
        self._meetings = AgentConnector(
            key, options.keepalive, options.meeting_time, options.direct_ports, options.listen, self.desk
        )
        self._options = options
        self.status = Status()
        self.input = SessionInput()
        """What is typed here."""
        self.forwards = Forwards(self._count)
        self._size = (options.columns, options.rows)
        self._wants_input = options.write
        self._places: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        self.seen: dict[int, int] = {}
        """Stream to the place below which a desk had the output before this session."""
        self._telling = EventBuffer(self._listen)
        self._ssh: asyncssh.SSHClientConnection | None = None
        self._link: StreamLink | None = None
        self._linked = asyncio.Event()
        self._again = asyncio.Event()
        self._report: asyncio.TimerHandle | None = None
        self._closed = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to connect."""
        self._task = asyncio.get_running_loop().create_task(self._guarded())

    def events(self) -> AsyncIterator[Event]:
        """Output and statuses in their order, until the session has ended or is closed and all was told.

        Whoever reads slowly makes the program wait; output is never dropped here.
        """
        return self._telling.events()

    def write(self, data: bytes) -> bool:
        """Send input, at Enter where the program reads lines; False where it was not taken.

        It is not taken while another desk writes, and when too much is waiting.
        """
        if self.status.state in ENDED or (self._link is not None and not self.status.writer):
            return False
        taken = self.input.write(data)
        self._count()
        return taken

    def end_input(self) -> None:
        """No input follows (Ctrl-D); what was typed before goes out first. Of no effect where `write` is."""
        if self._link is None or self.status.writer:
            self.input.end()
            self._count()

    def resize(self, columns: int, rows: int) -> None:
        """Tell the program the size of its terminal, now and after each new connection."""
        self._size = (columns, rows)
        self._say("resize", columns=columns, rows=rows)

    def signal(self, name: str) -> None:
        """Send a signal to the program, e.g. `INT`."""
        self._say("signal", name=name)

    def take(self) -> None:
        """Take the input over from the desk that has it."""
        self._say("take")

    def reconnect(self) -> None:
        """Try to connect now, also where a connection stands over which no answer comes."""
        self._again.set()
        if self._ssh is not None and self.status.silent:
            self._ssh.abort()

    async def connection(self) -> asyncssh.SSHClientConnection:
        """The present SSH connection, as soon as there is one, for files, commands and networks.

        Raises SessionOver when the session has ended.
        """
        while self._ssh is None:
            if self.status.state in ENDED:
                raise SessionOver(self.status.reason or "The session has ended.")
            self._linked.clear()
            await self._linked.wait()
        return self._ssh

    async def close(self) -> None:
        """Leave; the program runs on, and its output is kept for the next desk."""
        self._closed = True
        await self.forwards.close()
        if self._link is not None:
            self._link.confirm()
        if self._ssh is not None:
            await farewell(self._ssh, self._link)
        while self._task is not None and not self._task.done():
            # Once may not be enough: `wait_for` loses a cancellation that comes with what it waits for.
            self._task.cancel()
            await asyncio.wait([self._task], timeout=FAREWELL)
        await self._meetings.close()
        self._telling.close()
        if self._report is not None:
            self._report.cancel()

    # What the link tells us.

    def output(self, stream: int, offset: int, data: bytes) -> None:
        """Take output in; what we have already is left out."""
        place = self._places.get(stream, 0)
        if offset > place:
            raise ValueError("output is missing")
        fresh = data[place - offset :]
        self._places[stream] = place + len(fresh)
        assert self._link is not None
        self._link.arrived(stream, self._places[stream], len(fresh))
        self._telling.output(stream, place, fresh, by_lines=self.status.mode == LINES)
        self._count()

    def word(self, said: dict[str, Any]) -> None:
        """Take a message of the agent."""
        what = said["what"]
        if what == "welcome":
            self._welcome(said)
        elif what == "news":
            self._news(said)
        elif what == "gap":
            self._telling.flush()
            self._telling.tell(Gap(said["stream"], said["start"], said["end"]))
            self._places[said["stream"]] = said["end"]
        elif what in ("enough", "more"):
            self.input.hold(what == "enough")
        elif what == "end":
            self._end(said)

    def confirmed(self, offset: int) -> None:
        """The agent has our input up to a place."""
        self.input.confirm(offset)
        self._count()

    def silent(self, seconds: int) -> None:
        """The agent has not answered for so long; 0: it does."""
        if self.status.state not in ENDED:
            self._become(silent=seconds)

    # Connecting.

    async def _guarded(self) -> None:
        """Whatever goes wrong, who shows the session is told."""
        try:
            await self._run()
        except Exception as error:
            log.exception("The session broke off")
            self._enter(SessionEvent.REFUSED, reason=f"Internal error: {error!r}.")
        finally:
            self._linked.set()

    async def _run(self) -> None:
        pause = self._options.shortest_pause
        self._meetings.open()
        if self._options.display:
            await self.forwards.display(self._options.display)
        while self.status.state not in ENDED and not self._closed:
            try:
                contact = await self._introduce()
                await self._follow(contact)
                pause = self._options.shortest_pause
                continue
            except NotYet as wait:
                self._enter(SessionEvent.ABSENT, reason=str(wait))
            except SessionOver as over:
                ended = {"exit_code": over.exit_code, "signal": over.signal}
                end = SessionEvent.GIVEN_UP if over.dead else SessionEvent.ENDED
                self._enter(end, reason=over.message, **ended)
                return
            except CrossDeskError as wrong:
                self._enter(SessionEvent.REFUSED, reason=str(wrong))
                return
            except NoRendezvous as failed:
                self._become(reason=str(failed), retries=self.status.retries + 1)
            await self._wait(pause)
            pause = min(pause * 1.5, self._options.longest_pause)

    async def _follow(self, contact: Contact) -> None:
        """Connect, and stay until the connection is lost; raises NoRendezvous."""
        if contact.attempt != self.status.attempt:
            self._restart()
        self._become(notice=contact.notice, attempt=contact.attempt)
        self._telling.follow(contact.manners)
        if contact.carried is not None:
            await self._follow_carried(contact.carried(self), contact.notice)
            return
        self._again.clear()
        ssh, direct = await self._meetings.unless_over(contact, self._introduce, self._again)
        fingerprint = asyncssh.import_public_key(contact.host_key).get_fingerprint()
        self._become(fingerprint=fingerprint, direct=direct)
        try:
            if self._options.attached:
                self._hello(await open_link(ssh, self, self._options.answer_time))
            else:
                self._enter(SessionEvent.CAUGHT_UP, reason="", retries=0, node=contact.node)
            await self.forwards.connected(ssh)
            self._ssh = ssh
            self._linked.set()
            reason = await self._lost(ssh)
        finally:
            self._unlinked()
            self._ssh = None
            ssh.abort()
        if self.status.state not in ENDED:
            broke = f"The connection broke: {reason}."
            self._enter(SessionEvent.CUT, reason=broke, retries=0, direct=False, silent=0)

    def _restart(self) -> None:
        """The job was started anew: its output begins again, and nothing of its input is there."""
        self._telling.flush()
        self._places, self._ends, self.seen = {}, {}, {}
        self._wants_input = self._options.write
        if self.status.attempt:
            self.input.restart()

    async def _follow_carried(self, link: CarriedLink, notice: str) -> None:
        """The same over the broker; raises NoRendezvous, and BadRequest where more is wanted than streams."""
        if not self._options.attached:
            raise BadRequest(notice)
        try:
            self._hello(link)
            reason = await link.lost
        finally:
            self._unlinked()
            await link.close()
        if not link.met:
            raise NoRendezvous(f"{reason}.")
        if self.status.state not in ENDED:
            self._enter(SessionEvent.CUT, reason=f"The connection broke: {reason}.", retries=0)

    def _hello(self, link: StreamLink) -> None:
        """Take the streams of the program up where they were left: say who we are and what we have.

        Who was here before asks for no more than it had: the desk that writes may come back after us.
        """
        self._link = link
        self.input.linked(link)
        link.say("hello", desk=self.desk, write=self._wants_input, resume=self._places)

    def _unlinked(self) -> None:
        self._link = None
        self.input.lost()

    async def _lost(self, ssh: asyncssh.SSHClientConnection) -> str:
        if self._link is not None:
            return await self._link.lost
        await ssh.wait_closed()
        return "the agent closed the connection"

    async def _wait(self, pause: float) -> None:
        self._again.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._again.wait()

    def _welcome(self, said: dict[str, Any]) -> None:
        """The agent knows us: it sends what we miss first."""
        self._ends = {int(stream): end for stream, (_, end) in said["streams"].items()}
        self.seen = self.seen or {int(stream): place for stream, place in said.get("seen", {}).items()}
        for stream, (start, _) in said["streams"].items():
            self._places.setdefault(int(stream), start)
        self.input.welcome(said["input"], by_lines=said["mode"] == LINES)
        found = {"mode": said["mode"], "node": said["node"], "display": said.get("display", "")}
        self._enter(SessionEvent.WELCOMED, reason="", **found)
        self._drained()

    def _news(self, said: dict[str, Any]) -> None:
        """Who writes, and who is there."""
        writer = bool(said["writer"])
        self.resize(*self._size)
        self.input.news(writes=writer)
        self._wants_input = writer
        told = {"sent": self.input.sent, "unsent": self.input.unsent, "taken": bool(said.get("taken", True))}
        windows = int(said.get("windows", 0))
        self._become(writer=writer, viewers=int(said["viewers"]), windows=windows, **told)

    def _end(self, said: dict[str, Any]) -> None:
        """The program has ended, and everything before this word is here."""
        self._telling.flush()
        link = self._link
        if link is not None:
            link.confirm()
            link.say("done")
        end = SessionEvent.GIVEN_UP if said["dead"] else SessionEvent.ENDED
        reason = "The agent waited too long for a desk and ended the program." if said["dead"] else ""
        self._counters()
        self._enter(end, reason=reason, exit_code=said["code"], signal=said["signal"], waiting=0)
        self._linked.set()

    # Towards the program.

    def _say(self, what: str, **values: Any) -> None:
        if self._link is not None:
            self._link.say(what, **values)

    def _listen(self, wanted: bool) -> None:
        if self._link is not None:
            self._link.listen(wanted)

    # Towards who shows it.

    def _enter(self, event: SessionEvent, **changes: Any) -> None:
        self._become(state=state_after(self.status.state, event), **changes)

    def _become(self, **changes: Any) -> None:
        """Change the status, and tell if it did change."""
        changed = replace(self.status, **changes)
        if changed != self.status:
            self.status = changed
            self._telling.tell(changed)

    def _count(self) -> None:
        """Bring the counters up to date soon; the state at once."""
        self._drained()
        if self._report is None and not self._closed:
            self._report = asyncio.get_running_loop().call_later(TOLD, self._counters)

    def _drained(self) -> None:
        behind = sum(max(0, end - self._places[stream]) for stream, end in self._ends.items())
        if self.status.state is SessionState.DRAINING and behind == 0:
            self._enter(SessionEvent.CAUGHT_UP, retries=0, waiting=0)

    def _counters(self) -> None:
        self._report = None
        if self.status.state in ENDED:
            return
        self._become(
            waiting=sum(max(0, end - self._places[stream]) for stream, end in self._ends.items()),
            unsent=self.input.unsent,
            received=sum(self._places.values()),
            sent=self.input.sent,
            forwards=self.forwards.views(),
            services=self.forwards.services.views(),
        )
