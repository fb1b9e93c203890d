"""Whatever happens in whatever order, over cut lines, deaths of agents and brokers: nothing runs twice."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from broker_core.scheduling.slots.effects import (
    EndPayload,
    PayloadLost,
    PayloadReturned,
    RecallPayload,
    RenewLease,
    StartGlidein,
    StartPayload,
    StopGlidein,
)
from broker_core.scheduling.slots.messages import (
    ApplicationReleased,
    GlideinAccepted,
    GlideinAlive,
    GlideinConnected,
    GlideinGone,
    GlideinStarted,
    GlideinWanted,
    JobWithdrawn,
    PayloadEnded,
    PayloadRefused,
    PayloadStarted,
    SlotsWanted,
)
from broker_core.scheduling.slots.records import Payload
from broker_core.scheduling.slots.rules import OnRelease, SlotRole, SlotRules, SlotUse
from tests.slots.stage import CE, Stage, payload

JOBS = {
    **{f"j{number}": SlotUse.BATCH for number in range(10)},
    **{f"i{number}": SlotUse.INTERACTIVE for number in range(2)},
    **{f"p{number}": SlotUse.INTER_CLUSTER for number in range(1)},
}
RULES = {"time_in_line": 200.0, "patience_in_line": 40.0, "most_waiting": 2, "queue_timeout": 900.0}
"""Jobs take minutes here, and yet wait in line behind each other; few glideins are asked for at a time."""
QUEUES = (CE, CE.replace("-all", "-long"))


@dataclass
class Node:
    """A machine with a glidein: it runs claims, each once, until it is told otherwise or its lease ends."""

    lease_ends: float
    running: dict[str, tuple[SlotRole, Payload]] = field(default_factory=dict)
    begun: set[str] = field(default_factory=set)
    unreported: dict[str, int | None] = field(default_factory=dict)
    """Ends that the broker has not heard of."""
    waiting: dict[str, tuple[SlotRole, Payload, str]] = field(default_factory=dict)
    """Claims in line, with those that are ahead of them."""
    ended: dict[str, str] = field(default_factory=dict)
    """Claims that are over here; those that never began with the one that was ahead of them."""
    refused: set[str] = field(default_factory=set)
    """Claims that never began, of which the broker has not heard."""
    cut: bool = False
    agent: str = "up"
    """Or `down`: killed, its payloads run on until the lease ends."""

    def lapse(self, now: float) -> None:
        """The node's own guard: whatever the agent does, nothing outlives the lease."""
        if now >= self.lease_ends:
            self.go_down()

    def go_down(self) -> None:
        self.running.clear()
        self.waiting.clear()
        self.agent = "down"

    def take(self, claim: str, role: SlotRole, one: Payload, after: str) -> None:
        self.begun.add(claim)
        self.waiting[claim] = role, one, after
        self.go_on()

    def go_on(self) -> None:
        """Whatever the broker hears of it: who is next in line begins."""
        if self.agent == "down":
            return
        for claim, (role, one, after) in list(self.waiting.items()):
            if self.is_over(after):
                assert role not in [other for other, _ in self.running.values()], "a slot is used twice"
                del self.waiting[claim]
                self.running[claim] = role, one

    def is_over(self, claim: str) -> bool:
        while claim:
            if claim not in self.ended:
                return False
            claim = self.ended[claim]
        return True

    def end(self, claim: str, code: int | None) -> None:
        del self.running[claim]
        self.unreported[claim], self.ended[claim] = code, ""
        self.go_on()

    def refuse(self, claim: str) -> None:
        _, _, self.ended[claim] = self.waiting.pop(claim)
        self.refused.add(claim)
        self.go_on()


