"""A stage for the scheduler: a clock, resources, jobs from real descriptions, and what it decided."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import count

from broker_core.jdl.check import check
from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptStarted
from broker_core.jobs.events import EventSource, JobEvent
from broker_core.jobs.failure_history import past_of
from broker_core.jobs.placement import Component
from broker_core.jobs.record import JobRecord, apply, first_record
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType, next_state
from broker_core.matching.context import Context
from broker_core.matching.match import Matches, match
from broker_core.reactor.core import Core
from broker_core.reactor.effect_runner import EffectRunner
from broker_core.reactor.reactor import Now, TimerFired, Wake
from broker_core.resources.facts import SourceHeard, facts_of
from broker_core.resources.pool import Pool
from broker_core.resources.record import Resource
from broker_core.scheduling.build import build
from broker_core.scheduling.coallocation.messages import EndLauncher, ReleaseBarrier
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.demand import Demand, demand_of
from broker_core.scheduling.effects import Ask, Cancel, Confirm, LateMessage, Record, Submit
from broker_core.scheduling.messages import Arrival, JobsRecovered, LinkChanged, Message, SubmissionRecorded

PLAIN = 'Executable = "/bin/true";'
CE = "here:2119/jobmanager-fork-local"
MANY, SOME = 500, 100
"""The state is checked after each message, and where there are many jobs after each so many messages."""


def resource(name: str = CE, cpus: int = 2, free: int | None = None) -> Resource:
    return Resource(name, name.split(":")[0], cpus, cpus if free is None else free, 0, 0, 0.0)


def matched(demand: Demand, pool: Pool, seed: int, able: frozenset[str] = frozenset()) -> Matches:
    stage_matches[0] += 1
    context = Context(site=demand.site, fuzzy_seed=seed)
    return match(demand.description, pool, context=replace(context, abilities=context.abilities | able))


stage_matches = [0]
"""Number of matches made so far."""


class Stage:
    """Drives a scheduler by hand; `wall` and `monotonic` move only when a test moves them."""

    def __init__(
        self,
        resources: Sequence[Resource] | None = None,
        rules: SchedulerConfig | None = None,
        able: frozenset[str] = frozenset(),
    ) -> None:
        """`able`: what the broker can have done besides, as in `Context.abilities`."""
        self.positions = count(1)
        self.matched = partial(matched, able=able)
        self.rules = rules or SchedulerConfig()
        self.wall, self.monotonic = 1_000_000.0, 100.0
        self.records: dict[str, JobRecord] = {}
        self.stories: dict[str, list[JobEvent]] = defaultdict(list)
        self.submits: list[Submit] = []
        self.confirms: list[Confirm] = []
        self.cancels: list[Cancel] = []
        self.strays: list[LateMessage] = []
        self.releases: list[ReleaseBarrier] = []
        self.launcher_ends: list[EndLauncher] = []
        self.wake = 0.0
        self.asks = 0
        self.runner = EffectRunner(
            {
                Record: self._record, Submit: self.submits.append, Confirm: self.confirms.append,
                Cancel: self.cancels.append, LateMessage: self.strays.append, Wake: self._wake_at,
                Ask: self._ask, ReleaseBarrier: self.releases.append, EndLauncher: self.launcher_ends.append,
            }
        )  # fmt: skip
        self.resources = [resource()] if resources is None else list(resources)
        self._messages = 0
        self.restart()

    def restart(self, *, died: bool = False) -> list[object]:
        """A broker ended, or killed, and started again: only what was recorded is left."""
        self.scheduler = build(self.matched, lambda: next(self.positions), self.rules)
        self.core = Core([self.scheduler])
        self.runner.require(self.core.gives)
        self.refresh()
        live = [record for record in self.records.values() if record.state.active]
        arrivals = (Arrival(one, self._demand(one), past=past_of(self.stories[one.id])) for one in live)
        return self.tell(JobsRecovered(tuple(arrivals), died))

    def tell(self, message: Message) -> list[object]:
        effects = self.core.handle(message, Now(self.wall, self.monotonic))
        self.runner.run(effects)
        self._messages += 1
        if len(self.records) <= MANY or self._messages % SOME == 0:
            problems = self.core.validate()
            assert not problems, problems
        return effects

    def refresh(self, *resources: Resource) -> list[object]:
        """The sites tell how they are, those named or as at the beginning; each is used by an account."""
        facts = tuple(map(facts_of, resources or self.resources))
        return self.tell(
            SourceHeard("sites", self.wall, self.monotonic, facts, complete=True, interval=1e9, account=True)
        )

    def run(self) -> None:
        """Let every slice that follows at once be done."""
        while self.wake <= self.monotonic:
            self.tell(TimerFired())

    def wait(self, seconds: float) -> None:
        """Let time pass, with every timer on its way."""
        end = self.monotonic + seconds
        while self.wake <= end:
            step = max(0.0, self.wake - self.monotonic)
            self.monotonic += step
            self.wall += step
            self.tell(TimerFired())
        self.wall += end - self.monotonic
        self.monotonic = end

    def submit(
        self,
        text: str = PLAIN,
        number: int = 1,
        site: str = "",
        hold: str = "",
        sweep: tuple[EventType, ...] = (),
        owner: str = "ann",
        run: bool = True,
        batch: str = "",
    ) -> list[str]:
        """Submit equal jobs; returns their ids. `sweep`: what happened to each of them already; `run`: let
        every slice that follows be done; `batch`: to which they belong."""
        self.texts = {**getattr(self, "texts", {}), text: text}
        checked = check(text)
        assert checked.description is not None, checked.diagnostics
        demand = demand_of(checked.description, text, "", site)
        arrivals = []
        for _ in range(number):
            record = self._first(text, demand, site, owner, batch)
            for kind in sweep:
                record = self._step(record, kind)
            arrivals.append(Arrival(record, demand, hold))
        self.tell(SubmissionRecorded(tuple(arrivals)))
        if run:
            self.run()
        return [arrival.record.id for arrival in arrivals]

    def _first(self, text: str, demand: Demand, site: str, owner: str, batch: str) -> JobRecord:
        description = demand.description
        event = JobEvent(
            job=f"job{len(self.records):06}", seq=1, time=self.wall, source=EventSource.UAM,
            type=EventType.SUBMITTED, old=None, new=JobState.SUBMITTED, owner=owner,
            details={"name": description.name, "structure": description.structure, "pinned": site,
                     "interactive": description.interactive, "cpus": description.cpus, "description": text,
                     "batch": batch},
            position=next(self.positions),
        )  # fmt: skip
        record = first_record(event)
        self.records[record.id] = record
        self.stories[record.id].append(event)
        return record

    def _step(self, record: JobRecord, kind: EventType) -> JobRecord:
        event = JobEvent(
            job=record.id, seq=record.seq + 1, time=self.wall, source=EventSource.SCHEDULER, type=kind,
            old=record.state, new=next_state(record.state, kind), owner=record.owner, reason="as the others",
            position=next(self.positions),
        )  # fmt: skip
        self.records[record.id] = apply(record, event)
        self.stories[record.id].append(event)
        return self.records[record.id]

    def _demand(self, record: JobRecord) -> Demand:
        description = check(record.description).description
        assert description is not None
        return demand_of(description, record.description, "", record.pinned)

    def _record(self, effect: Record) -> None:
        event, record = effect.event, effect.record
        before = self.records[event.job]
        assert event.old is before.state
        assert event.new is next_state(before.state, event.type)
        assert record == apply(before, event)
        self.records[event.job] = record
        self.stories[event.job].append(event)

    def _wake_at(self, effect: Wake) -> None:
        self.wake = effect.at

    def _ask(self, _: Ask) -> None:
        self.asks += 1

    # --- what a site says

    def accepted(self, job: str, *, held: bool = False) -> None:
        self.tell(AttemptAccepted(Component(job, self.records[job].attempt), held=held))

    def started(self, job: str) -> None:
        self.tell(AttemptStarted(Component(job, self.records[job].attempt), self.wall))

    def ended(self, job: str, exit_code: int | None = 0, **facts: object) -> None:
        message = AttemptEnded(Component(job, self.records[job].attempt), self.wall, exit_code)
        self.tell(replace(message, **facts))  # type: ignore[arg-type]

    def link(self, site: str, state: str = "connected", reason: str = "") -> None:
        """The connection to a site is another one."""
        self.tell(LinkChanged(site, state, reason, state == "connected"))
        self.run()

    def through(self, job: str) -> None:
        """Accepted, started and ended well."""
        self.accepted(job)
        self.started(job)
        self.ended(job)

    def state(self, job: str) -> JobState:
        return self.records[job].state

    def types(self, job: str) -> list[str]:
        return [event.type.value.removeprefix("job.") for event in self.stories[job]]
