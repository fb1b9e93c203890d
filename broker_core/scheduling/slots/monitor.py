"""The Glidein Monitor: `handle(message, now)` gives what follows for glideins and their slots (section 8)."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from typing import Any, get_args

from broker_core.jobs.placement import Component
from broker_core.reactor.entities import RecordEvent
from broker_core.reactor.reactor import Now, TimerFired, Wake
from broker_core.scheduling.slots import messages
from broker_core.scheduling.slots.backlog import BACKLOG
from broker_core.scheduling.slots.claim_life import AT_WORK, ClaimState
from broker_core.scheduling.slots.claims import Claims
from broker_core.scheduling.slots.effects import ToGlidein, ToScheduler
from broker_core.scheduling.slots.glidein_life import GlideinState
from broker_core.scheduling.slots.glideins import Glideins
from broker_core.scheduling.slots.pool import SlotPool
from broker_core.scheduling.slots.records import Claim, Glidein, Payload, Slot, key_of
from broker_core.scheduling.slots.recovering import recover
from broker_core.scheduling.slots.rules import SlotRules
from broker_core.scheduling.slots.settling import is_spare
from broker_core.scheduling.slots.slot_life import SlotState


class GlideinMonitor:
    """A reactor: owns the glideins of a broker, their slots and the claims of them. Pure."""

    gives: frozenset[type] = frozenset({RecordEvent, *get_args(ToGlidein), *get_args(ToScheduler)})

    def __init__(
        self, positions: Callable[[], int], ids: Callable[[], str], rules: SlotRules | None = None
    ) -> None:
        """`positions`: the next position in the log; `ids`: an id that no entity has."""
        self._pool = pool = SlotPool(positions, ids, rules or SlotRules())
        self._claims = claims = Claims(pool)
        self._glideins = glideins = Glideins(pool, claims)
        self._handlers: dict[type, Callable[[Any], None]] = {
            messages.GlideinWanted: glideins.wanted,
            messages.GlideinAccepted: glideins.accepted,
            messages.GlideinRefused: glideins.refused,
            messages.GlideinStarted: glideins.started,
            messages.GlideinConnected: glideins.connected,
            messages.GlideinAlive: glideins.alive,
            messages.GlideinGone: glideins.gone,
            messages.SlotsWanted: claims.wanted,
            messages.ApplicationReleased: claims.released,
            messages.PayloadStarted: claims.started,
            messages.PayloadRefused: claims.refused,
            messages.PayloadEnded: claims.ended,
            messages.JobWithdrawn: self._withdrawn,
            messages.SlotsRecovered: lambda message: recover(pool, glideins, message),
            TimerFired: self._fired,
        }
        self.takes = frozenset(self._handlers)

    def handle(self, message: Any, now: Now) -> list[Any]:
        """React to a message; every message is legal at every time."""
        effects = self._pool.begin(now)
        self._handlers[type(message)](message)
        if self._pool.backlog:
            self._glideins.top_up()
        if (at := self._pool.alarms.next()) < math.inf:
            effects.append(Wake(at))
        return effects

    def _withdrawn(self, message: messages.JobWithdrawn) -> None:
        self._claims.withdrawn(message.job)
        self._glideins.withdrawn(message.job, message.reason)

    def _fired(self, _: TimerFired) -> None:
        pool = self._pool
        for subject in pool.alarms.due(pool.now.monotonic):
            if subject == BACKLOG:
                self._glideins.give_up()
            elif subject in pool.claims:
                self._claims.due(pool.claims[subject])
            else:
                self._glideins.overdue(pool.glideins[subject])

    # --- what others may read

    def glideins(self) -> list[tuple[Glidein, str]]:
        """All glideins that are not over, with their states (CB-UI-10); to be read only."""
        return [(one, str(self._pool.state_of_glidein(one.id))) for one in self._pool.glideins.values()]

    def claim(self, claim: str) -> tuple[Claim, ClaimState] | None:
        """A claim that is not over, to be read only."""
        state = self._pool.state_of_claim(claim)
        return None if state is None else (self._pool.claims[claim], state)

    def ahead(self, claim: Claim) -> str:
        """The claim whose payload is over before that of another begins; empty: none."""
        return self._pool.ahead(claim)

    def glidein(self, glidein: str) -> tuple[Glidein, GlideinState] | None:
        """A glidein that is not over, to be read only."""
        state = self._pool.state_of_glidein(glidein)
        return None if state is None else (self._pool.glideins[glidein], state)

    def claim_of(self, component: Component) -> str:
        """The claim of a component; empty: it has none."""
        claim = self._pool.claims.get(self._pool.active.get(key_of(component), ""))
        return claim.id if claim is not None and claim.payload.component == component else ""

    def has(self, component: Component) -> bool:
        """True for a component that has a claim, or whose glidein is on its way, or will be; not for another
        attempt."""
        if self.claim_of(component):
            return True
        if (wanted := self._pool.backlog.wanted(component)) is not None:
            return wanted.payload.component == component
        glidein = self._pool.originators.get(key_of(component))
        return glidein is not None and self._pool.glideins[glidein].payload.component == component

    def has_any(self, component: Component) -> bool:
        """The same for whatever attempt of its job."""
        key = key_of(component)
        pool = self._pool
        return key in pool.active or key in pool.originators or component in pool.backlog

    @property
    def spare(self) -> Collection[str]:
        """Glideins that hold a processor for no batch job."""
        return self._pool.spare

    def state_of(self, slot: Slot) -> SlotState | None:
        """Who may use a slot."""
        return self._pool.state_of_slot(slot)

    def offers(self, payload: Payload) -> dict[str, int]:
        """How many slots a payload could choose from now, by computing element (CB-UPD-05)."""
        found: dict[str, int] = {}
        for slot in self._claims.offers(payload):
            ce = self._pool.glideins[slot.glidein].ce
            found[ce] = found.get(ce, 0) + 1
        return found

    def validate(self) -> list[str]:
        """See `Reactor`."""
        return list(_problems(self._pool))


def _problems(pool: SlotPool) -> Iterator[str]:
    for slot in pool.slots.values():
        claimed = pool.state_of_slot(slot) is SlotState.CLAIMED
        if claimed != (slot.claim in pool.claims):
            yield f"slot {slot.id} is {pool.state_of_slot(slot)} with claim {slot.claim!r}"
    for claim in pool.claims.values():
        own = pool.slots.get(claim.slot)
        inside = own is not None and claim.id in (own.claim, *own.line)
        if inside != (pool.state_of_claim(claim.id) in AT_WORK):
            yield f"claim {claim.id} is {pool.state_of_claim(claim.id)}, and its slot has another"
    for key, id in pool.active.items():
        if id not in pool.claims:
            yield f"{key} has a claim that is over"
    for glidein in pool.glideins.values():
        if bool(glidein.slots) != pool.in_pool(glidein.id):
            state = pool.state_of_glidein(glidein.id)
            yield f"glidein {glidein.id} is {state} with {len(glidein.slots)} slots"
    spare = {glidein.id for glidein in pool.glideins.values() if is_spare(pool, glidein)}
    if spare != pool.spare:
        yield f"the spare glideins are {spare}, not {pool.spare}"
    for key, id in pool.originators.items():
        if id not in pool.glideins:
            yield f"{key} caused a glidein that is over"
