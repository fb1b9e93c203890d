"""A broker put together from its parts, started and stopped in order."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable
from dataclasses import replace

import orjson

from broker_core.api.app import make_app
from broker_core.api.listener import ApiListener
from broker_core.api.services import Services
from broker_core.bookkeeping.store import Store
from broker_core.broker.recovery import recover
from broker_core.clock import now
from broker_core.engine.ended_jobs import EndedJobs
from broker_core.engine.engine import Engine
from broker_core.engine.failpoints import FailPoints
from broker_core.engine.stream import Stream
from broker_core.errors import CrossDeskError
from broker_core.information.replicas.catalogue import catalogue
from broker_core.information.replicas.memory import ReplicaMemory
from broker_core.information.runner import Updaters
from broker_core.information.site_updater import LOCAL, SiteUpdater
from broker_core.jdl.check import Limits
from broker_core.jobs.record import JobRecord
from broker_core.launching.files import FileStore
from broker_core.matchmaking.data_locality import DataLocality
from broker_core.matchmaking.match_context import MatchContext, matchmaker
from broker_core.matchmaking.policy_choice import ActivePolicies
from broker_core.matchmaking.policy_plugins import PolicyPlugins
from broker_core.paths import Paths
from broker_core.reactor.core import Core
from broker_core.reactor.effect_runner import Carrier
from broker_core.resources.facts import SourceHeard
from broker_core.scheduling.build import build
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.effects import Ask, Cancel, Confirm, LateMessage, Submit
from broker_core.scheduling.messages import PoliciesChosen, ReplicasFound
from broker_core.scheduling.scheduler import Scheduler
from broker_core.sessions.agent_monitor import AgentMonitor
from broker_core.sessions.agent_programs import agents
from broker_core.sessions.key_distribution import KeyDistribution
from broker_core.sessions.line_sessions import LineSessions
from broker_core.sessions.sessions import Sessions
from broker_core.settings.settings import Settings
from broker_core.site_management.site_discovery import SiteDiscovery, look_at
from broker_core.site_management.site_dispatcher import SiteDispatcher
from broker_core.site_management.site_registry import SiteRegistry
from broker_core.site_management.site_specs import SiteSpecs
from broker_core.sites.factory import site_for
from broker_core.sites.local.settings import LocalSettings
from broker_core.sites.local.site import LocalSite
from broker_core.submission.checking import Checker
from broker_core.submission.launch_orders import LaunchOrders
from broker_core.submission.submissions import Submissions
from broker_core.version import VERSION

log = logging.getLogger("crossdesk.broker")
QUEUE_AHEAD = 1.0
"""A site may have as many processors' worth of jobs in its queue as it has processors, if jobs may queue at
sites at all."""
LOCAL_INTERVAL = 60.0
"""Seconds between two looks at this machine."""
LAST_REQUESTS = 5.0
"""Seconds that open requests get to finish when the broker stops."""


class Broker:
    """One broker over one open store."""

    def __init__(
        self, places: Paths, settings: Settings, store: Store, fail: FailPoints, stop: Callable[[str], None]
    ) -> None:
        self.services = _services(places, settings, store, fail, stop)
        self._older = agents(settings.agent_program).older
        self._fail = fail
        self._places = places
        self._store = store
        self._listener = ApiListener(make_app(self.services), places.new_socket)

    async def start(self) -> None:
        """Take the live jobs over, then answer on the socket."""
        services = self.services
        services.registry.connect(services.updaters)
        died = self._places.holder.exists()
        await recover(
            services.engine, services.orders, services.sites, services.updaters, self._fail, died=died
        )
        services.engine.connect(self._carriers())
        await self._listener.open()
        self._write_holder()
        services.introductions.start()
        services.agents.start(job.record for job in services.engine.scheduler.live())
        log.info("Broker %s answers on %s", VERSION, self._listener.path)
        if self._older:
            log.warning("Interactive jobs at other sites: %s", self._older)

    async def stop(self) -> None:
        """Stop accepting, let requests finish, save, and leave what runs running."""
        services = self.services
        await services.submissions.settle()
        services.stream.close()
        await self._listener.close(LAST_REQUESTS)
        services.engine.stop()
        await services.agents.close()
        await services.introductions.close()
        await services.lines.close()
        await services.updaters.close()
        services.registry.close()
        await services.detections.close()
        await services.replicas.close()
        await services.sites.close()
        await services.engine.settled()
        self._places.holder.unlink(missing_ok=True)
        self._store.close()
        log.info("Broker stopped")

    def _carriers(self) -> dict[type, Carrier]:
        """Who carries out what leaves the engine."""
        services = self.services
        return {
            Submit: services.sites.submit,
            Confirm: services.sites.confirm,
            Cancel: services.sites.cancel,
            Ask: lambda _: services.updaters.ask(),
            LateMessage: services.ended.stray,
        }

    def _write_holder(self) -> None:
        said = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "socket": str(self._listener.path),
            "version": VERSION,
            "epoch": self._store.epoch,
            "started": self.services.started,
        }
        fresh = self._places.holder.with_suffix(".new")
        try:
            fresh.write_bytes(orjson.dumps(said))
            fresh.chmod(0o600)
            fresh.replace(self._places.holder)
        except OSError as error:
            # Clients find the socket by its usual name; a full disk must not keep the broker from answering.
            log.warning("The holder file could not be written: %s", error)


def _services(
    places: Paths, settings: Settings, store: Store, fail: FailPoints, stop: Callable[[str], None]
) -> Services:
    stream = Stream(store)
    policies = _policies(places, settings)
    circumstances = MatchContext(settings)
    replicas = _replicas(places, settings, lambda: engine.post(ReplicasFound()))
    near_files = DataLocality(replicas)
    scheduler = _scheduler(settings, store, circumstances, near_files, policies)
    engine = Engine(store, Core([scheduler]), stream, fail)
    checker = Checker(Limits(settings.description_max, settings.sandbox_limit, settings.dialect))
    sessions = Sessions(store, settings, places.state)
    sessions.post = engine.post
    orders = LaunchOrders(store, checker, files := FileStore(places.files), sessions)
    local = _local(places, settings)
    sites = SiteDispatcher(engine, orders, fail)
    sessions.site_of = sites.site_of
    return Services(
        places=places,
        settings=settings,
        store=store,
        engine=engine,
        stream=stream,
        checker=checker,
        orders=orders,
        files=files,
        sites=sites,
        sessions=sessions,
        lines=(lines := LineSessions(store, settings, places.state / "lines")),
        introductions=_introductions(store, scheduler, sessions, sites),
        agents=_agents(scheduler, sessions, sites, lines),
        registry=SiteRegistry(SiteSpecs(places.sites), sites, engine, local, site_for),
        detections=SiteDiscovery(look_at),
        submissions=Submissions(engine, checker, orders, files, near_files, settings),
        ended=EndedJobs(engine),
        policies=policies,
        circumstances=circumstances,
        updaters=_updaters(settings, engine, local),
        replicas=replicas,
        near_files=near_files,
        stop=stop,
        started=time.time(),
    )


def _policies(places: Paths, settings: Settings) -> ActivePolicies:
    plugins = PolicyPlugins(settings.mode)
    return ActivePolicies(places.policies, plugins, settings.policy, settings.queue_policy)


def _replicas(places: Paths, settings: Settings, found: Callable[[], None]) -> ReplicaMemory:
    return ReplicaMemory(catalogue(settings.replicas, places.replicas), time.monotonic, found)


def _introductions(
    store: Store, scheduler: Scheduler, sessions: Sessions, sites: SiteDispatcher
) -> KeyDistribution:
    return KeyDistribution(store, lambda: [job.record for job in scheduler.live()], sessions, sites.site_of)


def _agents(
    scheduler: Scheduler, sessions: Sessions, sites: SiteDispatcher, lines: LineSessions
) -> AgentMonitor:
    def record(job: str) -> JobRecord | None:
        live = scheduler.job(job)
        return live.record if live is not None else None

    async def over(job: str) -> None:
        sessions.forget(job)
        await lines.over(job)

    watch = AgentMonitor(record, sessions, sites.site_of, over)
    sessions.expect = watch.begin
    return watch


def _local(places: Paths, settings: Settings) -> LocalSite:
    limits = LocalSettings(file_limit=settings.output_max)
    return LocalSite(LOCAL, places.sites / LOCAL, settings.cpus, limits)


def _scheduler(
    settings: Settings,
    store: Store,
    circumstances: MatchContext,
    near_files: DataLocality,
    policies: ActivePolicies,
) -> Scheduler:
    chosen = PoliciesChosen(policies.policy(), policies.queue_policy())
    match = matchmaker(circumstances, near_files)
    made = build(match, store.next_position, _rules(settings), chosen)
    circumstances.successes = made.cache.reputation.successes
    circumstances.storage = made.cache.storage.known
    return made


def _rules(settings: Settings) -> SchedulerConfig:
    return SchedulerConfig(
        rematch_interval=settings.rematch_interval,
        infeasible_timeout=settings.infeasible_timeout,
        interactive_start=settings.interactive_start,
        max_rematch=settings.max_rematch,
        queue_ahead=QUEUE_AHEAD,
        temp_bad_period=settings.temp_bad_period,
        exclusive_interval=settings.exclusive_interval,
        batch_capacity=settings.batch_capacity,
        max_site_queue=settings.max_site_queue,
        cache=settings.cache,
        access_needed=True,
    )


def _updaters(settings: Settings, engine: Engine, local: LocalSite) -> Updaters:
    def heard(said: SourceHeard) -> None:
        """A source has spoken; three of its intervals later its word is stale, unless set otherwise."""
        interval = settings.stale_after / 3 if settings.stale_after else said.interval
        engine.post(replace(said, interval=interval))

    def changed() -> None:
        """How a source does is shown among the sources, and on the card of the site that it is."""
        engine.stream.topics.resources_changed()
        engine.stream.topics.sites_changed()

    own = [SiteUpdater(local.look, local.name, LOCAL_INTERVAL)]
    return Updaters(settings.sources, heard, now, own=own, changed=changed)


def unusable(places: Paths, error: OSError) -> CrossDeskError:
    """The refusal of a state directory that cannot be used."""
    return CrossDeskError(
        f"The state directory cannot be used: {(error.strerror or str(error)).lower()}.",
        place=str(error.filename or places.state),
        code="state_directory_unusable",
        remedy="Make it writable for you, or name another one with --state-dir or CROSSDESK_STATE_DIR.",
    )
