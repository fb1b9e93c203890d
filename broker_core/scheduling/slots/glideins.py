"""Starts glideins, lets them join, and notices when they are gone (CB-GLI-02, CB-GLI-10, CB-GLI-14)."""

from __future__ import annotations

from typing import Any

from broker_core.scheduling.slots.claims import Claims
from broker_core.scheduling.slots.effects import (
    GlideinUnavailable,
    RenewLease,
    SlotOpened,
    SlotsRefused,
    StartGlidein,
    StopGlidein,
)
from broker_core.scheduling.slots.glidein_life import BEFORE_JOINING, GlideinEvent, GlideinState
from broker_core.scheduling.slots.messages import (
    GlideinAccepted,
    GlideinAlive,
    GlideinConnected,
    GlideinGone,
    GlideinRefused,
    GlideinStarted,
    GlideinWanted,
)
from broker_core.scheduling.slots.pool import SlotPool
from broker_core.scheduling.slots.records import Glidein, Slot, key_of
from broker_core.scheduling.slots.reuse import enough_wait, shortest_line
from broker_core.scheduling.slots.rules import SlotRole
from broker_core.scheduling.slots.settling import count_spare, deadline, idle_exit
from broker_core.scheduling.slots.slot_life import SlotEvent

_S, _E = GlideinState, GlideinEvent


