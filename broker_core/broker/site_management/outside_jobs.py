"""Jobs of the broker's accounts that were submitted outside CrossDesk: shown, never taken for its own.

Nothing here reaches the scheduler, the orphans or the clean-up of a site; what is kept has its own table.
A batch system is asked while somebody looks, and at no other time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from broker_core.bookkeeping.entries import OutsideChange
from broker_core.bookkeeping.sqlite.codec import clean
from broker_core.bookkeeping.store import Store
from broker_core.broker.site_management.site_registry import SiteRegistry
from broker_core.errors import CrossDeskError, NotFound
from broker_core.sites.batch.names import bears
from broker_core.sites.link import LinkState
from broker_core.sites.outside import OutsideAccess, OutsideEnd, is_outside_id
from broker_core.system.clock import now
from broker_core.wire.outside import OutsideDetail, OutsideJob, OutsideJobs, OutsideOutput
from broker_core.wire.outside_columns import UNKNOWN
from broker_core.wire.sites import LogLine

log = logging.getLogger("crossdesk.sites")
INTERVAL = 30.0
"""Seconds between two looks at one site, while somebody looks."""
_WANTED = 2.0
"""The same where somebody waits for the answer."""
RETENTION = 86_400.0
"""Seconds for which a job stays in the list after its end."""
_DEADLINE = 45.0
"""Seconds that a look may take."""
_ACCOUNTED = 600.0
"""Seconds after which accounting is asked no more for an end that it did not know."""
_ASKED = 50
"""Ends that are asked for with one look."""
_STORY = 40
"""Lines of a job's story."""
_ACTIVE = frozenset({"Waiting", "Running"})
_LEFT = "It has left the batch system's list; how it ended is not known there."
_SEEN = ("name", "state", "word", "reason", "queue", "cpus", "node", "submitted", "started")
"""What a look tells."""


