"""How long and how much is kept of jobs: what was chosen, the removal of what is old, word of what goes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from broker_core.broker.engine.ended_jobs import EndedJobs
from broker_core.broker.engine.engine import Engine
from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.broker.site_management.site_registry import SiteRegistry
from broker_core.broker.submission.submissions import Submissions
from broker_core.errors import StorageFull
from broker_core.jobs.placement import Component
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.settings.settings import Settings
from broker_core.sites.left_files import LeftAtSite
from broker_core.sites.remote.settings import ResultLimits
from broker_core.system.clock import now
from broker_core.wire.views import RetentionChange, RetentionView

log = logging.getLogger("crossdesk.retention")
_SLICE = 500
"""Jobs whose rows are removed between two turns of the event loop."""
_FORGOTTEN = 2000
"""Jobs whose files are removed between two turns of the event loop: one exchange of a far site for each."""
_REMOVABLE = (JobState.CLEARED, JobState.ABORTED, JobState.CANCELED)
"""States of jobs that are removed by their age: those that are Done have output which nobody fetched."""
_SHORTEST, _LONGEST = 1.0, 600.0
"""Seconds between two looks for old jobs: a part of the age that is asked for."""
_PARTS = 10
_DAY = 86_400.0


class Purging:
    """Removes ended jobs with all that is kept of them: rows, output here, what is at sites, input files."""

    def __init__(
        self, engine: Engine, ended: EndedJobs, registry: SiteRegistry, submissions: Submissions
    ) -> None:
        self._store = engine.store
        self._ended = ended
        self._registry = registry
        self._submissions = submissions

    async def ended_before(self, moment: float, after: str) -> list[JobRecord]:
        """Some jobs that ended before a moment and that their age may remove, in the order of their ids, from
        `after` on."""
        return await self._store.ended_before(moment, _REMOVABLE, after, _SLICE)

    async def purge(self, jobs: Sequence[str], reason: str) -> list[JobRecord]:
        """Remove those of the jobs that have ended, for a reason in words; returns their records.

        Who is killed amid it has the rest removed by the next broker (`SiteDispatcher.forget_unknown`).
        """
        used = await self._store.files_in_use()
        removed: list[JobRecord] = []
        for start in range(0, len(jobs), _SLICE):
            removed += await self._ended.purge(jobs[start : start + _SLICE], reason)
        for start in range(0, len(removed), _FORGOTTEN):
            await self._registry.forget(removed[start : start + _FORGOTTEN])
        self._submissions.release(used - await self._store.files_in_use())
        self._store.tidy()
        return removed


class RetentionChoice:
    """What is kept how long: as the settings say, or as was chosen since, which is a settings file too."""

    def __init__(self, path: Path, settings: Settings, limits: ResultLimits) -> None:
        """`limits`: those of all sites, which take over what is chosen."""
        self._path = path
        self._limits = limits
        self._chosen = {
            one: getattr(settings, one)
            for one in RetentionChange.model_fields
            if settings.origins.get(one) == str(path)
        }
        """Setting to value, of those that were chosen."""
        self.jobs_age = settings.jobs_age
        """Seconds after its end at which a job is removed; 0: never."""
        self.news = asyncio.Event()
        """Set when another choice was made."""

    @property
    def left_age(self) -> float:
        """Seconds that what did not come home stays at a site; 0: until its job is removed."""
        return self._limits.left_age

    def view(self, fixed: str = "") -> RetentionView:
        """What is in force; `fixed`: why it cannot be changed."""
        named = {one.name: getattr(self._limits, one.name) for one in fields(self._limits)}
        return RetentionView(jobs_age=self.jobs_age, fixed=fixed, **named)

    def choose(self, change: RetentionChange) -> None:
        """Put a choice in force and keep it over restarts, where it wins over `broker.toml`.

        What was sent to a site keeps the `results_max` it was sent with, and what stayed there the day on
        which it goes. Raises StorageFull where the choice cannot be kept; then nothing changes.
        """
        chosen = self._chosen | change.model_dump(exclude_none=True)
        self._write(chosen)
        self._chosen = chosen
        self.jobs_age = chosen.get("jobs_age", self.jobs_age)
        for one in fields(self._limits):
            setattr(self._limits, one.name, chosen.get(one.name, getattr(self._limits, one.name)))
        self.news.set()

    def _write(self, chosen: Mapping[str, float]) -> None:
        """Whole or not at all."""
        fresh = self._path.with_suffix(".new")
        try:
            fresh.write_text(
                "".join(f"{name} = {value}\n" for name, value in chosen.items()), encoding="utf-8"
            )
            fresh.replace(self._path)
        except OSError as error:
            raise StorageFull(
                f"The choice cannot be kept: {(error.strerror or str(error)).lower()}.",
                place=str(self._path),
                remedy="Make room on the disk, then choose again.",
            ) from error


class Retention:
    """In rounds: removes jobs that are older than was chosen, and tells what will go from sites in a day."""

    def __init__(
        self, choice: RetentionChoice, sites: SiteDispatcher, ended: EndedJobs, purging: Purging
    ) -> None:
        self._choice = choice
        self._sites = sites
        self._ended = ended
        self._purging = purging
        self._recorded: set[tuple[Component, float]] = set()
        """What goes when, as far as this process knows that its story says so."""
        self._task: asyncio.Task[None] | None = None
        self._slice: asyncio.Task[list[JobRecord]] | None = None

    def start(self) -> None:
        """Begin the rounds."""
        self._task = asyncio.create_task(self._rounds(), name="retention")

    async def close(self) -> None:
        """End them; jobs whose removal has begun are removed with their files."""
        if self._task is not None:
            self._task.cancel()
        under_way = [task for task in (self._task, self._slice) if task is not None]
        await asyncio.gather(*under_way, return_exceptions=True)

    async def _rounds(self) -> None:
        while True:
            self._choice.news.clear()
            for part in (self.tell_expiring, self.remove_old):
                try:
                    await part()
                except Exception:  # whatever it is, the next round comes
                    log.exception("What is old is looked for again later")
            await self._pause()

    async def _pause(self) -> None:
        """Until a part of the age has passed, or another one is chosen."""
        age = self._choice.jobs_age
        pause = min(max(age / _PARTS, _SHORTEST), _LONGEST) if age else _LONGEST
        try:
            async with asyncio.timeout(pause):
                await self._choice.news.wait()
        except TimeoutError:
            return

    async def expiring(self) -> dict[Component, LeftAtSite]:
        """What ended attempts left at sites that is removed there within a day."""
        soon, found = now().wall + _DAY, dict[Component, LeftAtSite]()
        for site in list(self._sites.sites.values()):  # some may be added or removed meanwhile
            left = await site.all_left()
            found |= {one: what for one, what in left.items() if what.goes is not None and what.goes <= soon}
        return found

    async def tell_expiring(self) -> None:
        """Have the stories of jobs say that what they left goes within a day: once, also over restarts."""
        found = {(one, left.goes or 0.0) for one, left in (await self.expiring()).items()}
        new = sorted(found - self._recorded, key=lambda item: item[0].tag)
        for start in range(0, len(new), _SLICE):
            await self._ended.tell_expiring({one.job: goes for one, goes in new[start : start + _SLICE]})
        self._recorded = found

    async def remove_old(self) -> None:
        """Remove the jobs that ended longer ago than was chosen.

        Not those whose output was not fetched (they are Done, not Cleared), and not those of which something
        is at a site still: that goes by an age of its own (`left_age`), or stays until somebody removes the
        job where it has none. What aborted and canceled jobs had written goes with them.
        """
        age = self._choice.jobs_age
        if not age:
            return
        old, after = list[str](), ""
        while found := await self._purging.ended_before(now().wall - age, after):
            after = found[-1].id
            old += [record.id for record in found if not await self._keeps_files(record)]
        reason = f"Removed {_in_words(age)} after its end, as the settings say"
        for start in range(0, len(old), _FORGOTTEN):
            some = old[start : start + _FORGOTTEN]
            self._slice = asyncio.create_task(self._purging.purge(some, reason), name="purging old jobs")
            removed = await asyncio.shield(self._slice)
            log.info("%d jobs that ended %s ago are removed", len(removed), _in_words(age))

    async def _keeps_files(self, record: JobRecord) -> bool:
        """True if what a job left at its site is to stay."""
        site = self._sites.site_of(record.ce)
        if site is None:
            return False
        left = await site.left(record.component)
        if left.is_empty:
            return False
        goes = left.goes
        if goes is None and self._choice.left_age and not site.holds:
            goes = (record.ended or 0.0) + self._choice.left_age  # here nothing else removes it
        return goes is None or goes > now().wall


def _in_words(age: float) -> str:
    """Days where these are whole, else seconds."""
    number, unit = (age, "second") if age % _DAY else (age / _DAY, "day")
    return f"{number:,g} {unit}" if number == 1 else f"{number:,g} {unit}s"