class Grid(RuleBasedStateMachine):
    """Jobs, nodes and lines, driven by chance."""

    def __init__(self) -> None:
        super().__init__()
        self.stage = Stage(SlotRules(**RULES))
        self.nodes: dict[str, Node] = {}
        self.asked: list[str] = []
        """Glideins that are at the site and did not start."""
        self.attempts = dict.fromkeys(JOBS, 1)

    def tell(self, message: object) -> None:
        self.carry_out(self.stage.tell(message))

    def carry_out(self, effects: list[Any]) -> None:
        for effect in effects:
            match effect:
                case StartGlidein(glidein=glidein):
                    if glidein not in self.asked and glidein not in self.nodes:
                        self.asked.append(glidein)
                case PayloadReturned(payload=one) | PayloadLost(payload=one):
                    assert not self.runs(one), "it may run again though it runs"
                    self.attempts[one.component.job] += 1
                case _ if (node := self.reached(effect)) is not None:
                    self.at_node(node, effect)

    def reached(self, effect: Any) -> Node | None:
        node = self.nodes.get(getattr(effect, "glidein", ""))
        return None if node is None or node.cut or node.agent == "down" else node

    def at_node(self, node: Node, effect: Any) -> None:
        match effect:
            case RenewLease():
                node.lease_ends = self.stage.now + self.stage.rules.lease
            case StartPayload() if effect.claim not in node.begun:
                node.take(effect.claim, effect.role, effect.payload, effect.after)
            case EndPayload(claim=claim) | RecallPayload(claim=claim) if claim in node.waiting:
                node.refuse(claim)
            case RecallPayload(claim=claim) if claim not in node.begun:
                node.begun.add(claim)
                node.ended[claim] = self.ahead(claim)
                node.refused.add(claim)
            case EndPayload(claim=claim) if claim in node.running:
                node.end(claim, None)
            case EndPayload(claim=claim) if claim not in node.refused | node.unreported.keys():
                node.begun.add(claim)
                node.ended.setdefault(claim, self.ahead(claim))
                node.unreported[claim] = None
            case StopGlidein():
                node.go_down()

    def ahead(self, claim: str) -> str:
        known = self.stage.monitor.claim(claim)
        return "" if known is None else self.stage.monitor.ahead(known[0])

    def runs(self, one: Payload) -> bool:
        key = one.component.job, one.component.index
        return any(
            key == (other.component.job, other.component.index)
            for node in self.nodes.values()
            for _, other, *_ in [*node.running.values(), *node.waiting.values()]
        )

    def of(self, job: str) -> Payload:
        return payload(job, JOBS[job], attempt=self.attempts[job])

    # --- what happens

    @initialize()
    def two_machines_are_there(self) -> None:
        for job in ("j0", "j1"):
            self.wants_a_glidein(job)
            self.a_glidein_starts(0, told=True)

    @rule(
        job=some.sampled_from(sorted(JOBS)),
        needs=some.sampled_from(["", "one", "one", "one"]),
        queue=some.booleans(),
        others=some.booleans(),
    )
    def wants_a_glidein(
        self, job: str, needs: str = "one", queue: bool = False, others: bool = False
    ) -> None:
        fitting = (QUEUES[not queue],) if others else ()
        self.tell(GlideinWanted(self.of(job), QUEUES[queue], needs, others=fitting))

    @rule()
    def many_want_glideins(self) -> None:
        for number in range(4, 10):
            self.wants_a_glidein(f"j{number}")

    @rule(job=some.sampled_from(sorted(JOBS)))
    def wants_a_slot(self, job: str) -> None:
        self.tell(SlotsWanted((self.of(job),)))

    @rule(job=some.sampled_from(sorted(JOBS)))
    def does_not_want_it_any_more(self, job: str) -> None:
        self.tell(JobWithdrawn(job, "canceled"))

    @rule(job=some.just("p0"))
    def all_components_are_there(self, job: str) -> None:
        self.tell(ApplicationReleased(job))

    @rule(number=some.integers(0, 20), told=some.booleans())
    def a_glidein_starts(self, number: int, told: bool) -> None:
        if self.asked:
            glidein = self.asked.pop(number % len(self.asked))
            if told:
                self.tell(GlideinAccepted(glidein))
                self.tell(GlideinStarted(glidein))
            self.nodes[glidein] = Node(self.stage.now + self.stage.rules.lease)
            self.tell(GlideinConnected(glidein, "n"))

    @rule(number=some.integers(0, 20), code=some.integers(0, 1))
    def a_payload_ends(self, number: int, code: int) -> None:
        found = [(node, claim) for node in self.nodes.values() for claim in node.running]
        if found:
            node, claim = found[number % len(found)]
            node.end(claim, code)

    @rule(number=some.integers(0, 20))
    def a_glidein_speaks(self, number: int) -> None:
        up = [name for name, node in self.nodes.items() if node.agent == "up" and not node.cut]
        if up:
            self.speak(up[number % len(up)])

    def speak(self, glidein: str) -> None:
        node = self.nodes[glidein]
        for claim in list(node.running):
            self.tell(PayloadStarted(claim))
        for claim, code in list(node.unreported.items()):
            del node.unreported[claim]
            self.tell(PayloadEnded(claim, code))
        for claim in list(node.refused):
            node.refused.discard(claim)
            self.tell(PayloadRefused(claim, "told to end before it began"))
        self.tell(GlideinAlive(glidein))

    @rule(number=some.integers(0, 20))
    def a_line_is_cut_or_mended(self, number: int) -> None:
        if self.nodes:
            glidein = sorted(self.nodes)[number % len(self.nodes)]
            node = self.nodes[glidein]
            node.cut = not node.cut
            if not node.cut and node.agent == "up":
                self.tell(
                    GlideinConnected(glidein, claims=frozenset(node.running) | frozenset(node.unreported))
                )

    @rule(number=some.integers(0, 20), noticed=some.booleans())
    def an_agent_is_killed(self, number: int, noticed: bool) -> None:
        if self.nodes:
            glidein = sorted(self.nodes)[number % len(self.nodes)]
            self.nodes[glidein].agent = "down"
            if noticed:
                self.tell(GlideinGone(glidein, "killed"))

    @rule()
    def the_broker_is_killed(self) -> None:
        self.carry_out(self.stage.kill_and_start())

    @rule(seconds=some.sampled_from([1.0, 20.0, 60.0, 130.0, 200.0]))
    def time_passes(self, seconds: float) -> None:
        for _ in range(max(1, int(seconds // 10))):
            effects = self.stage.let_pass(min(10.0, seconds))
            for node in self.nodes.values():
                node.lapse(self.stage.now)
            self.carry_out(effects)

    # --- what is always so

    @invariant()
    def no_component_runs_twice(self) -> None:
        running = [
            (one.component.job, one.component.index)
            for node in self.nodes.values()
            for _, one in node.running.values()
        ]
        assert len(running) == len(set(running))

    def teardown(self) -> None:
        """In the end everybody is quiet: every glidein ends, and every claim."""
        for _ in range(500):
            self.time_passes(10.0)
            for name, node in self.nodes.items():
                if node.agent == "up" and not node.cut:
                    for claim in list(node.running):
                        node.end(claim, 0)
                    self.speak(name)
        assert self.stage.monitor.glideins() == []
        assert [event for event in self._claims() if self.stage.monitor.claim(event)] == []
        assert all(not node.running for node in self.nodes.values())

    def _claims(self) -> set[str]:
        return {event.subject for event in self.stage.log if event.type.value == "claim.made"}


class MakingRoom(Grid):
    """The same where batch jobs make room by being ended."""

    def __init__(self) -> None:
        super().__init__()
        self.stage = Stage(SlotRules(on_release=OnRelease.CANCEL, idle_exit=0.0, **RULES))


_few = settings(
    max_examples=40, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestGrid = Grid.TestCase
TestGrid.settings = _few
TestMakingRoom = MakingRoom.TestCase
TestMakingRoom.settings = _few
