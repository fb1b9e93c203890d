"""A queue, policies and decisions as a broker would tell them."""

from __future__ import annotations

import time
from typing import Any

from broker_core.errors import CrossDeskError
from broker_core.wire.queue import QUEUE_COLUMNS, DecisionView, PolicyView, QueueView

_REASONS = (
    ("queued", "4 sites match, but none has 16 free CPUs now"),
    ("queued", "job wing-1 is before it and could use the same CPUs"),
    ("parked", "no known resource has 4,096 CPUs"),
    ("held", "held by its owner"),
    ("sent", "ES-GRID-00001 was chosen and has not answered yet"),
)


def queue(number: int) -> QueueView:
    """A queue of this length."""
    now = time.time()
    rows = [
        (f"job-{at}", f"wing-{at}", at + 1, 16, "Normal", now - 60 * (at + 1), _REASONS[at % 5][1],
         "job-1" if at % 5 == 1 else "", _REASONS[at % 5][0])
        for at in range(number)
    ]  # fmt: skip
    held: dict[str, list[Any]] = {name: [row[at] for row in rows] for at, name in enumerate(QUEUE_COLUMNS)}
    return QueueView(columns=held, total=number + 12, policy="best-fit", queue_policy="fcfs",
                     next_round=now + 42)  # fmt: skip


def policies() -> list[PolicyView]:
    """Built-in ones, a user's own, and one that does not load."""
    return [
        PolicyView(name="best-fit", kind="order", origin="built-in", chosen=True,
                   doc="Near data first, then the fewest free CPUs that suffice, then rank."),
        PolicyView(name="worst-fit", kind="order", origin="built-in", chosen=False,
                   doc="Most free CPUs first."),
        PolicyView(name="mine", kind="order", origin="/home/ann/.config/crossdesk/policies/mine.py",
                   chosen=False, doc="Mine."),
        PolicyView(name="broken", kind="order", origin="/home/ann/.config/crossdesk/policies/broken.py",
                   chosen=False, doc="", error="line 3: invalid syntax"),
        PolicyView(name="fcfs", kind="queue", origin="built-in", chosen=True,
                   doc="Who came first starts first."),
        PolicyView(name="bounded-backfill", kind="queue", origin="built-in", chosen=False,
                   doc="Later jobs may pass while the head of the queue loses nothing."),
    ]  # fmt: skip


def decision(number: int) -> DecisionView:
    """The decision of a number."""
    kinds = (
        ("chosen", ["ce1.grid.es:2119/x"], "rank 12"),
        ("postponed", [], "no site has 16 free CPUs now"),
        ("next-choice", ["ce2.grid.de:2119/x"], "the first refused it"),
        ("aborted", [], "it waited for 7 days"),
    )
    what, resources, reason = kinds[number % 4]
    return DecisionView(number=number, time=1_700_000_000 + number, job=f"job-{number % 7}", what=what,
                        name=f"wing-{number % 7}", resources=resources, reason=reason, considered=363,
                        matching=number % 40)  # fmt: skip


class SchedulerBroker:
    """Answers what the scheduler view asks."""

    def __init__(self, waiting: int, decided: int) -> None:
        self.waiting, self.decided = waiting, decided
        self.error: CrossDeskError | None = None
        self.chosen: list[dict[str, str]] = []

    async def queue(self) -> QueueView:
        if self.error:
            raise self.error
        return queue(self.waiting)

    async def policies(self) -> list[PolicyView]:
        return policies()

    async def decisions(self, after: int = 0, limit: int = 500) -> list[DecisionView]:
        return [decision(at) for at in range(max(after, self.decided - limit) + 1, self.decided + 1)]

    async def choose_policy(self, order: str = "", queue: str = "") -> list[PolicyView]:
        if self.error:
            raise self.error
        self.chosen.append({"order": order, "queue": queue})
        return [one.model_copy(update={"chosen": one.name in (order or "best-fit", queue or "fcfs")})
                for one in policies()]  # fmt: skip
