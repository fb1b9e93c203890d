"""The end of an attempt at a remote site: its output is brought and proved, then the end is kept and told."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from broker_core.errors import CrossDeskError, NotFound
from broker_core.jobs.attempt_events import AttemptEnded
from broker_core.sites.adapter import Adapter, EndRecord
from broker_core.sites.batcher import Batcher
from broker_core.sites.contract import RunFile
from broker_core.sites.endings import CANCELED, outcome_of, usage_of
from broker_core.sites.left_files import LeftAtSite
from broker_core.sites.remote.records import RemoteRecords
from broker_core.sites.remote.remote_attempt import Presence, RemoteAttempt
from broker_core.sites.remote.settings import RemoteSettings
from broker_core.sites.remote.stage_out import OutputBroken, bring, read_left, read_outputs
from broker_core.sites.shell.files import writable
from broker_core.sites.shortage import is_shortage
from broker_core.worker.markers import EndedMark

log = logging.getLogger("crossdesk.sites")
_TOGETHER, _AT_ONCE = 0.2, 50
"""Ends that come within so many seconds are asked after by one command, so many at the most."""
_MOST_CANCELED = 200
"""Of those that have gone, so many are canceled by one command."""
_MOST_SHORT, _SHORT_AT_ONCE = 16, 4
"""Short work with files of this machine is done by threads, so many pieces at once by one of so many: to hand
one over costs as much as most pieces."""
_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
Done = TypeVar("Done")


def end_by_marker(one: RemoteAttempt, mark: EndedMark, now: float, begun: float) -> AttemptEnded:
    """The starter says how it ended. `now`: wall clock; `begun`: nothing at the site happened before."""
    code, number, failure, reason = outcome_of(mark, None)
    ended_there = number or mark.terminated or failure == "lost"
    if one.is_canceled and failure not in ("wall-limit", "lease") and ended_there:
        code, number, failure, reason = None, None, *CANCELED
    elif mark.terminated and not failure:
        code, number, failure = None, None, "lost"
        reason = "The site's batch system ended it: canceled there, at a time limit, or with its node."
    started = one.mark
    return AttemptEnded(
        component=one.attempt,
        time=min(max(mark.time, begun), now),
        exit_code=code,
        signal=number,
        failure=failure,
        reason=reason,
        usage=usage_of(started, mark),
        started=min(max(started.time, begun), now) if started else None,
    )


def end_without_marker(one: RemoteAttempt, now: float, site: str) -> AttemptEnded:
    """The site has it no more, and no starter recorded an end."""
    if one.is_canceled:
        failure, reason = CANCELED
    elif one.mark is not None:
        failure = "lost"
        reason = f"{site} does not know it any more, and its Job Starter gave no sign of life."
    elif one.presence is Presence.STUCK:
        failure = "never-starts"
        reason = f"{site} would never start it: {one.reason}."
    elif one.presence is not Presence.NEVER or one.id:
        failure = "starter"
        reason = f"{site} ended it before the Job Starter began" + (f": {one.reason}." if one.reason else ".")
    else:
        failure, reason = "lost", f"{site} has no such attempt."
    started = one.mark
    return AttemptEnded(
        one.attempt,
        now,
        None,
        failure=failure,
        reason=reason,
        started=min(started.time, now) if started else None,
    )


def end_by_record(ended: AttemptEnded, record: EndRecord) -> AttemptEnded:
    """An end of which the starter knew too little, with the batch system's own word."""
    usage = dict(ended.usage)
    if record.peak_memory:
        usage["max_rss_bytes"] = max(usage.get("max_rss_bytes", 0.0), float(record.peak_memory))
    if not record.failure:
        return replace(ended, usage=usage)
    began = ended.started is not None
    words = f"The site's batch system says: {record.words} ({record.state})."
    if ended.signal is not None and record.failure not in ("out-of-memory", "wall-limit"):
        return replace(ended, usage=usage)  # that the program was killed is the better word
    # Limits are those of an application that ran.
    failure = record.failure if began else ended.failure
    reason = words if began else f"{ended.reason} {words}"
    return replace(ended, failure=failure, reason=reason, usage=usage)


