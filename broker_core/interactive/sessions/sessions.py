"""Sessions of interactive jobs: what agents are told at the start, how desks reach them (CB-IA-05)."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
import sys
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast
from weakref import WeakValueDictionary

from broker_core.bookkeeping.store import Store
from broker_core.errors import BadRequest, Conflict, NotFound
from broker_core.interactive.channel.rendezvous import Endpoint
from broker_core.interactive.relay.own_relay import OwnRelay
from broker_core.interactive.sessions.agent_programs import FrozenAgent, agents
from broker_core.interactive.sessions.agent_report import PLAIN as PLAIN_KIND
from broker_core.interactive.sessions.agent_report import AgentReport, read_word
from broker_core.interactive.sessions.desks import Desks
from broker_core.interactive.sessions.reverse_tunnels import ReverseTunnels
from broker_core.interactive.sessions.secret_file import BrokerKey, kept_secret
from broker_core.jdl.description import JobDescription
from broker_core.jdl.names import base_name
from broker_core.jobs.attempt_events import AgentReady
from broker_core.jobs.placement import Component, ComputingElement
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.jobs.story import failure
from broker_core.jobs.transitions import EventType
from broker_core.launching.cached_program import CachedProgram
from broker_core.scheduling.messages import Message
from broker_core.settings.interactive import InteractiveSettings
from broker_core.sites.contract import (
    AgentOrder,
    LaunchOrder,
    RemoteSitePort,
    Site,
    SiteRefused,
)
from broker_core.sites.transport.contract import LinkLost
from broker_core.sites.transport.way_back import WILDCARDS, WayBack
from broker_core.wire.interactive import ContactState, DeskView, MeetingPlace, SessionContact, SessionManners
from broker_core.worker.agent_settings import CONTACT, LINES, NO_DESK, TERMINAL, VARIABLE, AgentSettings
from broker_core.worker.script import line_agent_path
from broker_core.worker.words import split_words

log = logging.getLogger("crossdesk.sessions")
OWN_AGENTS = {"": TERMINAL, "i2glogin": TERMINAL, "glogin": TERMINAL, "bypass": LINES, "lines": LINES}
"""`InteractiveAgent` to the kind of our agent; another name is a program of the user or the site."""
ASKED_FOR = "the description asks for it"
_PLAIN_WORDS = (str(line_agent_path()),)
SHORT, LONG = 0.01, 1.0
"""Seconds between two looks for an agent: the first, the last."""
AGAIN = 2.0
"""Seconds for which what an agent said last is taken for what it says."""
BROUGHT = 120.0
"""Seconds after which an agent that was brought beside a program and says nothing is brought anew."""
COMES = "An agent is on its way to the job; that may take half a minute."
WITHOUT_TERMINAL = ("", "bypass", "lines")
"""Values of `InteractiveAgent` with which the plain agent will do; `lines` wants no other."""
LACKING = "CROSSDESK_AGENT_LACKING"
"""Variable with the reason why the plain agent is used; the starter may know a better one."""
_NO_LINES = "arc"
"""Batch system of sites to whose running jobs no lines can be carried."""


def is_foreign(agent: str, brought: Collection[str]) -> bool:
    """True for an agent that the job brings, or finds at the site: it knows its user's side by itself."""
    return base_name(agent) in brought or agent not in OWN_AGENTS


