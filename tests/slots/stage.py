"""A glidein monitor on a stage: messages go in by hand, time passes as the test says."""

from __future__ import annotations

import math
from collections import Counter
from itertools import count
from typing import Any, TypeVar

from broker_core.jobs.placement import Component
from broker_core.reactor.entities import EntityEvent, RecordEvent, RecoveredEntity
from broker_core.reactor.reactor import Now, TimerFired, Wake
from broker_core.scheduling.slots.claim_life import CLAIM_LIFE
from broker_core.scheduling.slots.effects import SpareMachines, StartGlidein, StartPayload, StopGlidein
from broker_core.scheduling.slots.glidein_life import GLIDEIN_LIFE
from broker_core.scheduling.slots.messages import (
    GlideinAccepted,
    GlideinAlive,
    GlideinConnected,
    GlideinStarted,
    GlideinWanted,
    PayloadStarted,
    SlotsRecovered,
    SlotsWanted,
)
from broker_core.scheduling.slots.monitor import GlideinMonitor
from broker_core.scheduling.slots.records import Payload
from broker_core.scheduling.slots.rules import PriorityControl, SlotRules, SlotUse
from broker_core.scheduling.slots.slot_life import SLOT_LIFE

E = TypeVar("E")
CE = "ce.example.org:2119/jobmanager-slurm-all"
OTHER_CE = "ce.example.net:2119/jobmanager-sge-all"
EPOCH = 1.8e9
MINUTE = 60.0


def payload(
    job: str,
    use: SlotUse = SlotUse.BATCH,
    vo: str = "bio",
    owner: str = "ann",
    attempt: int = 1,
    index: int = 0,
) -> Payload:
    """One component of a job."""
    return Payload(Component(job, attempt, index), owner, vo, use)


def recovered(events: list[EntityEvent]) -> SlotsRecovered:
    """What a log with these events says after a start of the broker."""
    found: dict[str, RecoveredEntity] = {}
    for event in events:
        details = {**(found[event.subject].details if event.subject in found else {}), **event.details}
        found[event.subject] = RecoveredEntity(event.subject, event.new, event.seq, details)
    return SlotsRecovered(
        *(
            tuple(
                one for one in found.values() if isinstance(one.state, kind) and one.state not in table.final
            )
            for table in (GLIDEIN_LIFE, SLOT_LIFE, CLAIM_LIFE)
            for kind in (type(table.states[0]),)
        )
    )


class Stage:
    """The monitor with its log."""

    def __init__(self, rules: SlotRules | None = None) -> None:
        self.rules = rules or SlotRules()
        self.now = 0.0
        self.log: list[EntityEvent] = []
        self.wake = math.inf
        self._ids = count(1)
        self.effects: list[Any] = []
        """All of them, oldest first."""
        self.spare = Counter[str]()
        """Processors that glideins hold for no batch job, by computing element, as the effects say."""
        self.monitor = self._new()

    def _new(self) -> GlideinMonitor:
        return GlideinMonitor(count(len(self.log) + 1).__next__, lambda: f"id{next(self._ids)}", self.rules)

    def tell(self, message: object) -> list[Any]:
        """What follows from a message, the timer apart; what is recorded goes into the log."""
        found = []
        for effect in self.monitor.handle(message, Now(EPOCH + self.now, self.now)):
            if isinstance(effect, RecordEvent):
                self.log.append(effect.event)
            elif isinstance(effect, Wake):
                self.wake = effect.at
            else:
                found.append(effect)
        for one in all_of(found, SpareMachines):
            self.spare[one.ce] += one.cpus
        assert self.monitor.validate() == []
        spare = self.monitor.spare
        assert self.spare == Counter(one.ce for one, _ in self.monitor.glideins() if one.id in spare)
        self.effects += found
        return found

    def let_pass(self, seconds: float) -> list[Any]:
        """Time passes; the timer fires when it was asked to."""
        end, found = self.now + seconds, []
        while self.wake <= end:
            self.now, self.wake = max(self.now, self.wake), math.inf
            found += self.tell(TimerFired())
        self.now = end
        return found

    def kill_and_start(self) -> list[Any]:
        """The broker is killed and started again: nothing but the log is left."""
        self.monitor, self.wake = self._new(), math.inf
        self.spare.clear()
        return self.tell(recovered(self.log))

    # --- short ways

    def joined(
        self,
        job: str,
        use: SlotUse = SlotUse.BATCH,
        ce: str = CE,
        priorities: PriorityControl = PriorityControl.BOTH_WAYS,
        **more: Any,
    ) -> tuple[str, str]:
        """The glidein of a job, which joined, and the claim of the job in it, which runs."""
        glidein = self.requested(job, use, ce, **more)
        self.tell(GlideinAccepted(glidein))
        self.tell(GlideinStarted(glidein))
        started = only(self.tell(GlideinConnected(glidein, "n1", priorities=priorities)), StartPayload)
        self.tell(PayloadStarted(started.claim))
        return glidein, started.claim

    def requested(self, job: str, use: SlotUse = SlotUse.BATCH, ce: str = CE, **more: Any) -> str:
        """The glidein of a job, which goes to its site."""
        return only(self.tell(GlideinWanted(payload(job, use, **more), ce)), StartGlidein).glidein

    def claimed(self, *payloads: Payload) -> list[StartPayload]:
        """Payloads of a request that got their slots, and run."""
        starts = all_of(self.tell(SlotsWanted(payloads)), StartPayload)
        assert [one.payload for one in starts] == list(payloads)
        for one in starts:
            self.tell(PayloadStarted(one.claim))
        return starts

    def state(self, subject: str) -> str:
        """What the log says of an entity last."""
        return next(str(event.new) for event in reversed(self.log) if event.subject == subject)

    def slots_of(self, glidein: str) -> list[str]:
        """The states of the two slots of a glidein that is in the pool."""
        ((one, _),) = [one for one in self.monitor.glideins() if one[0].id == glidein]
        return [str(self.monitor.state_of(slot)) for slot in one.slots.values()]

    def alive(self, *glideins: str) -> None:
        """Signs of life."""
        for one in glideins:
            assert not all_of(self.tell(GlideinAlive(one)), StopGlidein)


def all_of(effects: list[Any], kind: type[E]) -> list[E]:
    """The effects of one type."""
    return [one for one in effects if isinstance(one, kind)]


def only(effects: list[Any], kind: type[E]) -> E:
    """The one effect of a type."""
    (one,) = all_of(effects, kind)
    return one


def wanted(
    job: str, ce: str = CE, needs: str = "one", others: tuple[str, ...] = (), **more: Any
) -> GlideinWanted:
    """A job of a minute, whose glidein lasts five."""
    return GlideinWanted(payload(job, **more), ce, needs, MINUTE, 5 * MINUTE, others)


def busy(stage: Stage, job: str = "j1") -> tuple[str, str]:
    """A glidein that runs the job which caused it, and the claim of that."""
    glidein = only(stage.tell(wanted(job)), StartGlidein).glidein
    stage.tell(GlideinAccepted(glidein))
    stage.tell(GlideinStarted(glidein))
    return glidein, only(stage.tell(GlideinConnected(glidein, "n1")), StartPayload).claim
