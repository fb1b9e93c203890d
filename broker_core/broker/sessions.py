"""Sessions of interactive jobs: what agents are told at the start, how desks reach them (CB-IA-05)."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import os
import secrets
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import orjson

from broker_core.bookkeeping.codec import clean
from broker_core.bookkeeping.store import Store
from broker_core.broker.desks import Desks
from broker_core.broker.settings_interactive import InteractiveSettings
from broker_core.errors import BadRequest, NotFound
from broker_core.interactive.meeting import Place
from broker_core.interactive.relay_start import OwnRelay
from broker_core.jdl.description import JobDescription
from broker_core.jdl.names import base_name
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.scheduling.messages import AgentReady, Message
from broker_core.sites.contract import Attempt, InputFile, LaunchOrder, Site
from broker_core.wire.interactive import MeetingPlace, SessionContact
from broker_core.worker.agent_settings import CONTACT, LINES, PROGRAM, TERMINAL, VARIABLE, AgentSettings
from broker_core.worker.words import split_words

log = logging.getLogger("crossdesk.sessions")
OWN_AGENTS = {"": TERMINAL, "i2glogin": TERMINAL, "glogin": TERMINAL, "bypass": LINES}
"""`InteractiveAgent` to the kind of our agent; another name is a program of the user or the site."""
SHORT, LONG = 0.02, 1.0
"""Seconds between two looks for an agent: the first, the last."""
CONTACT_MAX = 10_000


class Sessions:
    """All that the broker does for sessions; bytes of a session never pass it."""

    def __init__(self, store: Store, settings: InteractiveSettings, state: Path) -> None:
        self._store = store
        self.desks = Desks(store)
        self.post: Callable[[Message], None] = lambda message: None
        """Tells the scheduler; the engine, once there is one."""
        self._settings = settings
        self._secret_file = state / "session-secret"
        self._secret = b""
        self._relay = OwnRelay(state, settings.relay_address, settings.relay_idle_exit)
        self._agents: dict[str, SessionContact] = {}
        """Tag to what an agent left for us; its key does not change."""

    async def equipped(self, order: LaunchOrder, description: JobDescription) -> LaunchOrder:
        """The order of an interactive job with its agent; without one where no desk could ever reach it."""
        if not description.interactive:
            return order
        own = {file.name for file in order.inputs}
        name = description.agent
        if base_name(name) in own or name not in OWN_AGENTS:
            shipped = f"./{base_name(name)}" if base_name(name) in own else name
            words = tuple(split_words(description.agent_arguments))
            return replace(order, agent=shipped, agent_arguments=words)
        keys = tuple(desk.key for desk in await self.desks.of(order.owner))
        if not keys:
            return order
        text = self._agent_settings(order, description, keys, await self.place()).text()
        order = replace(order, environment=(*order.environment, (VARIABLE, text)))
        if _on_this_machine(order.ce):
            return replace(
                order, agent=sys.executable, agent_arguments=("-I", "-m", "broker_core.worker.agent")
            )
        sent = InputFile(PROGRAM, Path(self._settings.agent_program), executable=True)
        return replace(order, agent=f"./{PROGRAM}", inputs=(*order.inputs, sent))

    async def place(self) -> Place:
        """The relay at which agents and desks meet; the broker's own is started if need be."""
        if self._settings.relay:
            return _place_of(self._settings.relay)
        place = await self._relay.place()
        return Place(self._settings.relay_name or place.host, place.port)

    async def contact(self, record: JobRecord, site: Site | None) -> SessionContact:
        """How the agent of a job is reached, or what is missing."""
        answer = SessionContact(job=record.id, attempt=record.attempt, state="waiting")
        if not record.interactive:
            return answer.model_copy(update={"state": "none", "reason": "The job is not interactive."})
        if record.state.ended:
            return answer.model_copy(update={"state": "over", "reason": "The job has ended."})
        if record.state is not JobState.RUNNING or site is None:
            return answer.model_copy(update={"reason": "The job is not running yet."})
        return await self._running(record, site, answer)

    async def _running(self, record: JobRecord, site: Site, answer: SessionContact) -> SessionContact:
        attempt = Attempt(record.id, record.attempt)
        found = self._agents.get(attempt.tag)
        if found is None:
            try:
                path = await site.open_path(attempt, CONTACT)
            except NotFound:
                return answer.model_copy(update={"reason": "The agent is starting."})
            said = await asyncio.to_thread(_read, path)
            found = answer.model_copy(
                update={"state": "there", "token": self._token(attempt.tag)}
                | {"host_key": said["key"], "fingerprint": said["fingerprint"], "node": said["node"]}
            )
            await self._introduced(record, found)
            self._agents[attempt.tag] = found
            log.info("Agent of %s at %s has the key %s", attempt.tag, found.node, found.fingerprint)
        place = await self.place()
        return found.model_copy(update={"places": [MeetingPlace(host=place.host, port=place.port)]})

    async def _introduced(self, record: JobRecord, found: SessionContact) -> None:
        """Have the agent's key in the story of the job, once over all restarts."""
        told = [event.details.get("fingerprint") for event in await self._store.events_of(record.id)]
        if found.fingerprint not in told:
            self.post(AgentReady(record.id, record.attempt, clean(found.node), clean(found.fingerprint)))

    def _agent_settings(
        self, order: LaunchOrder, description: JobDescription, keys: tuple[str, ...], place: Place
    ) -> AgentSettings:
        known = self._settings
        return AgentSettings(
            token=self._token(order.attempt.tag),
            places=((place.host, place.port),),
            keys=keys,
            mode=OWN_AGENTS[description.agent],
            retry_interval=known.ca_retry_interval,
            max_retries=known.ca_max_retries,
            replay=known.replay_buffer,
            memory=known.agent_memory,
            disk=known.agent_disk,
            linger=known.agent_linger,
            tee=bool(description.stdout),
        )

    def _token(self, tag: str) -> str:
        """The same for an attempt over all restarts of the broker, and not to be guessed by others."""
        if not self._secret:
            self._secret = _kept_secret(self._secret_file)
        return hmac.new(self._secret, tag.encode(), hashlib.sha256).hexdigest()


def _kept_secret(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        fresh = path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "wb") as file:
            file.write(secrets.token_bytes(32))
        fresh.replace(path)
        return path.read_bytes()


def _read(path: Path) -> dict[str, str]:
    """What an agent left for us; raises BadRequest for anything else in its place."""
    try:
        with open(path, "rb") as file:
            said = orjson.loads(file.read(CONTACT_MAX))
        return {name: str(said[name])[:1000] for name in ("key", "fingerprint", "node")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadRequest(f"The agent's key cannot be read: {error}.", place=str(path)) from error


def _on_this_machine(ce: str) -> bool:
    return ce.startswith("localhost:")


def _place_of(text: str) -> Place:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise BadRequest(f"The setting relay must be host:port, not {text!r}.", place="relay")
    return Place(host.strip("[]"), int(port))