class OutsideWatch:
    """Knows them all, by site; asks the sites, and keeps what they said."""

    def __init__(self, store: Store, registry: SiteRegistry, changed: Callable[[], None]) -> None:
        """`changed`: called when something is different from what was told before."""
        self._store, self._registry, self._changed = store, registry, changed
        self._jobs: dict[str, dict[str, OutsideJob]] = {}
        """Site to id to job."""
        self._polled: dict[str, float] = {}
        self._silent: dict[str, str] = {}
        self._polls: dict[str, asyncio.Task[None]] = {}

    async def start(self) -> None:
        """Read what was kept."""
        for site, id, body in await self._store.outside_jobs():
            try:
                self._jobs.setdefault(site, {})[id] = OutsideJob.model_validate_json(body)
            except ValueError as error:
                log.warning("What was kept of job %s at %s cannot be read: %s", id, site, error)

    async def close(self) -> None:
        """Ask no more."""
        for task in self._polls.values():
            task.cancel()
        await asyncio.gather(*self._polls.values(), return_exceptions=True)

    async def view(self, *, refresh: bool, wait: bool = False) -> OutsideJobs:
        """All that is known. `refresh`: ask sites that were not for a while; `wait`: until they answer."""
        shown = self._shown()
        if refresh:
            pause = _WANTED if wait else INTERVAL
            asked = [self._poll_soon(name, access, pause) for name, access in shown.items()]
            if wait and asked:
                await asyncio.wait(asked)
        return OutsideJobs(
            jobs=[job for site in self._shown() for job in self._unexpired(site)],
            polled={name: when for name, when in self._polled.items() if name in shown},
            silent={name: why for name, why in self._silent.items() if name in shown},
        )

    async def detail(self, site: str, id: str) -> OutsideDetail:
        """All about one; raises NotFound."""
        job, access = self._job(site, id), self._access(site)
        if job.state not in _ACTIVE:
            return OutsideDetail(job=job, trouble="It has ended; the batch system is not asked any more.")
        try:
            facts = await access.facts(id)
        except CrossDeskError as error:
            return OutsideDetail(job=job, trouble=str(error))
        return OutsideDetail(job=job, facts=[(clean(name), clean(value)) for name, value in facts])

    async def output(self, site: str, id: str, *, error: bool) -> OutsideOutput:
        """The end of a file that it writes; raises NotFound and LinkLost."""
        self._job(site, id)
        found = await self._access(site).output(id, error=error)
        return found.model_copy(update={"path": clean(found.path), "text": clean(found.text)})

    async def cancel(self, site: str, id: str, owner: str) -> OutsideJob:
        """End it, for a user; raises NotFound, LinkLost and SiteFailed. Its story tells of it."""
        job, access = self._job(site, id), self._access(site)
        await self._note(job, f"{owner} asks CrossDesk to cancel it.")
        log.info("%s cancels job %s at %s, which was submitted outside", owner, id, site)
        try:
            await access.cancel(id)
        except CrossDeskError as error:
            await self._note(self._job(site, id), f"It was not canceled: {error}")
            raise
        await self._note(self._job(site, id), "The batch system was told to cancel it.")
        self._poll_soon(site, access, 0.0)
        return self._job(site, id)

    def _shown(self) -> dict[str, OutsideAccess]:
        """Sites whose settings want them shown, with how they are asked."""
        found = {name: self._registry.outside(name) for name in self._registry.specs}
        return {name: access for name, access in found.items() if access is not None}

    def _access(self, site: str) -> OutsideAccess:
        """Raises NotFound."""
        access = self._shown().get(site)
        if access is None:
            raise NotFound("Jobs outside CrossDesk are not shown for this site.", place=site)
        return access

    def _job(self, site: str, id: str) -> OutsideJob:
        """Raises NotFound."""
        job = self._jobs.get(site, {}).get(id) if is_outside_id(id) else None
        if job is None:
            raise NotFound("There is no such job outside CrossDesk.", place=f"{site}/{id}")
        return job

    def _unexpired(self, site: str) -> list[OutsideJob]:
        limit = now().wall - RETENTION
        return [job for job in self._jobs.get(site, {}).values() if job.ended is None or job.ended > limit]

    # --- looking

    def _poll_soon(self, name: str, access: OutsideAccess, pause: float) -> asyncio.Task[None]:
        """The look that is under way, or a new one; it does nothing where one is younger than `pause`."""
        task = self._polls.get(name)
        if task is None or task.done():
            task = asyncio.create_task(self._poll(name, access, pause), name=f"jobs outside at {name}")
            self._polls[name] = task
        return task

    async def _poll(self, name: str, access: OutsideAccess, pause: float) -> None:
        if now().wall - self._polled.get(name, 0.0) < pause:
            return
        link = self._registry.link(name)
        if link.state is not LinkState.CONNECTED:
            self._say(name, link.reason or f"It is {link.state.value}.")
            return
        try:
            async with asyncio.timeout(_DEADLINE):
                seen = await access.jobs()
            await self._take(name, seen, access)
        except TimeoutError:
            self._say(name, "Its batch system did not answer.")
        except CrossDeskError as error:
            self._say(name, str(error))
        except Exception as error:
            # Whatever a batch system prints, the broker's own jobs and other sites are not concerned.
            log.exception("Looking for jobs outside at %s failed", name)
            self._say(name, f"Something unforeseen: {error!r}")

    def _say(self, name: str, why: str) -> None:
        if self._silent.get(name) != why:
            self._silent[name] = why
            self._changed()

    async def _take(self, name: str, seen: Sequence[OutsideJob], access: OutsideAccess) -> None:
        moment = now().wall
        marks = self._registry.marks()
        others = [_cleaned(job) for job in seen if not any(bears(job.name, mark) for mark in marks)]
        known = self._jobs.setdefault(name, {})
        changed = {job.id: _followed(known.get(job.id), job, moment) for job in others}
        gone = [job for job in known.values() if job.id not in changed and _open(job, moment)]
        if gone:
            ends = await _ends(access, [job.id for job in gone][:_ASKED])
            changed |= {job.id: _ended(job, ends.get(job.id), moment) for job in gone}
        changed = {id: job for id, job in changed.items() if job != known.get(id)}
        expired = [
            job.id for job in known.values() if job.ended is not None and job.ended < moment - RETENTION
        ]
        await self._keep(name, changed, expired)
        self._polled[name] = moment
        silence = self._silent.pop(name, None)
        if changed or expired or silence:
            self._changed()

    async def _keep(self, site: str, changed: Mapping[str, OutsideJob], gone: Sequence[str] = ()) -> None:
        """Keep it in the store first; raises StorageFull."""
        if changed or gone:
            bodies = {id: job.model_dump_json() for id, job in changed.items()}
            await self._store.keep_outside(OutsideChange(site, bodies, gone))
        known = self._jobs.setdefault(site, {})
        known.update(changed)
        for id in gone:
            known.pop(id, None)

    async def _note(self, job: OutsideJob, words: str) -> None:
        noted = _with_line(job, words, now().wall)
        await self._keep(job.site, {job.id: noted})
        self._changed()


