"""Glideins and slots as a broker would tell them."""

from __future__ import annotations

import time
from typing import Any

from broker_core.errors import CrossDeskError
from broker_core.wire.slots import GlideinView, SlotHistory, SlotsView, SlotView

FREE = SlotView(role="slot2", state="Free")


def batch(name: str, **more: Any) -> SlotView:
    """The first slot with a batch job that runs."""
    told = {"state": "Claimed", "step": "Running", "taken": True, "priority": 0, "share": 1.0} | more
    return SlotView(role="slot1", job=f"id-{name}", name=name, **told)


def glidein(number: int, state: str, *slots: SlotView, **more: Any) -> GlideinView:
    """A glidein of a cluster."""
    pair = list(slots) or [SlotView(role="slot1"), SlotView(role="slot2")]
    told = {"node": f"node{number:02}", "originator": f"id-fit-{number}", "originator_name": f"fit-{number}"}
    return GlideinView(
        id=f"pool-{number}", site="cluster-a", ce="cluster-a:22/jobmanager-slurm-main", state=state,
        since=time.time() - 200, owner="ann", slots=pair, **(told | more),
    )  # fmt: skip


def history() -> SlotHistory:
    """A working day."""
    now = time.time()
    there = [0, 2, 6, 12, 12, 16, 16, 10, 8, 8]
    used = [0, 1, 4, 9, 6, 11, 15, 7, 5, 5]
    times = [now - 3600 * (10 - at) for at in range(9)] + [now]
    return SlotHistory(times=times, there=there, used=used, opened=38, claims=41)


def slots(*glideins: GlideinView, sites: tuple[str, ...] = ("cluster-a",)) -> SlotsView:
    """What is told of these."""
    return SlotsView(now=time.time(), sites=list(sites), glideins=list(glideins), history=history())


def four() -> SlotsView:
    """One on its way, one alone, one shared, one idle."""
    lowered = batch("fit-3", priority=10, share=0.097)
    talk = SlotView(role="slot2", job="id-shell", name="shell", state="Claimed", step="Running", taken=True,
                    priority=0, share=0.903)  # fmt: skip
    return slots(
        glidein(1, "QueuedAtSite", node=""),
        glidein(2, "Busy", batch("fit-2"), FREE, boxed="bubblewrap"),
        glidein(3, "Shared", lowered, talk, boxed="not boxed: the node has no bubblewrap"),
        glidein(4, "Idle", SlotView(role="slot1", state="Free"), FREE, ends=time.time() + 190),
    )


class SlotBroker:
    """Answers what the page asks."""

    def __init__(self, view: SlotsView) -> None:
        self.view = view
        self.error: CrossDeskError | None = None

    async def slots(self) -> SlotsView:
        if self.error:
            raise self.error
        return self.view
