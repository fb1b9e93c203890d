"""A broker put together from its parts, started and stopped in order."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial

import orjson

from broker_core.bookkeeping.store import Store
from broker_core.broker.api.app import make_app
from broker_core.broker.api.dependencies import Parts
from broker_core.broker.api.list_match import KnownResources, ListMatch
from broker_core.broker.api.listener import ApiListener
from broker_core.broker.api.routes.lines import LineJobs
from broker_core.broker.api.routes.log_search import LogSearches
from broker_core.broker.api.routes.output import JobOutput
from broker_core.broker.api.views.broker import BrokerStatus, Shutdown
from broker_core.broker.api.views.jobs import JobViews
from broker_core.broker.api.views.queue import QueueViews
from broker_core.broker.api.views.sites import SiteViews
from broker_core.broker.api.views.slots import SlotViews
from broker_core.broker.daemon.recovery import recover
from broker_core.broker.engine.ended_jobs import EndedJobs
from broker_core.broker.engine.engine import Engine
from broker_core.broker.engine.failpoints import FailPoints
from broker_core.broker.engine.stream import Stream
from broker_core.broker.glideins.carrier import GlideinCarrier
from broker_core.broker.glideins.order import pool_id, slot_rules
from broker_core.broker.glideins.slot_counts import SLOT, SlotCounts
from broker_core.broker.matchmaking.collective_conditions import collective_conditions
from broker_core.broker.matchmaking.data_locality import DataLocality
from broker_core.broker.matchmaking.match_context import MatchContext, matchmaker
from broker_core.broker.matchmaking.policy_choice import ActivePolicies
from broker_core.broker.matchmaking.policy_plugins import PolicyPlugins
from broker_core.broker.site_management.outside_jobs import OutsideWatch
from broker_core.broker.site_management.retention import Purging, Retention, RetentionChoice
from broker_core.broker.site_management.site_discovery import SiteDiscovery, look_at
from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.broker.site_management.site_limits import Looking
from broker_core.broker.site_management.site_registry import SiteRegistry
from broker_core.broker.site_management.site_specs import SiteSpecs
from broker_core.broker.site_management.site_tester import SiteTester
from broker_core.broker.site_management.start_forecasts import StartForecasts
from broker_core.broker.submission.checking import Checker
from broker_core.broker.submission.items import ItemChecker
from broker_core.broker.submission.launch_orders import LaunchOrders
from broker_core.broker.submission.reruns import Reruns
from broker_core.broker.submission.submissions import Submissions
from broker_core.errors import CrossDeskError
from broker_core.information.replicas.catalog import DescribedCatalogs, catalog
from broker_core.information.replicas.memory import ReplicaMemory
from broker_core.information.runner import Updaters
from broker_core.information.site_updater import LOCAL, SiteUpdater
from broker_core.interactive.sessions.agent_monitor import AgentMonitor
from broker_core.interactive.sessions.agent_programs import agents
from broker_core.interactive.sessions.key_distribution import KeyDistribution
from broker_core.interactive.sessions.line_sessions import LineSessions
from broker_core.interactive.sessions.sessions import Sessions
from broker_core.jdl.check import Limits
from broker_core.jobs.record import JobRecord
from broker_core.launching.application_launchers import ApplicationLaunchers
from broker_core.launching.files import FileStore
from broker_core.launching.launchers import Launchers
from broker_core.launching.overlay_library import OverlayLibrary
from broker_core.reactor.core import Core
from broker_core.reactor.effect_runner import Carrier
from broker_core.resources.facts import SourceHeard
from broker_core.scheduling.build import build
from broker_core.scheduling.coallocation.messages import EndLauncher, ReleaseBarrier
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.effects import Ask, LateMessage
from broker_core.scheduling.messages import PoliciesChosen, ReplicasFound
from broker_core.scheduling.scheduler import Scheduler
from broker_core.scheduling.slots.interactive import InteractiveMode
from broker_core.scheduling.slots.monitor import GlideinMonitor
from broker_core.settings.settings import Settings
from broker_core.sites.factory import site_for
from broker_core.sites.local.settings import LocalSettings
from broker_core.sites.local.site import LocalSite
from broker_core.sites.remote.settings import ResultLimits
from broker_core.system.clock import now
from broker_core.system.paths import Paths
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
        self, paths: Paths, settings: Settings, store: Store, fail: FailPoints, stop: Callable[[str], None]
    ) -> None:
        self._paths = paths
        self._settings = settings
        self._store = store
        self._fail = fail
        self._decide()
        self._run_jobs()
        self._accept_jobs()
        self.parts = self._answer(Shutdown(stop, paths.stopped))
        """What the routes of the API are given, by type."""
        self._listener = ApiListener(
            make_app(self.parts, self._submissions, settings.request_max), paths.new_socket
        )

    def _decide(self) -> None:
        """The reactors and the engine that carries out what they decide."""
        settings, store = self._settings, self._store
        self._stream = Stream(store)
        self._policies = _policies(self._paths, settings)
        self._context = MatchContext(settings)
        self._replicas, self._data = _replicas(
            self._paths, settings, lambda: self._engine.post(ReplicasFound())
        )
        scheduler = _scheduler(settings, store, self._context, self._data, self._policies)
        slots = GlideinMonitor(store.next_position, pool_id, slot_rules(settings))
        self._slot_counts = SlotCounts()
        self._stream.watchers.append(self._slot_counts.follow)
        self._engine = Engine(store, Core([scheduler, slots]), self._stream, self._fail)

    def _run_jobs(self) -> None:
        """The sites, and the sessions of interactive jobs there."""
        settings, store, engine, paths = self._settings, self._store, self._engine, self._paths
        limits = Limits(
            settings.description_max, settings.sandbox_limit, settings.dialect, settings.mode != "compatible",
            None if settings.mode == "embedded" else settings.replicas.described,
            tuple(collective_conditions()),
        )  # fmt: skip
        self._checker = Checker(limits)
        self._files = FileStore(paths.files)
        self._sessions = Sessions(store, settings, paths.state)
        self._sessions.post = engine.post
        self._orders = LaunchOrders(store, self._checker, self._files, self._sessions)
        address, relay = settings.launcher_address, settings.relay
        self._own_launchers = ApplicationLaunchers(settings.application_launchers)
        self._launchers = Launchers(
            paths.launchers, settings.mpiexec, address, relay, self._own_launchers
        )
        self._launchers.post, self._orders.proxy = engine.post, self._launchers.words
        board = engine.scheduler.cache.board
        self._orders.node_cpus, self._orders.overlay_answer = board.node_cpus, board.overlay_answer
        self._orders.library = OverlayLibrary(settings.overlay_library)
        self._sites = SiteDispatcher(engine, self._orders, self._fail)
        self._glideins = self._sites.glideins = GlideinCarrier(engine, self._sites, self._orders, settings)
        self._sessions.site_of = self._sites.site_of
        self._lines = LineSessions(store, settings, paths.state / "lines")
        self._keys = _key_distribution(store, engine.scheduler, self._sessions, self._sites)
        self._agents = _agents(engine.scheduler, self._sessions, self._sites, self._lines)
        local = _local(paths, settings)
        results = ResultLimits(**{one.name: getattr(settings, one.name) for one in fields(ResultLimits)})
        self._choice = RetentionChoice(paths.retention, settings, results)
        making = partial(site_for, limits=results)
        self._registry = SiteRegistry(SiteSpecs(paths.sites), self._sites, engine, local, making)
        self._discovery = SiteDiscovery(look_at)
        self._outside = OutsideWatch(store, self._registry, self._stream.topics.sites_changed)
        self._updaters = _updaters(settings, engine, self._registry.nodes.joined(local.look, LOCAL, LOCAL))
        local.facts_changed = partial(self._updaters.ask, LOCAL)

    def _accept_jobs(self) -> None:
        """Submissions, and what may happen to jobs that have ended."""
        settings = self._settings
        items = ItemChecker(
            self._checker, self._files, self._data, self._sessions.desks, settings.sandbox_limit
        )
        items.launchers = self._own_launchers
        self._submissions = Submissions(self._engine, items, self._orders, self._files, settings.backlog_max)
        self._reruns = Reruns(self._engine, self._orders, self._submissions)
        self._ended = EndedJobs(self._engine)
        self._purging = Purging(self._engine, self._ended, self._registry, self._submissions)
        self._retention = Retention(self._choice, self._sites, self._ended, self._purging)

    def _answer(self, shutdown: Shutdown) -> Parts:
        """What the routes show and do."""
        engine, sites, registry, orders = self._engine, self._sites, self._registry, self._orders
        checker, submissions, updaters = self._checker, self._submissions, self._updaters
        self._status = BrokerStatus(self._paths, self._settings, self._store, self._stream, submissions)
        jobs = JobViews(engine, sites, orders, checker)
        output = JobOutput(sites, registry, orders, checker)
        slots_first = self._settings.interactive_mode == InteractiveMode.SLOTS_FIRST
        known = KnownResources(
            engine.scheduler, updaters, cache=self._settings.cache, slots_first=slots_first
        )
        every: tuple[object, ...] = (
            self._settings, self._store, self._stream, engine, checker, submissions, self._reruns,
            self._ended, self._purging, self._choice, self._retention,
            self._files, sites, registry, self._discovery, self._outside, updaters, self._replicas,
            self._policies, self._sessions, self._lines, self._keys, self._status, shutdown, jobs,
            QueueViews(engine, jobs, self._policies),
            SiteViews(engine, sites, registry, updaters),
            SlotViews(self._store, engine.core.part(GlideinMonitor), self._slot_counts, self._settings),
            ListMatch(known, self._data, self._context, self._policies),
            output,
            LogSearches(output),
            LineJobs(self._store, sites, orders),
            StartForecasts(registry, engine),
            SiteTester(registry, self._files, submissions, self._settings.network_test),
        )  # fmt: skip
        return {type(part): part for part in every}

    async def start(self) -> None:
        """Take the live jobs over, then answer on the socket."""
        self._registry.connect(self._updaters)
        died = self._paths.holder.exists()
        self._slot_counts.take(await self._store.entity_steps(SLOT))
        await recover(self._engine, self._orders, self._sites, self._updaters, self._fail, died=died)
        self._launchers.adopt([job.record for job in self._engine.scheduler.live() if job.at_site])
        self._engine.connect(self._carriers())
        self._glideins.start()
        await self._outside.start()
        await self._listener.open()
        self._write_holder()
        self._keys.start()
        self._retention.start()
        self._agents.start(job.record for job in self._engine.scheduler.live())
        log.info("Broker %s answers on %s", VERSION, self._listener.path)
        if older := agents(self._settings.agent_program).older:
            log.warning("Interactive jobs at other sites: %s", older)

    async def stop(self) -> None:
        """Stop accepting, let requests finish, save, and leave what runs running."""
        await self._submissions.settle()
        self._stream.close()
        await self._listener.close(LAST_REQUESTS)
        await self._retention.close()
        self._engine.stop()
        for part in (self._agents, self._keys, self._lines, self._updaters, self._launchers, self._glideins):
            await part.close()
        self._registry.close()
        for one in (self._outside, self._discovery, self._data, self._sites):
            await one.close()
        await self._engine.settled()
        self._paths.holder.unlink(missing_ok=True)
        self._store.close()
        log.info("Broker stopped")

    def _carriers(self) -> dict[type, Carrier]:
        """Who carries out what leaves the engine."""
        return {
            **self._glideins.carriers(),
            Ask: lambda _: self._updaters.ask(),
            LateMessage: self._ended.stray,
            ReleaseBarrier: self._release,
            EndLauncher: self._launchers.end,
        }

    def _release(self, effect: ReleaseBarrier) -> None:
        """All components of a job are there: they compute, and who shares machines with them gives way."""
        self._launchers.release(effect)
        self._glideins.released(effect)

    def _write_holder(self) -> None:
        said = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "socket": str(self._listener.path),
            "version": VERSION,
            "epoch": self._store.epoch,
            "started": self._status.started,
        }
        fresh = self._paths.holder.with_suffix(".new")
        try:
            fresh.write_bytes(orjson.dumps(said))
            fresh.chmod(0o600)
            fresh.replace(self._paths.holder)
        except OSError as error:
            # Clients find the socket by its usual name; a full disk must not keep the broker from answering.
            log.warning("The holder file could not be written: %s", error)


def _policies(places: Paths, settings: Settings) -> ActivePolicies:
    plugins = PolicyPlugins(settings.mode)
    return ActivePolicies(places.policies, plugins, settings.policy, settings.queue_policy)


def _replicas(
    places: Paths, settings: Settings, found: Callable[[], None]
) -> tuple[ReplicaMemory, DataLocality]:
    memory = ReplicaMemory(catalog(settings.replicas, places.replicas), time.monotonic, found)
    embedded = settings.mode == "embedded"
    described = DescribedCatalogs(settings.replicas, embedded, time.monotonic, found)
    return memory, DataLocality(memory, described)


def _key_distribution(
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
    limits = LocalSettings(file_limit=settings.output_max, nice=settings.job_nice)
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
        gather_timeout=settings.gather_timeout,
        rematch_interval=settings.rematch_interval,
        infeasible_timeout=settings.infeasible_timeout,
        interactive_start=settings.interactive_start,
        interactive_elsewhere=settings.interactive_elsewhere,
        interactive_mode=InteractiveMode(settings.interactive_mode),
        max_rematch=settings.max_rematch,
        queue_ahead=QUEUE_AHEAD,
        temp_bad_period=settings.temp_bad_period,
        first_bad_period=settings.first_bad_period,
        exclusive_interval=settings.exclusive_interval,
        batch_capacity=settings.batch_capacity,
        max_site_queue=settings.max_site_queue,
        cache=settings.cache,
        access_needed=True,
    )


def _updaters(settings: Settings, engine: Engine, facts: Looking) -> Updaters:
    def heard(said: SourceHeard) -> None:
        """A source has spoken; three of its intervals later its word is stale, unless set otherwise."""
        interval = settings.stale_after / 3 if settings.stale_after else said.interval
        engine.post(replace(said, interval=interval))

    def changed() -> None:
        """How a source does is shown among the sources, and on the card of the site that it is."""
        engine.stream.topics.resources_changed()
        engine.stream.topics.sites_changed()

    own = [SiteUpdater(facts, LOCAL, LOCAL_INTERVAL)]
    return Updaters(settings.sources, heard, now, own=own, changed=changed)


def unusable(places: Paths, error: OSError) -> CrossDeskError:
    """The refusal of a state directory that cannot be used."""
    return CrossDeskError(
        f"The state directory cannot be used: {(error.strerror or str(error)).lower()}.",
        place=str(error.filename or places.state),
        code="state_directory_unusable",
        remedy="Make it writable for you, or name another one with --state-dir or CROSSDESK_STATE_DIR.",
    )
