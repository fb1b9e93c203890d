"""Drives the scheduler through a trace on a virtual clock: the next moment is the next thing that happens.

At one moment, sites speak first, then users submit, then the scheduler's timer fires. Only what a broker
does around its scheduler is missing: nothing is stored and nothing crosses a wire.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from broker_core.jobs.attempt_events import AttemptReport
from broker_core.jobs.events import JobEvent
from broker_core.jobs.members import members
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.reactor.core import Core
from broker_core.reactor.effect_runner import Carrier, EffectRunner
from broker_core.reactor.reactor import Now, TimerFired, Wake
from broker_core.scheduling.coallocation.messages import EndLauncher, ReleaseBarrier
from broker_core.scheduling.demand import Demand
from broker_core.scheduling.effects import Ask, Cancel, Confirm, LateMessage, Record, Submit
from broker_core.scheduling.messages import Arrival, SubmissionRecorded
from broker_core.simulation import production
from broker_core.simulation.site import SimulatedAttempt, SimulatedSite, SiteFacts
from broker_core.simulation.trace import WorkloadTrace

S = members(JobState)
Listener = Callable[[JobEvent], None]
"""Hears every event that the scheduler records."""


class TraceReplay:
    """One run; `run` may be called once."""

    def __init__(
        self,
        trace: WorkloadTrace,
        sites: Sequence[SiteFacts],
        core: Core,
        listener: Listener | None = None,
        carriers: Mapping[type, Carrier] | None = None,
    ) -> None:
        """`carriers`: of effects that a broker with the scheduler alone does not have. Nobody confirms or
        cancels here, and no message is late."""
        self.now = 0.0
        self.epoch = trace.begin
        self.trace = trace
        self.start = [math.nan] * len(trace)
        self.end = [math.nan] * len(trace)
        self.place = [-1] * len(trace)
        """Number of the site where each job ran; -1 where it never did."""
        self.over = 0
        """Jobs that have ended, or were given up."""
        self.sites = [SimulatedSite(facts, number, self) for number, facts in enumerate(sites)]
        self._by_ce = {site.facts.ce: site for site in self.sites}
        self._core = core
        own: dict[type, Carrier] = {
            Record: self._record,
            Submit: self._send,
            Wake: self._wake_at,
            Ask: self._ask,
        }
        self._runner = EffectRunner({**own, **(carriers or {})})
        self._runner.require(core.gives - {Confirm, Cancel, ReleaseBarrier, EndLauncher, LateMessage})
        self._listener = listener
        self._alarms: list[tuple[float, int, Callable[[Any], None], Any]] = []
        self._alarm_number = 0
        self._at_once: deque[tuple[Callable[[Any], None], Any]] = deque()
        self._wake = math.inf
        self._submitted = 0
        self._next_submission = trace.submit[0]
        self._begun = 0
        self._demands: dict[tuple[int, float], Demand] = {}
        self._clock = Now(self.epoch, 0.0)

    def run(self, progress: Callable[[TraceReplay], None] | None = None, every: int = 0) -> None:
        """Replay all jobs; `progress` is called after each `every` of them (0: a hundredth)."""
        for site in self.sites:
            self._publish(site)
        told, at_once, jobs = 0, self._at_once, len(self.trace)
        while self.over < jobs:
            while at_once:
                action, subject = at_once.popleft()
                action(subject)
            self._step()
            if progress is not None and self.over - told >= (every or jobs / 100):
                told = self.over
                progress(self)

    def standing(self) -> dict[str, float]:
        """How far it is, as JSON: jobs over and in all, virtual time, share of CPUs in use, jobs waiting."""
        cpus = sum(site.facts.cpus for site in self.sites)
        return {
            "over": self.over,
            "jobs": len(self.trace),
            "time": self.now,
            "utilization": 1.0 - sum(site.free for site in self.sites) / cpus,
            "waiting": self._submitted - self._begun,
        }

    def _step(self) -> None:
        """Let the next thing happen."""
        alarm = self._alarms[0][0] if self._alarms else math.inf
        submission = self._next_submission
        wake = self._wake if self._wake > self.now else self.now
        if alarm <= submission and alarm <= wake:
            self._advance(alarm)
            _, _, action, subject = heapq.heappop(self._alarms)
            action(subject)
        elif submission <= wake:
            self._advance(submission)
            self._submit()
        else:
            self._advance(wake)
            self._wake = math.inf
            self.post(TimerFired())

    def _advance(self, moment: float) -> None:
        if moment != self.now:
            self.now = moment
            self._clock = Now(self.epoch + moment, moment)

    def _submit(self) -> None:
        """All jobs of this moment are submitted."""
        submit = self.trace.submit
        arrivals = []
        while self._next_submission == self.now:
            arrivals.append(self._arrival(self._submitted))
            self._submitted += 1
            self._next_submission = submit[self._submitted] if self._submitted < len(submit) else math.inf
        self.post(SubmissionRecorded(tuple(arrivals)))

    def _arrival(self, index: int) -> Arrival:
        cpus, limit = self.trace.cpus[index], self.trace.limit[index]
        demand = self._demands.get((cpus, limit))
        if demand is None:
            demand = self._demands[cpus, limit] = production.demand(cpus, limit)
        structure, now = demand.description.structure, self._clock.wall
        record = JobRecord(
            str(index), "trace", "job", structure, False, cpus, S.SUBMITTED, "", submitted=now, seq=1
        )
        return Arrival(record, demand)

    def post(self, event: object) -> None:
        """Hand an event to the reactors, now, and carry out what follows."""
        self._runner.run(self._core.handle(event, self._clock))

    def _record(self, effect: Record) -> None:
        if self._listener is not None:
            self._listener(effect.event)
        if effect.record.ended is not None:
            self.over += 1

    def _wake_at(self, effect: Wake) -> None:
        self._wake = effect.at

    def _ask(self, _: Ask) -> None:
        for site in self.sites:
            self.after(site.facts.answer_delay, self._answer, site)

    def _send(self, effect: Submit) -> None:
        record = effect.record
        index = int(record.id)
        attempt = SimulatedAttempt(effect.component, record.cpus, self.trace.run[index], index)
        self._by_ce[effect.ce.id].submit(attempt)

    def _publish(self, site: SimulatedSite) -> None:
        """A site reports its load, now and after each of its intervals."""
        interval = site.facts.publish_interval or math.inf
        self.post(production.report(site.facts.name, (site,), self._clock, interval))
        if site.facts.publish_interval:
            self.at(self.now + interval, self._publish, site)

    def _answer(self, site: SimulatedSite) -> None:
        self.post(production.report(site.facts.name, (site,), self._clock, math.inf))

    # --- what the sites ask for

    def after(self, delay: float, action: Callable[[Any], None], subject: Any) -> None:
        """Call `action(subject)` after a delay; without one, before anything else happens."""
        if delay <= 0:
            self._at_once.append((action, subject))
        else:
            self.at(self.now + delay, action, subject)

    def at(self, moment: float, action: Callable[[Any], None], subject: Any) -> None:
        """Call `action(subject)` at a moment, after what was to happen then already."""
        self._alarm_number += 1
        heapq.heappush(self._alarms, (moment, self._alarm_number, action, subject))

    def tell(self, message: AttemptReport, delay: float) -> None:
        """The scheduler hears a site after a delay."""
        if delay <= 0:
            self._at_once.append((self.post, message))
        else:
            self.at(self.now + delay, self.post, message)

    def started(self, attempt: SimulatedAttempt, site: SimulatedSite) -> None:
        """An application started now."""
        self.start[attempt.index] = self.now
        self.place[attempt.index] = site.number
        self._begun += 1

    def ended(self, attempt: SimulatedAttempt, site: SimulatedSite) -> None:
        """An application ended now."""
        self.end[attempt.index] = self.now
