"""Watching the attempts at a remote site: one look after the other, as often as something changes."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from typing import Any

from broker_core.errors import CrossDeskError
from broker_core.jobs.attempt_events import AttemptEnded, AttemptReport
from broker_core.jobs.placement import Component
from broker_core.sites.adapter import Adapter, PollResult, SiteFailed
from broker_core.sites.contract import KnownAttempt, Report, StartPace
from broker_core.sites.link import LinkState
from broker_core.sites.remote.attempt_life import AttemptEvent, arrived, ending, over
from broker_core.sites.remote.completion_detection import is_over, not_heard_from, note_sighting, notices
from broker_core.sites.remote.finish import RemoteFinish
from broker_core.sites.remote.lease_limit import LeaseLimit
from broker_core.sites.remote.orphans import Orphans
from broker_core.sites.remote.records import RemoteRecords
from broker_core.sites.remote.remote_attempt import Hurry, Origin, RemoteAttempt, Requested, RequestSent
from broker_core.sites.remote.settings import BURST, ListPace, RemoteSettings, pause
from broker_core.wire.sites import SiteSpec
from broker_core.worker.markers import ended_mark

log = logging.getLogger("crossdesk.sites")
_TOGETHER = 0.01
"""Seconds for others to join a round."""
_ACTING = 0.03
"""Seconds after which what is to be released or canceled does not wait for a round that is not due yet."""
_CANCELING = 60.0
"""Seconds for which the end of what was canceled is waited for with haste."""


class AttemptMonitor:
    """Knows all attempts that are not over; releases, cancels and looks in one round after the other."""

    def __init__(
        self,
        spec: SiteSpec,
        adapter: Adapter,
        records: RemoteRecords,
        settings: RemoteSettings,
        renewed: Callable[[], float | None],
    ) -> None:
        self.tracked: dict[str, RemoteAttempt] = {}
        """Tag to every attempt that is not over."""
        self._spec, self._adapter, self._settings = spec, adapter, settings
        self._records = records
        self._leases = LeaseLimit(spec.lease, settings.grace, renewed)
        self.finish = RemoteFinish(spec.name, adapter, records, settings, self._ended)
        self._lists = ListPace(spec.list_interval)
        self._woken = asyncio.Event()
        self._urgent = asyncio.Event()
        """The next round is not to wait for others to join it."""
        self._requested = asyncio.Event()
        """Something is to be asked of the site, whenever that round is due."""
        self._pause = spec.poll_interval
        self._changed = self._looked = time.monotonic()
        """When something changed, and when the last look began."""
        self._acted = -math.inf
        """When this broker did something there, or brought something home."""
        self._strangers = Orphans(lambda tags: self._ask(adapter.cancel, tags), settings.cancel_again)
        self._tasks: set[asyncio.Task[None]] = set()
        self._report: Report = lambda _: None
        self.in_slot: Callable[[Component], bool] = lambda _: False
        """See `GlideinSite.in_slot`."""

    def start(self, report: Report, known: Sequence[KnownAttempt]) -> None:
        """Begin; `known` are looked for."""
        self._report = report
        for one in known:
            if (kept := self._records.end(one.component)) is not None:
                self._strangers.over(one.component.tag)
                self.report(kept)
                continue
            self.track(one.component, ordered=one.resubmitted)
        self.spawn(self._rounds())
        self.spawn(self._meet_again())

    def report(self, notice: AttemptReport) -> None:
        """Tell the engine."""
        self._report(notice)

    def track(self, attempt: Component, *, ordered: bool) -> RemoteAttempt:
        """The attempt's entry, made if need be. `ordered`: this broker hands it over (again)."""
        tracked = self.tracked.get(attempt.tag)
        if tracked is None:
            tracked = self.tracked[attempt.tag] = RemoteAttempt(attempt)
        if ordered:
            tracked.origin = Origin.ORDERED
        return tracked

    def handed_over(self, attempt: Component, id: str, now: float, pace: StartPace | None) -> None:
        """The site took an attempt. `pace`: see `LaunchOrder.pace`."""
        tracked = self.tracked.get(attempt.tag)
        if tracked is None:
            return
        if pace is not None:
            tracked.hurry = Hurry(pace.seconds, now + pace.lasts)
        tracked.id, tracked.life = id, arrived(tracked.life, now)
        if pace is not None or not self._adapter.holds:
            self.wake(urgently=pace is not None)

    def give_up(self, tag: str) -> None:
        """A submission failed for another reason than the link: should an earlier try of it have arrived,
        it is ended."""
        if self._drop(tag, AttemptEvent.REFUSED):
            self._strangers.expected = True
            self.wake()

    def _drop(self, tag: str, event: AttemptEvent) -> bool:
        """Await nothing of an attempt any more; False if that was so before."""
        one = self.tracked.pop(tag, None)
        if one is not None:
            one.life = over(one.life, event)
        return one is not None

    def wake(self, *, urgently: bool = False) -> None:
        """Look now; changes are expected. `urgently`: wait for no others to join."""
        self._changed = self._acted = time.monotonic()
        self._woken.set()
        if urgently:
            self._urgent.set()

    def request(self) -> None:
        """Something of an attempt is to be asked of the site."""
        self._requested.set()
        self.wake()

    def poll_soon(self) -> None:
        """Look now, though nothing changes here, and ask the batch system for its list."""
        self._lists.want(time.monotonic())
        self._woken.set()

    def watch(self, tags: Sequence[str], seconds: float) -> None:
        """Somebody looks at these attempts for so long: what the batch system says of those that wait there
        is asked for sooner."""
        now = time.monotonic()
        self._lists.watch(tags, now + seconds)
        if self._lists.due(now, pressing=self._is_awaited(now)):
            self._woken.set()

    async def absent(self, tags: Sequence[str]) -> list[str]:
        """Those which the site does not have, by a look that begins now; it ends what nobody wants there."""
        self._lists.want(time.monotonic())
        self.wake()
        await self._strangers.next_look()
        return [tag for tag in tags if tag not in self.tracked and tag not in self._strangers.present]

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something beside the rounds, until `close`."""
        task = asyncio.get_running_loop().create_task(work, name=f"watch of {self._spec.name}")
        self._tasks.add(task)
        task.add_done_callback(self._done)

    async def close(self) -> None:
        """Stop looking and reporting."""
        self._report = lambda _: None
        # A look that takes its cancel for another one's goes on for a moment, and may spawn more.
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)
        await self.finish.close()

    async def _rounds(self) -> None:
        while True:
            # A look that hangs waits for an answer much longer than a lease may last.
            if await self._leases.bound(self._round_and_pause()):
                self._judge_silence()

    async def _meet_again(self) -> None:
        """Look at once when the site is there again."""
        link = self._adapter.link
        while True:
            await link.news()
            if link.state is LinkState.CONNECTED:
                self._lists.want(time.monotonic())
                self._woken.set()

    async def _round_and_pause(self) -> None:
        changed = await self._tried(self._round())
        if changed is not None:
            self._pause = self._next_pause(changed)
        await self._wait()

    async def _tried(self, part: Coroutine[Any, Any, bool]) -> bool | None:
        """Do a round or a part of one; None if that failed, which is noted."""
        try:
            return await part
        except CrossDeskError as error:
            self.link_note(f"A look at the jobs failed: {error}")
            self._judge_silence()
        except Exception as error:
            # Whatever a site says, its jobs are looked at again.
            log.exception("A look at the jobs of %s failed", self._spec.name)
            self.link_note(f"A look at the jobs failed in an unforeseen way: {error!r}.")
        return None

    async def _wait(self) -> None:
        """Until the next look is due; for ever while there is nothing to look at."""
        awaited = self.tracked or self.finish.removable or self._strangers.awaited
        try:
            async with asyncio.timeout(self._pause if awaited else None):
                await self._woken.wait()
        except TimeoutError:
            return
        self._woken.clear()
        # What comes together is done together, and the first of a burst at once.
        now = time.monotonic()
        at = self._looked + min(self._pace(now), self._spec.poll_interval, BURST)
        while at > time.monotonic() + _ACTING and not await self._urged_within(_ACTING):
            self._requested.clear()
            await self._tried(self._act())
            await _one_of((self._urgent, self._requested), at - time.monotonic())
        await self._urged_within(max(_TOGETHER, at - time.monotonic()))
        self._urgent.clear()

    async def _urged_within(self, seconds: float) -> bool:
        """Wait for so long, or until a look is urgent; true if it is."""
        await _one_of((self._urgent,), seconds)
        return self._urgent.is_set()

    def _next_pause(self, changed: bool) -> float:
        now = time.monotonic()
        if changed:
            self._changed = now
        if (pace := self._pace(now)) < math.inf:
            # As long again as a look takes, where that is more.
            return max(pace, now - self._looked)
        since_act, since_change = now - self._acted, now - self._changed
        spec = self._spec
        most = max(self._lists.soon, spec.poll_interval) if self._is_awaited(now) else math.inf
        usual = pause(spec.poll_interval, since_act, since_change, self._settings.slowest, spec.lease)
        return min(usual, most)

    def _pace(self, now: float) -> float:
        """Seconds between two looks while somebody waits for a start that the next one may show; else
        infinity."""
        hurries = (one.hurry for one in self.tracked.values() if one.mark is None and one.hurry is not None)
        return min((hurry.pace for hurry in hurries if now < hurry.until), default=math.inf)

    def _is_awaited(self, now: float) -> bool:
        """True while somebody waits for what the batch system alone can tell."""
        watched = (self.tracked.get(tag) for tag in self._lists.watched(now))
        return (
            self._strangers.awaited
            or any(one is not None and one.mark is None for one in watched)
            # One that hangs for longer is looked at like all others.
            or (now - self._acted < _CANCELING and any(one.is_canceled for one in self.tracked.values()))
        )

    async def _round(self) -> bool:
        """Cancel, release, look; True if something changed."""
        acted = await self._act()
        began = time.monotonic()
        asked = [one.tag for one in self.tracked.values() if not one.is_ending]
        self._looked = began
        listing = self._strangers.expected or self._lists.due(began, pressing=self._is_awaited(began))
        polled = await self._adapter.poll(asked, renew=not self._strangers.expected, listing=listing)
        if polled.listed:
            self._lists.was_asked(began)
        changed = self._take(polled, began)
        if polled.listed and not polled.silent:
            changed |= await self._end_strangers(polled, began)
        if self.finish.removable:
            # Hundreds of directories take their time, in which looks go on.
            self.spawn(self.finish.remove_some())
        return acted or changed

    async def _act(self) -> bool:
        now, again, listed = time.monotonic(), self._settings.cancel_again, self._lists.asked
        cancel = [one for one in self.tracked.values() if one.cancel_due(now, again, listed)]
        await self._ask(self._adapter.cancel, [one.tag for one in cancel])
        for one in cancel:
            one.cancellation = RequestSent(now)
            self._lists.want(time.monotonic())
        release = [one for one in self.tracked.values() if one.release_due(now, again, listed)]
        await self._ask(self._adapter.release, [one.tag for one in release])
        for one in release:
            one.release = RequestSent(now) if one.id else Requested()
        return bool(release or cancel)

    async def _ask(self, what: Callable[[Sequence[str]], Awaitable[None]], tags: Sequence[str]) -> None:
        """Ask the site for something; where it refuses, news, leases and all else do not wait for that."""
        if tags:
            try:
                await what(tags)
            except SiteFailed as error:
                self.link_note(str(error))

    def _take(self, polled: PollResult, began: float) -> bool:
        """Take in what a look brought."""
        changed = False
        now = time.monotonic()
        for tag, sighting in polled.attempts.items():
            tracked = self.tracked.get(tag)
            if tracked is None:
                continue
            changed |= note_sighting(tracked, sighting, now)
            for notice in notices(tracked, sighting, time.time()):
                self.report(notice)
            mark = ended_mark(sighting.ended, 0.0)
            if mark is not None and not tracked.is_ending:
                tracked.life = ending(tracked.life)
                self.spawn(self.finish.by_marker(tracked, mark, sighting.outputs))
        if polled.silent:
            self.link_note(polled.silent)
        if polled.silent or not polled.listed:
            return changed
        for tracked in list(self.tracked.values()):
            if self.in_slot(tracked.attempt):
                continue
            if is_over(tracked, polled, began, now, self._settings):
                tracked.life = ending(tracked.life)
                self.spawn(self.finish.without_marker(tracked))
                changed = True
        return changed

    async def _end_strangers(self, polled: PollResult, began: float) -> bool:
        """True if there were some that had not been told to end."""
        news, gone = await self._strangers.end(polled, self.tracked, began)
        self.finish.removable += gone
        if self._strangers.expected and not any(one.is_unfenced for one in self.tracked.values()):
            self._strangers.expected = False
            self.wake()
        return news

    def _judge_silence(self) -> None:
        """With leases, what has not been heard from for long enough has ended by itself."""
        if not self._leases.is_over:
            return
        for tracked in list(self.tracked.values()):
            if not tracked.is_ending:
                end = not_heard_from(tracked, time.time(), self._spec.name)
                # Unknown from now on: ended for sure when the site is back.
                self._drop(tracked.tag, AttemptEvent.LEASE_ENDED)
                self._strangers.expected = True
                self.report(end)

    def _ended(self, ended: AttemptEnded) -> None:
        """Report an end, once."""
        tag = ended.component.tag
        if self._drop(tag, AttemptEvent.REPORTED):
            self._strangers.over(tag)
            self.report(ended)
            self.wake()

    def link_note(self, words: str) -> None:
        """Write into the connection's log, unless the last line says the same."""
        log = self._adapter.link.log
        if not log or log[-1][1] != words:
            self._adapter.link.note(words)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("Watching %s failed", self._spec.name, exc_info=error)


async def _one_of(events: Collection[asyncio.Event], seconds: float) -> None:
    """Wait until one of them is set, or for so long."""
    if any(event.is_set() for event in events):
        return
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
