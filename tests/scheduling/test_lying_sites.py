"""Sites that say anything about any attempt, twice, late or never (reliability cases 10 to 12)."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from broker_core.jobs.attempt_events import (
    AttemptAccepted,
    AttemptEnded,
    AttemptRefused,
    AttemptRuns,
    AttemptStarted,
)
from broker_core.jobs.placement import Component
from broker_core.jobs.states import JobState
from broker_core.scheduling.messages import CancelAsked, ElsewhereAsked, Message, ReleaseAsked
from tests.scheduling.stage import PLAIN, Stage, resource

SITES = ("a", "b", "c")
TEXTS = (PLAIN, 'JobType = "Interactive"; Executable = "/bin/true";')
FAILURES = ("", "download", "starter", "agent", "lost", "lease", "killed", "executable-missing", "wall-limit")
Key = tuple[str, int]


def sites() -> list[str]:
    return [f"{name}:22/jobmanager-slurm-x" for name in SITES]


class LyingSites(RuleBasedStateMachine):
    """Attempts of the world beside what is said of them: only a site that tells the truth about an end, and
    the broker's own cancels, make an attempt end here."""

    def __init__(self) -> None:
        super().__init__()
        self.stage = Stage([resource(ce, cpus=2 + place) for place, ce in enumerate(sites())])
        for one in self.stage.resources[:1]:
            one.attributes["CrossDeskAbilities"] = ["interactive"]
        self.stage.refresh()
        self.alive: set[Key] = set()
        """Attempts that could run."""
        self.known: set[Key] = set()
        self.finals: dict[str, JobState] = {}
        self.silent: set[str] = set()

    @rule(text=st.sampled_from(TEXTS), number=st.integers(1, 3))
    def submit(self, text: str, number: int) -> None:
        self.stage.submit(text, number)
        self._look()

    @rule(site=st.sampled_from(SITES), state=st.sampled_from(("connected", "retrying", "down", "drained")))
    def a_connection_changes(self, site: str, state: str) -> None:
        (self.silent.discard if state == "connected" else self.silent.add)(site)
        self.stage.link(site, state, "" if state == "connected" else "it is said")
        self._look()

    @rule(seconds=st.sampled_from((1.0, 20.0, 400.0, 4000.0)))
    def time_passes(self, seconds: float) -> None:
        self.stage.wait(seconds)
        self._look()

    @precondition(lambda self: self.stage.records)
    @rule(data=st.data(), what=st.sampled_from((CancelAsked, ElsewhereAsked, ElsewhereAsked, ReleaseAsked)))
    def the_owner_asks(self, data: st.DataObject, what: type) -> None:
        self.stage.tell(what(data.draw(st.sampled_from(sorted(self.stage.records)))))
        self._look()

    @rule(died=st.booleans())
    def the_broker_starts_again(self, died: bool) -> None:
        """Sites end what the new broker does not name."""
        self.stage.restart(died=died)
        current = {(one.id, one.record.attempt) for one in self.stage.scheduler.live() if one.at_site}
        self.alive &= current
        self._look()

    @precondition(lambda self: self.known)
    @rule(data=st.data(), failure=st.sampled_from(FAILURES), code=st.sampled_from((None, 0, 3)))
    def a_site_says_the_truth_about_an_end(self, data: st.DataObject, failure: str, code: int | None) -> None:
        key = data.draw(st.sampled_from(sorted(self.known)))
        self.alive.discard(key)
        self._hear(AttemptEnded(Component(*key), self.stage.wall, code, failure=failure))

    @precondition(lambda self: self.known)
    @rule(
        data=st.data(),
        what=st.sampled_from(("accepted", "held", "refused", "down", "runs", "started")),
        twice=st.booleans(),
        beyond=st.booleans(),
    )
    def a_site_says_anything(self, data: st.DataObject, what: str, twice: bool, beyond: bool) -> None:
        job, number = data.draw(st.sampled_from(sorted(self.known)))
        number += 5 * beyond
        said: dict[str, Message] = {
            "accepted": AttemptAccepted(Component(job, number)),
            "held": AttemptAccepted(Component(job, number), held=True),
            "refused": AttemptRefused(Component(job, number), "no"),
            "down": AttemptRefused(Component(job, number), "no answer", down=True),
            "runs": AttemptRuns(Component(job, number)),
            "started": AttemptStarted(Component(job, number), self.stage.wall),
        }
        for _ in range(1 + twice):
            self._hear(said[what])

    def _hear(self, message: Message) -> None:
        self.stage.tell(message)
        self._look()

    def _look(self) -> None:
        self.stage.run()
        for submit in self.stage.submits:
            key = submit.record.id, submit.record.attempt
            if key not in self.known:
                self.known.add(key)
                self.alive.add(key)
        for cancel in self.stage.cancels:
            if cancel.ce.site not in self.silent:
                self.alive.discard((cancel.record.id, cancel.record.attempt))
        self.stage.submits.clear()
        self.stage.cancels.clear()
        self.stage.confirms.clear()

    @invariant()
    def what_has_ended_stays_as_it_is(self) -> None:
        for job, record in self.stage.records.items():
            if record.state.ended:
                assert self.finals.setdefault(job, record.state) is record.state

    @invariant()
    def attempts_are_numbered_without_gaps_and_none_is_handed_over_under_two_numbers(self) -> None:
        for job, record in self.stage.records.items():
            assert {number for one, number in self.known if one == job} == set(range(1, record.attempt + 1))

    @invariant()
    def every_job_at_a_site_has_exactly_its_own_commitment(self) -> None:
        cache = self.stage.scheduler.cache
        given = {job for ce in sites() for job in cache.commitments_at(ce)}
        assert given == {job.id for job in self.stage.scheduler.live() if job.at_site}

    def teardown(self) -> None:
        """All sites are in contact again and tell the truth: every job ends, and what was given up is asked
        to end where it shows itself."""
        for site in SITES:
            self.a_connection_changes(site, "connected")
        for _ in range(150):
            for job in self.stage.records:
                self.stage.tell(ReleaseAsked(job))
            self.stage.refresh()
            self._look()
            current = {(one.id, one.record.attempt) for one in self.stage.scheduler.live() if one.at_site}
            for key in sorted(self.alive - current):
                self._hear(AttemptStarted(Component(*key), self.stage.wall))
                assert key not in self.alive, "it shows itself and is not asked to end"
            for key in sorted(current):
                self.alive.discard(key)
                self._hear(AttemptEnded(Component(*key), self.stage.wall, 0, started=self.stage.wall))
            self.stage.wait(700)
            if all(record.state.ended for record in self.stage.records.values()):
                break
        stuck = [job for job, record in self.stage.records.items() if not record.state.ended]
        assert not stuck, [self.stage.types(job) for job in stuck]
        assert not self.alive


TestLyingSites = LyingSites.TestCase
TestLyingSites.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
