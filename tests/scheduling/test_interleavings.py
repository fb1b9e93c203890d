"""Any order of messages, with clock jumps and restarts: nothing is run twice, nothing is stuck."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded, AttemptRefused, AttemptStarted
from broker_core.jobs.placement import Component
from broker_core.jobs.states import JobState
from broker_core.reactor.reactor import TimerFired
from broker_core.scheduling.messages import CancelAsked, HoldAsked, ReleaseAsked
from tests.scheduling.stage import PLAIN, Stage, resource

TEXTS = (
    PLAIN,
    PLAIN + "Requirements = other.GlueCEInfoTotalCPUs >= 3;",
    'JobType = "Parallel"; SubJobType = "openmpi"; NodeNumber = 2; Executable = "/bin/true";',
    'JobType = "Interactive"; Executable = "/bin/true";',
)
ENDS = (
    {"exit_code": 0}, {"exit_code": 7}, {"signal": 15}, {"failure": "download"}, {"failure": "wall-limit"},
    {"failure": "executable-missing", "reason": "no such program"}, {"failure": "lost"},
)  # fmt: skip


@dataclass
class _AtSite:
    """What the site of the model knows of an attempt."""

    accepted: bool = False
    started: bool = False
    ended: bool = False
    refused: bool = False


class Interleavings(RuleBasedStateMachine):
    """A scheduler, and a site that does whatever it likes."""

    def __init__(self) -> None:
        super().__init__()
        self.stage = Stage([resource("a:1/x", cpus=2), resource("b:1/x", cpus=3)])
        self.site: dict[tuple[str, int], _AtSite] = {}
        self.finals: dict[str, JobState] = {}

    # --- the world

    @rule(text=st.sampled_from(TEXTS), number=st.integers(1, 4), hold=st.sampled_from(("", "", "wait")))
    def submit(self, text: str, number: int, hold: str) -> None:
        self.stage.submit(text, number, hold=hold)
        self._look()

    @rule(free=st.integers(0, 3))
    def refresh(self, free: int) -> None:
        self.stage.refresh(resource("a:1/x", cpus=2), resource("b:1/x", cpus=3, free=free))
        self._look()

    @rule(seconds=st.sampled_from((0.5, 30.0, 700.0)))
    def time_passes(self, seconds: float) -> None:
        self.stage.wait(seconds)
        self._look()

    @rule(jump=st.sampled_from((-86_400.0, -3600.0, 1.0, 3600.0)))
    def the_clock_jumps(self, jump: float) -> None:
        self.stage.wall += jump
        self.stage.tell(TimerFired())
        self._look()

    @rule()
    def the_broker_is_killed(self) -> None:
        self.stage.restart()
        self.stage.run()
        self._look()

    # --- the owner

    @precondition(lambda self: self.stage.records)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        self.stage.tell(CancelAsked(data.draw(st.sampled_from(sorted(self.stage.records)))))
        self._look()

    @precondition(lambda self: self.stage.records)
    @rule(data=st.data(), release=st.booleans())
    def hold_or_release(self, data: st.DataObject, release: bool) -> None:
        job = data.draw(st.sampled_from(sorted(self.stage.records)))
        self.stage.tell(ReleaseAsked(job) if release else HoldAsked(job, "later"))
        self._look()

    # --- the site; it may repeat itself, and speak of attempts long gone

    @precondition(lambda self: self.site)
    @rule(
        data=st.data(), end=st.sampled_from(ENDS), what=st.sampled_from(("accept", "start", "end", "refuse"))
    )
    def the_site_speaks(self, data: st.DataObject, end: dict[str, object], what: str) -> None:
        job, number = data.draw(st.sampled_from(sorted(self.site)))
        known = self.site[job, number]
        if what == "accept" and not known.refused:
            known.accepted = True
            self.stage.tell(AttemptAccepted(Component(job, number), "x"))
        elif what == "start" and not known.refused:
            known.started = True
            self.stage.tell(AttemptStarted(Component(job, number), self.stage.wall))
        elif what == "refuse" and not (known.accepted or known.started or known.ended):
            known.refused = True
            self.stage.tell(AttemptRefused(Component(job, number), "no"))
        elif what == "end" and not known.refused:
            known.ended = True
            when = self.stage.wall if known.started else None
            self.stage.tell(AttemptEnded(Component(job, number), self.stage.wall, started=when, **end))  # type: ignore[arg-type]
        self._look()

    def _look(self) -> None:
        """The site takes what it is sent; a second submission of an attempt starts nothing."""
        self.stage.run()
        for effect in self.stage.submits:
            self.site.setdefault((effect.record.id, effect.record.attempt), _AtSite())
        self.stage.submits.clear()

    # --- what must hold

    @invariant()
    def no_job_has_two_live_attempts(self) -> None:
        alive = [job for (job, _), known in self.site.items() if not (known.ended or known.refused)]
        assert len(alive) == len(set(alive))

    @invariant()
    def a_live_attempt_is_the_current_one_of_a_job_at_a_site(self) -> None:
        for (job, number), known in self.site.items():
            if not (known.ended or known.refused):
                record = self.stage.records[job]
                assert (record.attempt, record.state.ended) == (number, False)

    @invariant()
    def what_has_ended_stays_as_it_is(self) -> None:
        for job, record in self.stage.records.items():
            if record.state.ended:
                assert self.finals.setdefault(job, record.state) is record.state

    @invariant()
    def the_scheduler_has_exactly_the_active_jobs(self) -> None:
        live = {job.id for job in self.stage.scheduler.live()}
        assert live == {job for job, record in self.stage.records.items() if record.state.active}

    def teardown(self) -> None:
        """A site that works again brings every job to its end: none is stuck."""
        for job in self.stage.records:
            self.stage.tell(ReleaseAsked(job))
        for _ in range(200):
            self._look()
            for (job, number), known in list(self.site.items()):
                if not (known.ended or known.refused):
                    known.ended = True
                    wall = self.stage.wall
                    self.stage.tell(AttemptEnded(Component(job, number), wall, exit_code=0, started=wall))
            self.stage.refresh(resource("a:1/x", cpus=2), resource("b:1/x", cpus=3))
            self.stage.wait(700)
            if all(record.state.ended for record in self.stage.records.values()):
                break
        stuck = [job for job, record in self.stage.records.items() if not record.state.ended]
        assert not stuck, [self.stage.types(job) for job in stuck]


TestInterleavings = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
