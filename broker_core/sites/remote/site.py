"""A remote site: drives an adapter so that every attempt is handed over, watched and brought home once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from broker_core.errors import NotFound
from broker_core.jobs.placement import Component
from broker_core.resources.facts import Facts
from broker_core.sites.adapter import Adapter, AttemptStatus, Launch
from broker_core.sites.batcher import Batcher
from broker_core.sites.contract import (
    AgentOrder,
    CurrentAttempts,
    KnownAttempt,
    LaunchOrder,
    Report,
    RunFile,
    SiteRefused,
)
from broker_core.sites.glideins import GlideinAccess
from broker_core.sites.left_files import LeftAtSite
from broker_core.sites.lines import LineAnswer, LineCall
from broker_core.sites.link import LinkState
from broker_core.sites.outside import OutsideAccess
from broker_core.sites.remote.attempt_life import offered, unanswered
from broker_core.sites.remote.attempt_monitor import AttemptMonitor
from broker_core.sites.remote.decommission import depart
from broker_core.sites.remote.left_behind import LeftBehind
from broker_core.sites.remote.leftovers import Leftovers
from broker_core.sites.remote.records import RemoteRecords
from broker_core.sites.remote.remote_attempt import RemoteAttempt, Requested, Unrequested
from broker_core.sites.remote.settings import RemoteSettings
from broker_core.sites.run_files import find_file, list_files
from broker_core.sites.transport.contract import LinkLost, NotSent
from broker_core.sites.transport.way_back import RelayPlace, WayBack
from broker_core.wire.sites import SiteSpec


class RemoteSite:
    """See `Site`. Nothing is reported while the connection is lost: unknown is a state of its own."""

    def __init__(
        self,
        spec: SiteSpec,
        adapter: Adapter,
        directory: Path,
        settings: RemoteSettings | None = None,
        renewed: Callable[[], float | None] = lambda: None,
    ) -> None:
        """`directory`: where output and ends are kept on this machine.

        `renewed`: latest moment, by the monotonic clock, at which leases there can have been renewed; None
        where starters hold none.
        """
        self.name = spec.name
        self.holds = adapter.holds
        self.link = adapter.link
        self.settings = settings or RemoteSettings()
        self._spec = spec
        self._adapter = adapter
        self._records = RemoteRecords(directory)
        self._watch = AttemptMonitor(spec, adapter, self._records, self.settings, renewed)
        self._leftovers = Leftovers(adapter, self._watch, self._records, self.forget)
        self._left = LeftBehind(adapter, self._watch, self._records, self.settings)
        self._submitting: Batcher[LaunchOrder, str] = Batcher(
            self._hand_over,
            linger=self.settings.linger,
            most=self.settings.most_together,
            # Looks and output that comes home do not wait behind submissions.
            at_once=max(1, spec.at_once // 2),
        )

        if adapter.outside is not None:
            adapter.outside.wake = self._watch.poll_soon
        self._under_way: dict[str, asyncio.Task[str]] = {}
        """Tag to its submission."""
        self.in_slot: Callable[[Component], bool] = lambda _: False
        """See `GlideinSite.in_slot`."""
        self._watch.in_slot = lambda attempt: self.in_slot(attempt)

    @property
    def queued(self) -> int:
        """Attempts there that wait."""
        return sum(one.arrived is not None and not _runs(one) for one in self._watch.tracked.values())

    @property
    def running(self) -> int:
        """Attempts there that run."""
        return sum(map(_runs, self._watch.tracked.values()))

    @property
    def outside(self) -> OutsideAccess | None:
        """See `RemoteSitePort.outside`."""
        access = self._adapter.outside
        return access if self._spec.outside and access is not None and access.is_available else None

    @property
    def glideins(self) -> GlideinAccess | None:
        """See `GlideinSite.glideins`."""
        return self._adapter.glideins

    async def look(self) -> tuple[Facts, ...]:
        """See `Site.look`."""
        return await self._adapter.look()

    def renew(self) -> None:
        """See `RemoteSitePort.renew`."""
        self._adapter.renew()

    async def start(self, report: Report, known: Sequence[KnownAttempt]) -> None:
        """See `Site.start`; the site is asked in the background, however long that takes."""
        await self._adapter.open()
        self._watch.start(report, known)

    async def submit(self, order: LaunchOrder) -> str:
        """See `Site.submit`; raises LinkLost too, where it is not known whether the site has it."""
        tracked = self._watch.track(order.attempt, ordered=True)
        if tracked.arrived is not None:
            return tracked.id or tracked.tag
        tracked.life = offered(tracked.life)
        task = self._under_way.get(tracked.tag)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._submitting.ask(order))
            self._under_way[tracked.tag] = task
            task.add_done_callback(lambda done: self._handed(tracked.tag, done))
        return await asyncio.shield(task) or tracked.tag

    async def confirm(self, attempt: Component) -> None:
        """See `Site.confirm`; the release goes with the next look."""
        tracked = self._watch.tracked.get(attempt.tag)
        if tracked is not None:
            if isinstance(tracked.release, Unrequested):
                tracked.release = Requested()
            self._watch.request()

    async def cancel(self, attempt: Component) -> None:
        """See `Site.cancel`; sent with the next look, and again as long as it does not help."""
        if (kept := self._records.end(attempt)) is not None:
            self._watch.report(kept)
            return
        tracked = self._watch.track(attempt, ordered=False)
        if isinstance(tracked.cancellation, Unrequested):
            tracked.cancellation = Requested()
        self._watch.request()

    async def files(self, attempt: Component) -> list[RunFile]:
        """See `Site.files`; what was brought here after the end, the site's own list before."""
        if (tracked := self._watch.tracked.get(attempt.tag)) is not None:
            self._needs_contact()
            return await self._watch.finish.list_live(tracked)
        return await asyncio.to_thread(list_files, self._records.output(attempt))

    async def open_path(self, attempt: Component, path: str) -> Path:
        """See `Site.open_path`; of a file that grows only what is new is brought."""
        folder = self._records.output(attempt)
        if (tracked := self._watch.tracked.get(attempt.tag)) is not None:
            self._needs_contact()
            await self._watch.finish.bring_live(tracked, path)
        return find_file(folder, path)

    async def left(self, attempt: Component) -> LeftAtSite:
        """See `Site.left`."""
        return await self._left.left(attempt)

    async def all_left(self) -> Mapping[Component, LeftAtSite]:
        """See `Site.all_left`."""
        return await self._left.all_left()

    async def fetch_left(self, attempt: Component, names: Sequence[str]) -> LeftAtSite:
        """See `Site.fetch_left`."""
        self._needs_contact()
        return await self._left.fetch(attempt, names)

    async def forget_left(self, attempt: Component, names: Sequence[str]) -> LeftAtSite:
        """See `Site.forget_left`."""
        return await self._left.forget(attempt, names)

    async def carry_lines(self, attempt: Component, call: LineCall) -> LineAnswer:
        """See `Site.carry_lines`."""
        self._needs_running(attempt)
        return await self._adapter.carry_lines(attempt.tag, call)

    async def bring_agent(self, attempt: Component, order: AgentOrder) -> None:
        """See `Site.bring_agent`."""
        self._needs_running(attempt)
        await self._adapter.bring_agent(attempt.tag, order)

    def _needs_running(self, attempt: Component) -> None:
        """Raises NotFound for an attempt that is not there, and LinkLost."""
        if attempt.tag not in self._watch.tracked:
            raise NotFound("The job is not running there.", place=attempt.job)
        self._needs_contact()

    def _needs_contact(self) -> None:
        """Whoever looks at a running job is told at once that its site is not heard from; raises LinkLost."""
        link = self._adapter.link
        if link.state not in (LinkState.CONNECTED, LinkState.CONNECTING):
            raise LinkLost(
                f"Nothing of the job can be read now: {self.name} is not heard from. {link.reason}".strip(),
                remedy="The job is not touched by this; its output is brought when the site is back.",
            )

    async def forget(self, attempts: Sequence[Component]) -> None:
        """See `Site.forget`; attempts that are not over are left alone."""
        gone = [one for one in attempts if one.tag not in self._watch.tracked]
        await self._adapter.remove([one.tag for one in gone])
        for attempt in gone:
            await asyncio.to_thread(self._records.remove, attempt)

    async def sweep(self, current: CurrentAttempts) -> bool:
        """See `Site.sweep`."""
        await self._left.expire()
        return await self._leftovers.sweep(current, self.settings.untouched)

    def kept(self) -> list[Component]:
        """See `Site.kept`."""
        return self._records.attempts()

    async def close(self) -> None:
        """See `Site.close`."""
        await self._watch.close()
        await self._submitting.close()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        await self._adapter.close()

    async def leave(self) -> str:
        """See `RemoteSitePort.leave`; only `close` comes after it."""
        await self._watch.close()
        return await depart(self._adapter)

    async def way_back(self, relay: RelayPlace, ports: Sequence[int]) -> WayBack:
        """See `RemoteSitePort.way_back`."""
        await self._adapter.open()
        if self.link.state is not LinkState.CONNECTED:
            raise NotSent(self.link.reason or f"There is no connection to {self.name} yet.")
        return await self._adapter.way_back(relay, ports)

    def answer(self, id: str, value: str) -> None:
        """See `RemoteSitePort.answer`."""
        self._adapter.answer(id, value)

    async def forecast(self, order: LaunchOrder) -> float | None:
        """See `RemoteSitePort.forecast`."""
        return await self._adapter.forecast(Launch(order, order.ce.queue))

    def connect_now(self) -> None:
        """See `RemoteSitePort.connect_now`."""
        self._adapter.connect_now()

    def hurry(self) -> None:
        """See `RemoteSitePort.hurry`."""
        self._adapter.hurry()

    def poll_now(self) -> None:
        """Look at the jobs there without waiting."""
        self._watch.wake()

    def payloads_ended(self, *, last: bool) -> None:
        """See `GlideinSite.payloads_ended`."""
        self._watch.wake(urgently=last)

    def watch(self, attempts: Sequence[Component], seconds: float) -> None:
        """See `RemoteSitePort.watch`."""
        self._watch.watch([one.tag for one in attempts], seconds)

    def _handed(self, tag: str, task: asyncio.Task[str]) -> None:
        """A submission is over, and its callers are told how. What was not taken goes elsewhere."""
        self._under_way.pop(tag, None)
        if (tracked := self._watch.tracked.get(tag)) is not None:
            tracked.life = unanswered(tracked.life)
        if not task.cancelled() and (error := task.exception()) and not isinstance(error, LinkLost):
            self._watch.give_up(tag)

    async def _hand_over(self, orders: Sequence[LaunchOrder]) -> Sequence[str | SiteRefused]:
        answers = await self._adapter.submit([Launch(order, order.ce.queue) for order in orders])
        now = time.monotonic()
        for order, answer in zip(orders, answers, strict=True):
            if isinstance(answer, str):
                # Where some run, payloads have those glideins.
                pace = None if order.glidein and self.running else order.pace
                self._watch.handed_over(order.attempt, answer, now, pace)
        return answers


def _runs(one: RemoteAttempt) -> bool:
    return one.seen is AttemptStatus.RUNNING or one.mark is not None
