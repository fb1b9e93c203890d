"""Agent, relay and desk as real processes and connections on this machine."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import asyncssh

from broker_core.interactive.channel.contact import Contact, NotYet, SessionOver
from broker_core.interactive.channel.rendezvous import Endpoint, new_token
from broker_core.interactive.shadow.session import SessionOptions, ShadowSession
from broker_core.interactive.shadow.session_events import ENDED, Event, OutputReceived, SessionState, Status
from broker_core.worker.agent_settings import CONTACT, VARIABLE, AgentSettings
from tests.testbed.ports import free_port
from tests.waiting import LONG, eventually, within

QUICK = SessionOptions(shortest_pause=0.02, longest_pause=0.2, meeting_time=5.0)


@dataclass
class Bench:
    """One job's agent, a relay, and as many desks as a test wants."""

    folder: Path
    key: asyncssh.SSHKey = field(default_factory=lambda: asyncssh.generate_private_key("ssh-ed25519"))
    token: str = field(default_factory=new_token)
    relay: asyncio.subprocess.Process | None = None
    agent: asyncio.subprocess.Process | None = None
    place: Endpoint = field(default_factory=lambda: Endpoint("127.0.0.1", 0))
    sessions: list[ShadowSession] = field(default_factory=list)

    async def start_relay(self, *words: str) -> None:
        said = self.folder / "relay.json"
        words = words if "--port" in words else ("--port", str(free_port()), *words)
        said.unlink(missing_ok=True)
        with open(self.folder / "relay.log", "ab") as log:
            self.relay = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "broker_core.interactive.relay", "--announce", str(said), *words,
                stderr=log,
            )  # fmt: skip
        await eventually(said.exists)
        self.place = Endpoint(**{name: json.loads(said.read_text())[name] for name in ("host", "port")})

    async def start_agent(
        self,
        words: Sequence[str],
        *,
        within: Sequence[str] = (),
        program: Sequence[str] = (sys.executable, "-m", "broker_core.worker.start"),
        **settings: object,
    ) -> None:
        """`within`: words that run it somewhere else; `program`: another file of the agent."""
        job = self.folder / "attempt" / "job"
        job.mkdir(parents=True)
        public = self.key.export_public_key().decode()
        given = AgentSettings(
            token=self.token,
            places=((self.place.host, self.place.port),),
            keys=(public,),
            retry_interval=0.1,
            max_retries=6000,  # a desk of a busy machine may take long
        )
        given = replace(given, **settings)
        with open(self.folder / "agent.log", "ab") as log:
            self.agent = await asyncio.create_subprocess_exec(
                *within, *program, *words,
                cwd=job,
                env={**os.environ, VARIABLE: given.text()},
                stdin=asyncio.subprocess.DEVNULL,
                stderr=log,
            )  # fmt: skip

    @property
    def job(self) -> Path:
        return self.folder / "attempt" / "job"

    async def contact(self) -> Contact:
        if self.agent is None:
            raise NotYet("There is no agent.")
        if self.agent.returncode is not None:
            raise SessionOver("The job has ended.")
        try:
            said = json.loads((self.job / CONTACT).read_text().splitlines()[-1])
        except FileNotFoundError:
            raise NotYet("The agent starts.") from None
        return Contact("job", self.token, (self.place,), said["key"], said["node"])

    def desk(self, options: SessionOptions = QUICK, key: asyncssh.SSHKey | None = None) -> ShadowSession:
        session = ShadowSession(self.contact, key or self.key, options)
        self.sessions.append(session)
        session.start()
        return session

    async def end(self) -> None:
        """End both processes first: a desk that cannot leave must not keep them."""
        for process in (self.agent, self.relay):
            if process is not None and process.returncode is None:
                process.kill()
                await process.wait()
        for session in self.sessions:
            await session.close()


async def impatient(session: ShadowSession) -> None:
    """Let its present connection count as broken soon: one that a busy machine keeps waiting would, too."""
    (await session.connection()).set_keepalive(0.3)


@asynccontextmanager
async def bench(folder: Path) -> AsyncIterator[Bench]:
    made = Bench(folder)
    try:
        await made.start_relay()
        yield made
    finally:
        await made.end()


class Screen:
    """Reads a session's events to the end: what was written on each stream, and the statuses."""

    def __init__(self, session: ShadowSession, *, keep: bool = True) -> None:
        self.session = session
        self.keep = keep
        self.streams: dict[int, bytearray] = {1: bytearray(), 2: bytearray()}
        self.hashes = {1: hashlib.sha256(), 2: hashlib.sha256()}
        self.sizes = {1: 0, 2: 0}
        self.events: list[Event] = []
        self.states: list[SessionState] = []
        self.task = asyncio.ensure_future(self._read())

    async def _read(self) -> None:
        async for event in self.session.events():
            if isinstance(event, OutputReceived):
                assert event.offset == self.sizes[event.stream] or not self.keep
                self.sizes[event.stream] += len(event.data)
                self.hashes[event.stream].update(event.data)
                if self.keep:
                    self.streams[event.stream] += event.data
                continue
            self.events.append(event)
            if isinstance(event, Status) and event.state not in self.states[-1:]:
                self.states.append(event.state)

    async def shows(self, text: bytes, stream: int = 1, seconds: float = LONG) -> None:
        await eventually(lambda: text in self.streams[stream], seconds, f"{text!r} on stream {stream}")

    async def ended(self, seconds: float = LONG) -> None:
        await within(self.task, seconds)
        assert self.session.status.state in ENDED
