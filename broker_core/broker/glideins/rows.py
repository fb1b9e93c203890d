"""The interactive slots of the pool as rows of the Resource Cache (CB-UPD-04, CB-UPD-05)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from broker_core.jobs.placement import SLOT_SYSTEM, computing_element, slots_at
from broker_core.matching.own_requirements import SLOT_RULE
from broker_core.resources.cache import ResourceCache
from broker_core.resources.facts import SHARED_NODES, START_ESTIMATE, Facts, SourceHeard
from broker_core.resources.observation import merged
from broker_core.scheduling.messages import SlotsUnheard
from broker_core.scheduling.slots.monitor import GlideinMonitor
from broker_core.scheduling.slots.rules import SlotRole
from broker_core.scheduling.slots.slot_life import SlotState
from broker_core.system.clock import now

SOURCE = "slots"
"""Name of the pool among the sources of information."""
INTERVAL = 20.0
"""Seconds after which unchanged rows are told again; after three times that they are stale."""
_PATIENCE = 30.0
"""Seconds for which glideins are waited for that a broker before this one left."""


def sites_with_slots(monitor: GlideinMonitor) -> tuple[str, ...]:
    """Sites with glideins that have joined."""
    return tuple(sorted({computing_element(one.ce).site for one, _ in monitor.glideins() if one.slots}))


class SlotRows:
    """Publishes a row for each queue that has glideins."""

    SYSTEM = SLOT_SYSTEM
    """Stands in the ids of these rows where those of their queues name the batch system."""

    def __init__(
        self, monitor: GlideinMonitor, cache: ResourceCache, post: Callable[[object], None]
    ) -> None:
        self._monitor, self._cache, self._post = monitor, cache, post
        self._published: dict[str, tuple[int, int]] = {}
        self._at = 0.0
        self._unheard: set[str] = set()
        """Sites whose glideins a broker before this one left, and that have not said yet how they are."""
        self._announced = SlotsUnheard(())
        self._giving_up: asyncio.TimerHandle | None = None

    def expect(self) -> None:
        """Interactive jobs wait a while for what those glideins say first, see `sites_with_slots`."""
        self._unheard = set(sites_with_slots(self._monitor))
        self._announced = SlotsUnheard(sites_with_slots(self._monitor))
        if self._unheard:
            self._giving_up = asyncio.get_running_loop().call_later(_PATIENCE, self._give_up)

    def close(self) -> None:
        """Wait for nothing any more."""
        if self._giving_up is not None:
            self._giving_up.cancel()

    def _give_up(self) -> None:
        self._unheard.clear()
        self._announce()

    def answered(self, site: str) -> None:
        """The glideins of a site have said how they are."""
        self._unheard.discard(site)
        self.publish()

    def _announce(self) -> None:
        """Behind the rows, so that who waits for these finds them. Of a queue that is not known itself yet
        there is no row."""
        known = self._cache.entries
        rowless = {
            computing_element(one.ce).site
            for one, _ in self._monitor.glideins()
            if one.slots and one.ce not in known
        }
        unheard = SlotsUnheard(tuple(sorted(self._unheard | rowless if self._announced.sites else ())))
        if unheard != self._announced:
            self._announced = unheard
            self._post(unheard)

    def wall_limit(self, ce: str) -> float | None:
        """Seconds that a queue gives a job; None: that is not known."""
        entry = self._cache.entries.get(ce)
        known = {} if entry is None else merged(list(entry.hearings.values()))
        minutes = known.get("GlueCEPolicyMaxWallClockTime")
        return 60.0 * minutes if isinstance(minutes, int | float) else None

    def ces_of(self, row: str) -> tuple[str, ...]:
        """The computing elements whose glideins a row stands for."""
        return tuple(sorted({one.ce for one, _ in self._monitor.glideins() if slots_at(one.ce) == row}))

    def publish(self) -> None:
        """Tell the Resource Cache how the slots are, if that is news or has not been told for a while."""
        self._publish_rows()
        self._announce()

    def _publish_rows(self) -> None:
        counts, moment = self._counts(), now()
        if counts == self._published and (not counts or moment.monotonic - self._at < INTERVAL):
            return
        self._published, self._at = counts, moment.monotonic
        facts = tuple(self._facts(ce, *of) for ce, of in counts.items())
        self._post(
            SourceHeard(SOURCE, moment.wall, moment.monotonic, facts, True, interval=INTERVAL, account=True)
        )

    def _counts(self) -> dict[str, tuple[int, int]]:
        """Computing element to the number of its interactive slots and of those that are free."""
        found: dict[str, tuple[int, int]] = {}
        for glidein, _ in self._monitor.glideins():
            slot = glidein.slots.get(SlotRole.SLOT2)
            if slot is not None and glidein.ce in self._cache.entries:
                total, free = found.get(glidein.ce, (0, 0))
                open_ = self._monitor.state_of(slot) is SlotState.FREE
                found[glidein.ce] = total + 1, free + open_
        return found

    def _facts(self, ce: str, total: int, free: int) -> Facts:
        entry = self._cache.entries[ce]
        known: dict[str, Any] = dict(merged(list(entry.hearings.values())))
        known.pop(SHARED_NODES, None)  # what batch jobs get elsewhere takes no slot
        row = slots_at(ce)
        own = {
            "GlueCEUniqueID": row,
            "GlueCEName": f"{known.get('GlueCEName', '')} (slots)",
            "GlueCEInfoJobManager": self.SYSTEM,
            "GlueCEInfoTotalCPUs": total,
            "GlueCEStateStatus": "Production",
            "GlueCEStateFreeCPUs": free,
            "GlueHostFreeCPUs": free,
            "GlueCEStateFreeJobSlots": free,
            "GlueCEStateRunningJobs": total - free,
            "GlueCEStateWaitingJobs": 0,
            "GlueCEStateTotalJobs": total - free,
            # Free processors come first, where the job does not rank otherwise (CB-SCH-08a).
            "GlueCEStateEstimatedResponseTime": 1,
            START_ESTIMATE: "guess",
            "GlueCEStateWorstResponseTime": 0,
            "GlueCEPolicyMaxRunningJobs": total,
            "GlueCEPolicyAssignedJobSlots": total,
            "GlueCEPolicyMaxSlotsPerJob": 1,
            "GlueSubClusterLogicalCPUs": total,
            "Requirements": SLOT_RULE,
        }
        return Facts(row, entry.site, known | own)