class Sessions:
    """All that the broker does for sessions; bytes of a session never pass it."""

    def __init__(self, store: Store, settings: InteractiveSettings, state: Path) -> None:
        self._store = store
        self.desks = Desks(store)
        self.post: Callable[[Message], None] = lambda message: None
        """Tells the scheduler; the engine, once there is one."""
        self.site_of: Callable[[ComputingElement], Site | None] = lambda ce: None
        """The site of a computing element, once there are sites."""
        self.expect: Callable[[str], None] = lambda job: None
        """Is told of a job whose agent is sent on its way."""
        self._ways = ReverseTunnels(state)
        self._settings = settings
        self._frozen_agent = FrozenAgent(settings.agent_program)
        self.key = BrokerKey(state / "session-key")
        """Who has it may tell agents whom to let in."""
        self._secret_file = state / "session-secret"
        self._secret = b""
        self._relay = OwnRelay(state, settings.relay_address, settings.relay_idle_exit)
        self._words: dict[Component, tuple[float, AgentReport | None]] = {}
        """Tag to when its agent was heard, and what it said."""
        self._told: dict[str, str] = {}
        """Job to what its story says of its agent."""
        self._brought: dict[Component, float] = {}
        """Batch job to when an agent was brought beside its program, by the monotonic clock."""
        self._bringing: dict[Component, asyncio.Lock] = {}
        """Held while one is brought: several desks may ask at once, and one token is for one agent."""
        self._listening: WeakValueDictionary[Component, asyncio.Lock] = WeakValueDictionary()
        """Held while what an agent says is brought."""

    async def equipped(self, order: LaunchOrder, description: JobDescription) -> LaunchOrder:
        """The order of an interactive job with its agent; without one where no desk could ever reach it."""
        if not description.interactive:
            return order
        own = {*order.input_names}
        name = description.agent
        if is_foreign(name, own):
            shipped = f"./{base_name(name)}" if base_name(name) in own else name
            words = tuple(split_words(description.agent_arguments))
            return replace(order, agent=shipped, agent_arguments=words)
        desks = await self.desks.of(order.owner)
        if not desks:
            return order
        self.expect(order.attempt.job)
        way = await self._way(order.ce)
        way = replace(way, places=(*way.places, *_doors(desks)))
        settings = replace(
            self._agent_settings(order.attempt.tag, desks, way.places),
            mode=OWN_AGENTS[description.agent],
            max_retries=self._settings.ca_max_retries,
            tee=bool(description.stdout),
            x11=description.x11,
            screen=description.display,
        )
        text = settings.text()
        order = replace(order, environment=(*order.environment, (VARIABLE, text)))
        if order.ce.here:
            own_words = ("-I", "-m", "broker_core.worker.start")
            if description.agent == "lines":
                return replace(_lacking(order, ASKED_FOR), agent="/bin/sh", agent_arguments=_PLAIN_WORDS)
            return replace(order, agent=sys.executable, agent_arguments=own_words)
        return await self._shipped(order, description.agent, way)

    async def _shipped(self, order: LaunchOrder, name: str, way: WayBack) -> LaunchOrder:
        """The order with the agents for another site; raises SiteRefused where none can be of use there."""
        found = agents(self._settings.agent_program)
        frozen = found.frozen is not None and bool(way.places) and name != "lines"
        missing = way.hint if found.frozen is not None and not way.places else found.missing
        plain = self._settings.line_agent and name in WITHOUT_TERMINAL and order.ce.system != _NO_LINES
        kept = await asyncio.to_thread(found.kept, frozen=frozen, plain=plain)
        if not kept:
            raise SiteRefused(
                f"Interactive jobs cannot run there: {missing}",
                place=order.ce.id,
                remedy="Choose another site, or run it as a batch job.",
            )
        return _lacking(replace(order, agents=kept), ASKED_FOR if name == "lines" else missing)

    async def frozen_agent(self) -> CachedProgram | None:
        """The agent that brings its own interpreter to other sites; None: this broker has none."""
        return await self._frozen_agent.find()

    async def place(self) -> Endpoint:
        """The relay at which desks meet agents; the broker's own is started if need be."""
        if self._settings.relay:
            return _place_of(self._settings.relay)
        place = await self._relay.place()
        here = "127.0.0.1" if place.host in WILDCARDS else place.host
        return Endpoint(self._settings.relay_name or here, place.port)

    async def _way(self, ce: ComputingElement) -> WayBack:
        """Where agents at a computing element are to call; raises LinkLost."""
        place = await self.place()
        site = self.site_of(ce)
        if ce.here or site is None:
            return WayBack(((place.host, place.port),))
        if self._settings.relay or self._settings.relay_name:
            return WayBack(((place.host, place.port),), f"Nodes there must reach the relay at {place}.")
        return await self._ways.of(cast(RemoteSitePort, site), await self._relay.place())

    async def contact(self, record: JobRecord, site: Site | None) -> SessionContact:
        """How the agent of a job is reached, or what is missing."""
        known = self._settings
        manners = SessionManners(
            buffer=known.shadow_buffer, flush_time=known.shadow_flush_time, ports=known.shadow_ports
        )
        answer = SessionContact(
            job=record.id, attempt=record.attempt, state=ContactState.WAITING, manners=manners
        )
        if not self.has_agent(record):
            return answer.model_copy(
                update={"state": ContactState.NONE, "reason": "The job is not interactive."}
            )
        if record.state.ended:
            self.forget(record.id)
            story = await self._store.events_of(record.id)
            dead, met = failure(story) == NO_DESK, any(one.type is EventType.AGENT_READY for one in story)
            # Output that no desk was quick enough for is at the broker, as that of a program by lines.
            unseen = record.state is JobState.DONE and not (dead or met)
            over = {"state": ContactState.OVER, "dead": dead, "agent": PLAIN_KIND if unseen else ""}
            return answer.model_copy(update=over | _ending(record))
        if record.state is not JobState.RUNNING or site is None:
            return answer.model_copy(update={"reason": "The job is not running yet."})
        return await self._running(record, site, answer)

    def has_agent(self, record: JobRecord) -> bool:
        """Whether a job has an agent, or gets one: an interactive one, or one that was brought to it."""
        return record.interactive or (bool(self._brought) and record.component in self._brought)

    async def bring(self, record: JobRecord, site: Site | None) -> bool:
        """Have an agent beside the program of a running batch job; asked again it does nothing more.

        False where there was one already. Raises Conflict for a job that has ended, BadRequest where no agent
        can be brought, NotFound, SiteRefused and LinkLost.
        """
        if record.state.ended:
            raise Conflict("The job has ended.", place=record.id)
        if record.state is not JobState.RUNNING or site is None:
            return True
        async with self._bringing.setdefault(record.component, asyncio.Lock()):
            return self.has_agent(record) or await self._brought_to(record, site)

    async def _brought_to(self, record: JobRecord, site: Site) -> bool:
        """The same for a job that has none by our knowledge."""
        word = await self._word(record.component, site)
        if word is not None and word.unfit:
            raise BadRequest(f"No agent can run on {word.node}: {word.unfit}.", place=record.id)
        if word is None:
            desks, way = await self.desks.of(record.owner), await self._way(record.ce)
            program = None if record.ce.here else self._frozen(record.ce, way)
            # No desk is waited for: neither while the program runs, nor at its end.
            settings = replace(
                self._agent_settings(record.component.tag, desks, (*way.places, *_doors(desks))),
                mode=LINES,
                max_retries=0,
                linger=0.0,
            )
            await site.bring_agent(record.component, AgentOrder(program, settings.text()))
        self._brought[record.component] = time.monotonic()
        return word is None

    def _frozen(self, ce: ComputingElement, way: WayBack) -> CachedProgram:
        """The agent that speaks SSH, for a node of another site; raises BadRequest."""
        found = agents(self._settings.agent_program)
        programs = found.kept(frozen=bool(way.places), plain=False)
        if not programs:
            missing = way.hint if found.frozen is not None else found.missing
            raise BadRequest(f"No agent can be brought to the job: {missing}.", place=ce.id)
        return programs[0]

    def forget(self, job: str) -> None:
        """A job has ended, and with it what its agents said."""
        self._told.pop(job, None)
        for component in [one for one in self._brought if one.job == job]:
            del self._brought[component]
        for component in [one for one in self._bringing if one.job == job]:
            del self._bringing[component]
        for component in [one for one in self._words if one.job == job]:
            del self._words[component]

    async def _running(self, record: JobRecord, site: Site, answer: SessionContact) -> SessionContact:
        attempt = record.component
        try:
            word = await self._word(attempt, site)
        except (LinkLost, BadRequest) as error:
            return answer.model_copy(update={"reason": str(error)})
        if word is None:
            begun = self._brought.get(attempt, time.monotonic())
            if time.monotonic() - begun > BROUGHT:
                del self._brought[attempt]
            starting = COMES if attempt in self._brought else "The agent is starting."
            return answer.model_copy(update={"reason": f"{starting} {self._older(record.ce)}".rstrip()})
        if word.unfit:
            self._brought.pop(attempt, None)
            return answer.model_copy(update={"state": ContactState.NONE, "reason": word.unfit})
        await self._introduced(record, word)
        about = {"node": word.node, "agent": word.kind, "missing": word.missing}
        if word.kind == PLAIN_KIND:
            return answer.model_copy(update=about | {"state": ContactState.THERE})
        hint = await self._hint(record.ce)
        if word.trouble:
            trouble = f"The agent on {word.node} reaches no place to meet: {word.trouble}"
            told = (trouble, hint, self._older(record.ce))
            return answer.model_copy(update={"reason": " ".join(filter(None, told))})
        place = await self.place()
        return answer.model_copy(
            update=about
            | {"state": ContactState.THERE, "token": self._token(attempt.tag)}
            | {"host_key": word.key, "fingerprint": word.fingerprint}
            | {"places": [MeetingPlace(host=place.host, port=place.port)]}
        )

    async def _word(self, attempt: Component, site: Site) -> AgentReport | None:
        """What the agent says now, or said last; None while it has said nothing. Raises LinkLost."""
        async with self._listening.setdefault(attempt, asyncio.Lock()):
            return await self._asked(attempt, site)

    async def _asked(self, attempt: Component, site: Site) -> AgentReport | None:
        """The same, asked once for all who want to know."""
        now = time.monotonic()
        read, known = self._words.get(attempt, (0.0, None))
        if known is not None and now - read < AGAIN:
            return known
        try:
            path = await site.open_path(attempt, CONTACT)
            word = await asyncio.to_thread(read_word, path)
        except NotFound:
            # It takes its word away at its end, with which a batch job goes on.
            return None if attempt in self._brought else known
        except LinkLost:
            if known is None:
                raise
            return known
        if known is None:
            log.info("Agent of %s at %s: %s", attempt.tag, word.node, word.story)
        self._words[attempt] = (now, word)
        return word

    def _older(self, ce: ComputingElement) -> str:
        """What to do about an agent that other sites get, if its file is not of today's sources."""
        return "" if ce.here else agents(self._settings.agent_program).older

    async def _hint(self, ce: ComputingElement) -> str:
        """What to do where the agents of a site reach nobody; sees to the way back too."""
        try:
            return (await self._way(ce)).hint
        except LinkLost as error:
            return str(error)

    async def _introduced(self, record: JobRecord, word: AgentReport) -> None:
        """Have what the agent says of itself in the story of the job, once over all restarts."""
        if self._told.get(record.id) == word.story:
            return
        self._told[record.id] = word.story  # before anything is awaited: several desks may ask at once
        told = [event.details.get("words") for event in await self._store.events_of(record.id)]
        if word.story not in told:
            self.post(AgentReady(record.component, word.node, word.fingerprint, word.story))

    def _agent_settings(
        self,
        tag: str,
        desks: list[DeskView],
        places: tuple[tuple[str, int], ...],
    ) -> AgentSettings:
        """What every agent is told, whatever it runs."""
        known = self._settings
        return AgentSettings(
            token=self._token(tag),
            places=places,
            keys=tuple(desk.key for desk in desks),
            retry_interval=known.ca_retry_interval,
            replay=known.replay_buffer,
            memory=known.agent_memory,
            disk=known.agent_disk,
            keepalive=known.agent_keepalive,
            linger=known.agent_linger,
            introducer=self.key.public,
            display_wait=known.agent_display_wait,
        )

    def _token(self, tag: str) -> str:
        """The same for an attempt over all restarts of the broker, and not to be guessed by others."""
        if not self._secret:
            self._secret = kept_secret(self._secret_file, lambda: secrets.token_bytes(32))
        return hmac.new(self._secret, tag.encode(), hashlib.sha256).hexdigest()


def _ending(record: JobRecord) -> dict[str, object]:
    """How a job has ended, for a desk that did not see its end."""
    ended = "The job has ended."
    if record.state in (JobState.ABORTED, JobState.CANCELED):
        return {"reason": record.reason or ended}
    return {"reason": ended, "exit_code": record.exit_code, "signal": record.signal}


def _lacking(order: LaunchOrder, why: str) -> LaunchOrder:
    """The order with the reason why its agent is the plain one; none where that is not known before."""
    return replace(order, environment=(*order.environment, (LACKING, why))) if why else order


def _doors(desks: list[DeskView]) -> Iterator[tuple[str, int]]:
    """Where agents may come to desks that listen."""
    for desk in desks:
        if desk.door:
            place = _place_of(desk.door)
            yield place.host, place.port


def _place_of(text: str) -> Endpoint:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise BadRequest(f"The setting relay must be host:port, not {text!r}.", place="relay")
    return Endpoint(host.strip("[]"), int(port))