def _cleaned(job: OutsideJob) -> OutsideJob:
    """The same, with what cannot be written or sent escaped."""
    texts = ("name", "word", "reason", "queue", "node")
    return job.model_copy(update={name: clean(getattr(job, name)) for name in texts})


def _with_line(job: OutsideJob, words: str, moment: float) -> OutsideJob:
    """The job with one more line in its story."""
    story = [*job.story, LogLine(time=moment, words=words)][-_STORY:]
    return job.model_copy(update={"story": story})


def _followed(before: OutsideJob | None, seen: OutsideJob, moment: float) -> OutsideJob:
    """What was seen now, with the story of what was seen before. A number may be given again: another job."""
    ended = {} if seen.state in _ACTIVE else {"ended": moment}
    if before is not None and seen.submitted is None:
        # Grid Engine tells it of those that wait alone.
        seen = seen.model_copy(update={"submitted": before.submitted})
    if before is None or (before.submitted, before.name) != (seen.submitted, seen.name):
        return _with_line(seen.model_copy(update=ended), f"First seen: {_words(seen)}", moment)
    if all(getattr(before, name) == getattr(seen, name) for name in _SEEN):
        return before
    after = seen.model_copy(update={"story": before.story, **ended})
    return after if _words(after) == _words(before) else _with_line(after, _words(after), moment)


def _words(job: OutsideJob) -> str:
    state = f"{job.state} ({job.word})"
    return f"{state}: {job.reason}" if job.reason else f"{state}{f' at {job.node}' if job.node else ''}"


def _open(job: OutsideJob, moment: float) -> bool:
    """It was there, or its end may be told yet."""
    return job.state in _ACTIVE or (job.state == UNKNOWN and moment - (job.ended or 0.0) < _ACCOUNTED)


async def _ends(access: OutsideAccess, ids: Sequence[str]) -> dict[str, OutsideEnd]:
    try:
        async with asyncio.timeout(_DEADLINE):
            return await access.ends(ids)
    except (CrossDeskError, ValueError, TimeoutError) as error:
        log.info("How jobs outside ended is not known: %s", error)
        return {}


def _ended(job: OutsideJob, end: OutsideEnd | None, moment: float) -> OutsideJob:
    """A job that is not listed any more, with its end as far as it is known."""
    if end is None:
        if job.state == UNKNOWN:
            return job
        gone = {"state": UNKNOWN, "word": "", "reason": _LEFT, "ended": moment}
        return _with_line(job.model_copy(update=gone), _LEFT, moment)
    fields: dict[str, Any] = {
        "state": end.state,
        "word": clean(end.word),
        "reason": "",
        "ended": end.ended or job.ended or moment,
        "started": end.started or job.started,
        "exit_code": end.exit_code,
    }
    code = "" if end.exit_code is None else f", exit code {end.exit_code}"
    return _with_line(job.model_copy(update=fields), f"Ended: {end.state} ({clean(end.word)}{code})", moment)