class RemoteFinish:
    """Brings attempts home; several at the same time."""

    def __init__(
        self,
        site: str,
        adapter: Adapter,
        records: RemoteRecords,
        settings: RemoteSettings,
        ended: Callable[[AttemptEnded], None],
    ) -> None:
        """`ended`: hears of each end once its output is here and the end is written down."""
        self._site, self._adapter, self._settings = site, adapter, settings
        self._records = records
        self._ended = ended
        self._ends: Batcher[str, EndRecord | None] = Batcher(
            self._recorded, linger=_TOGETHER, most=_AT_ONCE, at_once=1
        )
        self._cancels: Batcher[str, None] = Batcher(
            self._canceled, linger=_TOGETHER, most=_MOST_CANCELED, at_once=1
        )
        self._files: Batcher[Callable[[], Any], Any] = Batcher(
            self._in_thread, linger=0.0, most=_MOST_SHORT, at_once=_SHORT_AT_ONCE
        )
        self.removable: list[str] = []
        """Tags whose directories at the site are not needed any more."""
        self._removing = False

    async def by_marker(self, tracked: RemoteAttempt, mark: EndedMark, outputs: bytes) -> None:
        """The starter recorded an end, and a list of output."""
        ended = end_by_marker(tracked, mark, time.time(), 0.0)
        if mark.terminated or ended.signal == signal.SIGKILL:
            ended = await self._with_record(tracked, ended)
        trouble = await self._bring(tracked, outputs)
        if trouble and not ended.failure:
            ended = replace(ended, failure="upload", reason=trouble)
        left = _left(outputs, time.time(), self._settings.left_age)
        await self._keep(ended, brought=not trouble, left=left)
        if not trouble and left.is_empty:
            self.removable.append(tracked.tag)
        self._ended(ended)

    async def without_marker(self, tracked: RemoteAttempt) -> None:
        """The site does not have it any more; should it lie, the starter finds that it was canceled."""
        tag = tracked.tag
        await self._until_done(lambda: self._cancels.ask(tag), f"The end of {tag} is told later")
        ended = await self._with_record(tracked, end_without_marker(tracked, time.time(), self._site))
        await self._keep(ended)
        self._ended(ended)

    async def _with_record(self, tracked: RemoteAttempt, ended: AttemptEnded) -> AttemptEnded:
        """An end with what the batch system wrote down of it, where the starter could not say it."""
        known = ended.failure not in ("", "lost", "starter") or tracked.is_canceled
        for pause in () if known else self._settings.record_pauses:
            await asyncio.sleep(pause)
            try:
                record = await self._ends.ask(tracked.tag)
            except CrossDeskError as error:
                self._adapter.link.note(f"What is written down of {tracked.tag} could not be asked: {error}")
                break
            if record is not None:
                return end_by_record(ended, record)
        return ended

    async def close(self) -> None:
        """Ask no more."""
        await self._ends.close()
        await self._cancels.close()
        await self._files.close()

    async def list_live(self, tracked: RemoteAttempt) -> list[RunFile]:
        """Files at the site of an attempt that is not over."""
        try:
            found = await self._adapter.files(tracked.tag)
        except NotFound:
            return []
        tracked.sizes = {file.path: file.size for file in found}
        return found

    async def bring_live(self, tracked: RemoteAttempt, path: str) -> None:
        """Bring what is new of one file; of one that is very large its end, behind a hole."""
        into = self._records.open_output(tracked.attempt)
        if path not in tracked.sizes:
            await self.list_live(tracked)
        place, size = into / path, tracked.sizes.get(path, 0)
        skipped = size - self._settings.most_live
        if skipped > (place.lstat().st_size if place.is_file() else 0):
            with writable(place) as file:
                file.truncate(skipped)
        await self._adapter.fetch(tracked.tag, [path], into)

    async def remove_some(self) -> None:
        """Remove the directories of attempts that are here; those that fail are tried again.

        Where this machine's disk fails to keep what came, the site keeps it: asked again, a disk says that
        all is well though it is lost.
        """
        if self._removing:
            return
        self._removing = True
        tags, self.removable = self.removable, []
        try:
            if await self._settled(len(tags)):
                await self._adapter.remove(tags)
        except CrossDeskError as error:
            self._adapter.link.note(f"Directories of ended jobs are removed later: {error}")
            self.removable += tags
        except Exception:
            self.removable += tags
            raise
        finally:
            self._removing = False

    async def _settled(self, jobs: int) -> bool:
        """Have the output of so many jobs on the disk; False where that fails, which is told."""
        try:
            await asyncio.to_thread(self._records.settle)
        except OSError as error:
            trouble = f"This machine's disk does not keep output: {error.strerror} ({error.filename})"
            self._adapter.link.note(f"{trouble}. At the site it stays until its {jobs} jobs are purged.")
            return False
        return True

    async def _bring(self, tracked: RemoteAttempt, outputs: bytes) -> str:
        """Bring the output, however long the connection is away; the trouble in words, if it is broken."""

        async def brought() -> str:
            try:
                into = Path(self._records.output(tracked.attempt))
                tries = self._settings.stagings
                await bring(self._adapter, tracked.tag, outputs, into, tries, self._files.ask)
            except OutputBroken as broken:
                return str(broken)
            except OSError as error:
                if is_shortage(error):
                    raise
                return f"The output cannot be kept here: {error.strerror} ({error.filename})."
            return ""

        return await self._until_done(brought, f"Output of {tracked.tag} comes later")

    async def _in_thread(self, group: Sequence[Callable[[], Any]]) -> list[Any]:
        return await asyncio.to_thread(lambda: [_done(work) for work in group])

    async def _canceled(self, tags: Sequence[str]) -> list[None]:
        await self._adapter.cancel(tags)
        return [None] * len(tags)

    async def _recorded(self, tags: Sequence[str]) -> list[EndRecord | None]:
        found = await self._adapter.end_records(tags)
        return [found.get(tag) for tag in tags]

    async def _keep(
        self, ended: AttemptEnded, *, brought: bool = False, left: LeftAtSite | None = None
    ) -> None:
        """Write an end down, as soon as there is room.

        `brought`: all its output is here; `left`: what else is at the site.
        """

        def written() -> None:
            if left is not None and not left.is_empty:
                self._records.note_left(ended.component, left)
            if brought:
                self._records.note_brought(ended.component)
            self._records.keep(ended)

        async def kept() -> None:
            await self._files.ask(written)

        await self._until_done(kept, f"The end of {ended.component.tag} is told later")

    async def _until_done(self, work: Callable[[], Awaitable[Done]], later: str) -> Done:
        """The answer of `work`, tried again as long as the connection or this machine fails it."""
        pause = _PAUSE
        while True:
            try:
                return await work()
            except (CrossDeskError, OSError) as error:
                self._adapter.link.note(f"{later}: {error}")
            except Exception as error:
                # Else the job would run for ever.
                log.exception("The end of a job of %s cannot be told yet", self._site)
                self._adapter.link.note(f"{later}, for an unforeseen reason: {error!r}")
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)


def _done(work: Callable[[], Any]) -> Any:
    """What it returns, or what went wrong."""
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - who asked for it gets it
        return error


def _left(outputs: bytes, now: float, age: float) -> LeftAtSite:
    """What the Job Starter says that stays there, as it is to be kept from `now` on."""
    left = read_left(outputs)
    try:
        left = left.without(read_outputs(outputs))
    except ValueError:
        pass  # what was to come home is told to be broken
    return replace(left, since=now, goes=now + age if age else None)
