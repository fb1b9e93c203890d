"""What the parts of the glidein monitor share: live glideins, slots and claims, each step by its table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from broker_core.reactor.entities import Entities
from broker_core.reactor.reactor import Now
from broker_core.scheduling.slots.alarms import Alarms
from broker_core.scheduling.slots.backlog import Backlog
from broker_core.scheduling.slots.claim_life import AT_WORK, CLAIM_LIFE, ClaimEvent, ClaimState
from broker_core.scheduling.slots.effects import LateGlideinMessage
from broker_core.scheduling.slots.glidein_life import GLIDEIN_LIFE, IN_POOL, GlideinEvent, GlideinState
from broker_core.scheduling.slots.records import Claim, Glidein, Key, Payload, Slot, key_of
from broker_core.scheduling.slots.rules import SlotRole, SlotRules
from broker_core.scheduling.slots.slot_life import SLOT_LIFE, SlotEvent, SlotState


class SlotPool:
    """The glideins of a broker with their slots and claims."""

    def __init__(self, positions: Callable[[], int], ids: Callable[[], str], rules: SlotRules) -> None:
        """`positions`: the next position in the log; `ids`: an id that no entity has."""
        self.rules = rules
        self.new_id = ids
        self.glideins: dict[str, Glidein] = {}
        self.slots: dict[str, Slot] = {}
        self.claims: dict[str, Claim] = {}
        self.active: dict[Key, str] = {}
        """The claim of each component that has one."""
        self.originators: dict[Key, str] = {}
        """The glidein of each component that caused one, until the component is over there."""
        self.spare: set[str] = set()
        """Glideins that hold a processor for no batch job, see `SpareMachines`."""
        self.alarms = Alarms()
        self.backlog = Backlog(self.alarms, rules.queue_timeout)
        self.now = Now(0.0, 0.0)
        self._effects: list[object] = []
        self.glidein_lives = Entities(GLIDEIN_LIFE, positions)
        self.slot_lives = Entities(SLOT_LIFE, positions)
        self.claim_lives = Entities(CLAIM_LIFE, positions)

    def begin(self, now: Now) -> list[object]:
        """Start with an event; what follows from it comes into the list that is returned."""
        self.now = now
        self._effects = []
        return self._effects

    def emit(self, *effects: object) -> None:
        """Have something done, or let the scheduler know it."""
        self._effects += effects

    def late(self, subject: str, message: str) -> None:
        """Somebody spoke of what is over or unknown."""
        self.emit(LateGlideinMessage(subject, message))

    # --- states

    def state_of_glidein(self, glidein: str) -> GlideinState | None:
        """None for one that is unknown or over."""
        return self.glidein_lives.state(glidein)

    def state_of_slot(self, slot: Slot) -> SlotState | None:
        """None for one that is closed."""
        return self.slot_lives.state(slot.id)

    def state_of_claim(self, claim: str) -> ClaimState | None:
        """None for one that is unknown or over."""
        return self.claim_lives.state(claim)

    def in_pool(self, glidein: str) -> bool:
        """True for a glidein that joined and did not end."""
        return self.state_of_glidein(glidein) in IN_POOL

    def claim_in(self, glidein: Glidein, role: SlotRole) -> Claim | None:
        """The claim that has a slot."""
        return self.claims.get(glidein.slots[role].claim)

    def taken(self, glidein: Glidein) -> int:
        """How many slots of a glidein are taken, 0 to 2."""
        return sum(bool(slot.claim) for slot in glidein.slots.values())

    def claims_at(self, glidein: Glidein) -> list[Claim]:
        """The claims of its slots and of those in line, in their order."""
        ids = [id for slot in glidein.slots.values() for id in (slot.claim, *slot.line)]
        return [self.claims[id] for id in ids if id in self.claims]

    def ahead(self, claim: Claim) -> str:
        """The claim whose payload is over before that of another begins; empty: none."""
        slot = self.slots.get(claim.slot)
        order = [] if slot is None else ["", slot.claim, *slot.line]
        return order[order.index(claim.id) - 1] if claim.id in order else ""

    def of_job(self, job: str) -> Iterator[Claim]:
        """The claims of a job that are in a slot."""
        for claim in list(self.claims.values()):
            if claim.payload.component.job == job and self.state_of_claim(claim.id) in AT_WORK:
                yield claim

    def is_originator(self, payload: Payload, glidein: str) -> bool:
        """True for the component that caused a glidein, until it is over there."""
        return self.originators.get(key_of(payload.component)) == glidein

    # --- steps

    def step_glidein(
        self, glidein: Glidein, event: GlideinEvent, reason: str = "", details: dict[str, Any] | None = None
    ) -> None:
        """A glidein does a step; once it is over it is forgotten."""
        owner = glidein.payload.owner
        self.emit(
            self.glidein_lives.step(glidein.id, event, self.now, owner=owner, reason=reason, details=details)
        )
        glidein.since = self.now.monotonic
        if self.state_of_glidein(glidein.id) is None:
            del self.glideins[glidein.id]
            self.alarms.clear(glidein.id)
            if self.is_originator(glidein.payload, glidein.id):
                del self.originators[key_of(glidein.payload.component)]

    def step_slot(self, slot: Slot, owner: str, event: SlotEvent, details: dict[str, Any]) -> None:
        """A slot does a step; once it is closed it is forgotten."""
        self.emit(self.slot_lives.step(slot.id, event, self.now, owner=owner, details=details))
        if self.state_of_slot(slot) is None:
            del self.slots[slot.id]

    def step_claim(
        self, claim: Claim, event: ClaimEvent, reason: str = "", details: dict[str, Any] | None = None
    ) -> None:
        """A claim does a step; once it is over it is forgotten."""
        owner = claim.payload.owner
        self.emit(
            self.claim_lives.step(claim.id, event, self.now, owner=owner, reason=reason, details=details)
        )
        if self.state_of_claim(claim.id) is None:
            del self.claims[claim.id]
            del self.active[key_of(claim.payload.component)]
            self.alarms.clear(claim.id)