class Glideins:
    """The part of the monitor that follows glideins from their request to their end."""

    def __init__(self, pool: SlotPool, claims: Claims) -> None:
        self._pool = pool
        self._claims = claims

    def wanted(self, message: GlideinWanted) -> None:
        """Activate a glidein; the same component activates one alone."""
        pool, payload = self._pool, message.payload
        key = key_of(payload.component)
        pool.backlog.remove(payload.component)
        if not payload.use.activates:
            pool.emit(SlotsRefused((payload,), "an interactive job starts no glidein"))
        elif key in pool.active and key not in pool.originators:
            pool.emit(SlotsRefused((payload,), "the job is in a slot already, or may still be"))
        elif key not in pool.originators and not (
            payload.use.role is SlotRole.SLOT1 and self._claims.reuse(message)
        ):
            if payload.use.role is SlotRole.SLOT1 and enough_wait(pool, message):
                pool.backlog.add(message, pool.now.monotonic)
            else:
                self._activate(message)

    def top_up(self) -> None:
        """Ask for the glideins of those that waited for it, as far as fewer wait at their site again, and no
        line there will have them before."""
        enough = set[tuple[str, str, str]]()
        for wanted in self._pool.backlog:
            kind = wanted.payload.owner, wanted.ce, wanted.needs
            if kind in enough or enough_wait(self._pool, wanted) or shortest_line(self._pool, wanted):
                enough.add(kind)
            else:
                self._pool.backlog.remove(wanted.payload.component)
                self._activate(wanted)

    def give_up(self) -> None:
        """Let those go that have waited for a glidein as long as one waits at its site."""
        for wanted in self._pool.backlog.expire(self._pool.now.monotonic):
            waited = f"{self._pool.rules.queue_timeout:.0f} s"
            reason = f"no glidein could be asked for within {waited}: others waited at the site"
            self._pool.emit(GlideinUnavailable(wanted.payload, reason))

    def _activate(self, message: GlideinWanted) -> None:
        pool, payload = self._pool, message.payload
        glidein = Glidein(pool.new_id(), payload, message.ce, pool.now.monotonic)
        glidein.needs, glidein.seconds, glidein.lasts = message.needs, message.seconds, message.lasts
        pool.glideins[glidein.id] = glidein
        pool.originators[key_of(payload.component)] = glidein.id
        glidein.others = message.others
        asked = {"needs": glidein.needs, "seconds": glidein.seconds, "lasts": glidein.lasts}
        asked |= {"others": list(glidein.others)} if glidein.others else {}
        details = {**payload.as_details(), "ce": message.ce, **(asked if glidein.needs else {})}
        pool.step_glidein(glidein, _E.REQUESTED, details=details)
        self.request(glidein)

    def request(self, glidein: Glidein) -> None:
        """Have a glidein submitted; a site that has it already knows it by its id."""
        pool = self._pool
        pool.emit(StartGlidein(glidein.id, glidein.ce, glidein.payload.owner, glidein.payload.vo))
        pool.alarms.set(glidein.id, deadline(pool, glidein))
        for other in pool.glideins.values():
            if pool.state_of_glidein(other.id) is _S.IDLE:
                pool.alarms.set(other.id, deadline(pool, other))

    # --- what its site says

    def accepted(self, message: GlideinAccepted) -> None:
        """Its site has it."""
        glidein = self._known(message)
        if glidein is not None and self._pool.state_of_glidein(glidein.id) is _S.REQUESTED:
            self._pool.step_glidein(glidein, _E.ACCEPTED, details={"site_id": message.site_id})
            self._pool.alarms.set(glidein.id, deadline(self._pool, glidein))

    def refused(self, message: GlideinRefused) -> None:
        """Its site does not want it."""
        glidein = self._known(message)
        if glidein is None:
            return
        if self._pool.state_of_glidein(glidein.id) in (_S.REQUESTED, _S.QUEUED):
            self._fail(glidein, _E.REFUSED, message.reason)
        else:
            self._pool.late(message.glidein, message.name)

    def started(self, message: GlideinStarted) -> None:
        """Its batch system started it."""
        glidein = self._known(message)
        if glidein is not None and self._pool.state_of_glidein(glidein.id) in (_S.REQUESTED, _S.QUEUED):
            self._pool.step_glidein(glidein, _E.STARTED, details=self._begun(glidein))
            self._pool.alarms.set(glidein.id, deadline(self._pool, glidein))

    def gone(self, message: GlideinGone) -> None:
        """It is not there any more."""
        glidein = self._known(message)
        if glidein is None:
            return
        state = self._pool.state_of_glidein(glidein.id)
        if state is _S.IDLE:
            self._exit(glidein, message.reason)
        elif state in BEFORE_JOINING:
            self._fail(glidein, _E.LOST, message.reason)
        else:
            self._lose(glidein, message.reason)

    # --- what it says itself

    def connected(self, message: GlideinConnected) -> None:
        """It calls: it joins if its node is fit, or goes on where the connection was cut."""
        glidein = self._known(message, stop=True)
        if glidein is None:
            return
        if self._pool.in_pool(glidein.id):
            self._renew(glidein)
            self._claims.reconciled(glidein, message.claims)
        elif message.faults:
            self._fail(glidein, _E.UNFIT, "its node is not fit: " + "; ".join(message.faults))
        else:
            self._join(glidein, message)

    def alive(self, message: GlideinAlive) -> None:
        """A sign of life, which is answered while the glidein is in the pool."""
        glidein = self._known(message, stop=True)
        if glidein is not None and self._pool.in_pool(glidein.id):
            self._renew(glidein)

    def _begun(self, glidein: Glidein) -> dict[str, Any]:
        """Details of when its wall limit is reached: it counts from what was heard first."""
        if glidein.lasts and not glidein.until:
            glidein.until = self._pool.now.wall + glidein.lasts
            return {"until": glidein.until}
        return {}

    def _renew(self, glidein: Glidein) -> None:
        glidein.answered = self._pool.now.monotonic
        self._pool.emit(RenewLease(glidein.id))

    def _join(self, glidein: Glidein, message: GlideinConnected) -> None:
        pool = self._pool
        glidein.node, glidein.priorities, glidein.box = message.node, message.priorities, message.box
        details = self._begun(glidein)
        details |= {"node": message.node, "box": message.box, "priorities": message.priorities.value}
        pool.step_glidein(glidein, _E.JOINED, details=details)
        self._renew(glidein)
        for role in SlotRole:
            slot = Slot(pool.new_id(), glidein.id, role)
            glidein.slots[role] = pool.slots[slot.id] = slot
            mine = role is glidein.payload.use.role
            event = SlotEvent.RESERVED if mine else SlotEvent.OPENED
            pool.step_slot(slot, glidein.payload.owner, event, {"glidein": glidein.id, "role": role.value})
            if not mine:
                pool.emit(SlotOpened(glidein.ce, glidein.payload.vo, role))
        self._claims.make(glidein, glidein.payload)
        self._claims.fill_at_first(glidein)

    def _known(
        self,
        message: GlideinAccepted
        | GlideinRefused
        | GlideinStarted
        | GlideinConnected
        | GlideinAlive
        | GlideinGone,
        stop: bool = False,
    ) -> Glidein | None:
        """The glidein of a message. One that is over, and yet speaks, is to end."""
        glidein = self._pool.glideins.get(message.glidein)
        if glidein is None:
            self._pool.late(message.glidein, message.name)
            if stop:
                self._pool.emit(StopGlidein(message.glidein, "", "the broker does not know it any more"))
        return glidein

    # --- ends

    def withdrawn(self, job: str, reason: str) -> None:
        """End the glideins that a job caused and that nobody uses yet."""
        pool = self._pool
        for wanted in pool.backlog.withdraw(job):
            pool.emit(GlideinUnavailable(wanted.payload, reason))
        for glidein in [one for one in pool.glideins.values() if one.payload.component.job == job]:
            state = pool.state_of_glidein(glidein.id)
            if state in BEFORE_JOINING:
                pool.step_glidein(glidein, _E.WITHDRAWN, reason)
                self._stop(glidein, reason)
            if state is _S.REQUESTED:  # of others their sites say that they have ended
                pool.emit(GlideinUnavailable(glidein.payload, reason))

    def overdue(self, glidein: Glidein) -> None:
        """The moment of a glidein has come: its deadline may have moved on since."""
        pool, now = self._pool, self._pool.now.monotonic
        state = pool.state_of_glidein(glidein.id)
        if (moment := deadline(pool, glidein)) > now:
            pool.alarms.set(glidein.id, moment)
        elif state in BEFORE_JOINING:
            self._fail(glidein, _E.TIMED_OUT, f"it was {now - glidein.since:.0f} s {state} and did not join")
        elif state is _S.IDLE and glidein.since + idle_exit(pool, glidein) <= now:
            self._exit(glidein, f"no job came for {now - glidein.since:.0f} s")
        else:
            self._lose(glidein, f"it was not heard for {now - glidein.answered:.0f} s")

    def _fail(self, glidein: Glidein, event: GlideinEvent, reason: str) -> None:
        self._pool.step_glidein(glidein, event, reason)
        self._stop(glidein, reason)
        self._pool.emit(GlideinUnavailable(glidein.payload, reason))

    def _exit(self, glidein: Glidein, reason: str) -> None:
        self._close(glidein)
        self._pool.step_glidein(glidein, _E.EXITED, reason)
        self._stop(glidein, reason)

    def _lose(self, glidein: Glidein, reason: str) -> None:
        self._claims.lose(glidein, reason)
        self._close(glidein)
        self._pool.step_glidein(glidein, _E.LOST, reason)
        self._stop(glidein, reason)

    def _close(self, glidein: Glidein) -> None:
        for slot in glidein.slots.values():
            self._pool.step_slot(slot, glidein.payload.owner, SlotEvent.CLOSED, {"claim": ""})

    def _stop(self, glidein: Glidein, reason: str) -> None:
        count_spare(self._pool, glidein)
        self._pool.emit(StopGlidein(glidein.id, glidein.ce, reason))
