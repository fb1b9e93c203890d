"""Whatever comes in whatever order, an attempt at a remote site goes along its table."""

from __future__ import annotations

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from broker_core.jobs.attempt_events import AttemptFound, AttemptRuns, AttemptStarted
from broker_core.jobs.placement import Component
from broker_core.sites.adapter import AttemptStatus, PollResult, Sighting
from broker_core.sites.remote.attempt_life import (
    ATTEMPT_LIFE,
    AttemptEvent,
    Ending,
    Over,
    arrived,
    ending,
    offered,
    over,
    unanswered,
)
from broker_core.sites.remote.completion_detection import PRESENT, is_over, note_sighting, notices
from broker_core.sites.remote.remote_attempt import Origin, RemoteAttempt, Reported, Requested, RequestSent
from broker_core.sites.remote.settings import RemoteSettings

AGAIN = 2.0
SETTINGS = RemoteSettings(patience=9.0, short_patience=3.0)
STARTED = b"pid 7\nstarter 6\nuptime 5.0\ntime 1000\nnode n1\n.\n"
SIGHTINGS = some.builds(
    Sighting,
    some.sampled_from(AttemptStatus),
    id=some.sampled_from(["", "12"]),
    reason=some.sampled_from(["", "Priority", "Resources"]),
    started=some.sampled_from([b"", STARTED[:-9], STARTED]),
    beat=some.sampled_from([b"", b"1", b"2"]),
)


class LifeOfAnAttempt(RuleBasedStateMachine):
    """What the engine wants, what the site answers, and what looks show, mixed as they like."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.one = RemoteAttempt(Component("j", 1))
        self.notices: Counter[type] = Counter()

    @rule(seconds=some.floats(0.0, 30.0))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule()
    def submit(self) -> None:
        self.one.origin = Origin.ORDERED
        if self.one.arrived is None and not isinstance(self.one.life, Over):
            self.one.life = offered(self.one.life)

    @rule(id=some.sampled_from(["", "12", None]))
    def answer(self, id: str | None) -> None:
        if self.one.is_offered and id is not None:
            self.one.id, self.one.life = id, arrived(self.one.life, self.now)
        self.one.life = unanswered(self.one.life)
        assert not self.one.is_offered

    @rule(which=some.sampled_from(["release", "cancellation"]))
    def want(self, which: str) -> None:
        if not isinstance(getattr(self.one, which), RequestSent):
            setattr(self.one, which, Requested())

    @rule()
    def ask_the_site(self) -> None:
        one = self.one
        assert not (one.cancel_due(self.now, AGAIN) and one.release_due(self.now, AGAIN))
        if one.cancel_due(self.now, AGAIN):
            one.cancellation = RequestSent(self.now)
        if one.release_due(self.now, AGAIN):
            assert one.seen in (None, AttemptStatus.HELD), "only what is held is let go"
            one.release = RequestSent(self.now)
        assert not one.cancel_due(self.now, AGAIN), "nothing is asked for again at once"
        assert not one.release_due(self.now, AGAIN)

    @rule(sighting=SIGHTINGS)
    def look(self, sighting: Sighting) -> None:
        if isinstance(self.one.life, Over):
            return
        note_sighting(self.one, sighting, self.now)
        self.notices.update(type(notice) for notice in notices(self.one, sighting, self.now))
        self._judge(PollResult({self.one.tag: sighting}))
        assert self.one.arrived is not None
        assert self.one.absence is None or sighting.seen not in PRESENT

    @rule()
    def look_in_vain(self) -> None:
        if not isinstance(self.one.life, Over):
            self._judge(PollResult({}, missing=frozenset({self.one.tag})))

    @rule(event=some.sampled_from([AttemptEvent.REPORTED, AttemptEvent.REFUSED]))
    def let_be(self, event: AttemptEvent) -> None:
        if isinstance(self.one.life, Ending):
            self.one.life = over(self.one.life, event)

    @invariant()
    def it_is_in_a_state_of_its_table(self) -> None:
        assert type(self.one.life) in ATTEMPT_LIFE.states

    @invariant()
    def each_notice_came_once(self) -> None:
        assert max(self.notices[AttemptStarted], self.notices[AttemptRuns], self.notices[AttemptFound]) <= 1
        assert (self.one.reported is Reported.STARTED) == (self.notices[AttemptStarted] == 1)

    @invariant()
    def what_has_begun_is_at_the_site(self) -> None:
        assert self.one.mark is None or self.one.arrived is not None

    def _judge(self, polled: PollResult) -> None:
        if is_over(self.one, polled, self.now, self.now, SETTINGS):
            self.one.life = ending(self.one.life)
            assert not is_over(self.one, polled, self.now + 100, self.now + 100, SETTINGS), "it ends once"


def test_any_attempt_goes_along_its_table(soak: bool) -> None:
    steps = settings(max_examples=3000 if soak else 150, stateful_step_count=40, deadline=None)
    run_state_machine_as_test(LifeOfAnAttempt, settings=steps)
    assert ATTEMPT_LIFE.faults() == []
