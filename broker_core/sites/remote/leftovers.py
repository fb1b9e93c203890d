"""Removing what lies at a site of attempts that are over, as their removal was cut off or never came."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from broker_core.jobs.placement import Component, component
from broker_core.sites.adapter import Adapter, Leftover
from broker_core.sites.contract import PURGED, CurrentAttempts
from broker_core.sites.remote.attempt_monitor import AttemptMonitor
from broker_core.sites.remote.records import RemoteRecords


class Leftovers:
    """Goes through all that lies at a site, some of it at a time.

    A removal is queued in memory and asked for once its reason is on the disk: a broker that is killed in
    between, or a submission that arrives after its attempt was given up, leaves a directory of which nothing
    here tells. The directories themselves do.
    """

    def __init__(
        self,
        adapter: Adapter,
        watch: AttemptMonitor,
        records: RemoteRecords,
        forget: Callable[[Sequence[Component]], Awaitable[None]],
    ) -> None:
        """`forget`: removes attempts of purged jobs, here too."""
        self._adapter, self._watch, self._records = adapter, watch, records
        self._forget = forget
        self._after = ""
        """Tag up to which the directories were gone through."""

    async def sweep(self, current: CurrentAttempts, age: float) -> bool:
        """See `Site.sweep`; `age`: see `RemoteSettings.untouched`."""
        found = await self._adapter.leftovers(self._after, age)
        self._after = found[-1].tag if found else ""
        there = {one: left for left in found if (one := component(left.tag)) and not self._is_wanted(left)}
        if not there:
            return bool(found)
        numbers = await current({one.job for one in there})
        over = [one for one, left in there.items() if self._is_over(one, left, numbers.get(one.job))]
        if over:
            await self._remove(over, [one for one in over if numbers[one.job] == PURGED])
        return True

    def _is_wanted(self, left: Leftover) -> bool:
        return left.tag in self._watch.tracked or left.alive

    def _is_over(self, attempt: Component, left: Leftover, number: int | None) -> bool:
        """True where nothing of it can be wanted any more; `number`: of its job's current attempt."""
        if number is None or attempt.attempt > number > PURGED:
            return False  # nobody here knows of it: what it is worth is not for this broker to say
        if attempt.attempt != number:
            return True
        if self._records.keeps_at_site(attempt):
            return False
        return self._records.is_brought(attempt) or (
            not left.begun and self._records.end(attempt) is not None
        )

    async def _remove(self, over: Sequence[Component], purged: Sequence[Component]) -> None:
        """Remove them, but for what runs jobs there still has: a look at it ends that first."""
        absent = set(await self._watch.absent([one.tag for one in over]))
        self._watch.link_note(f"What is left there of {len(over)} attempts that are over is removed.")
        await self._forget([one for one in purged if one.tag in absent])
        self._watch.finish.removable += absent - {one.tag for one in purged}
        self._watch.wake()
