"""An ARC computing element behind the contract of adapters (CB-UPD-01)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from broker_core.errors import NotFound
from broker_core.resources.facts import Facts
from broker_core.sites.adapter import EndRecord, Launch, Leftover, PollResult
from broker_core.sites.arc.description import CANCEL, GO, RELEASE
from broker_core.sites.arc.information import facts_of_site
from broker_core.sites.arc.jobs import ArcJob, HandOver, Jobs
from broker_core.sites.arc.rest import Rest, all_done
from broker_core.sites.arc.session_directories import SessionDirectories
from broker_core.sites.arc.submission import ArcSubmission
from broker_core.sites.arc.survey import Survey
from broker_core.sites.contract import AgentOrder, RunFile, SiteRefused
from broker_core.sites.lines import LineAnswer, LineCall
from broker_core.sites.link import Link, LinkState
from broker_core.sites.remote.settings import ResultLimits
from broker_core.sites.transport.contract import LinkLost
from broker_core.sites.transport.way_back import RelayPlace, WayBack, plain_way
from broker_core.wire.sites import SiteSpec

_TAKEN = "202"
_UNKNOWN = "404"
_GRACE = 20.0
"""Seconds for a job to end itself before A-REX is told to kill it."""
_ANEW = 2.0
"""Seconds for A-REX to write its own record of a job anew: it lists a job only while that can be read."""


class ArcAdapter:
    """Jobs by REST, held by an input file that is sent at their release; files by their session's URL.

    An attempt is a job named `{mark}.{tag}`. Should the answer to a submission be lost, there may be two of
    a name: neither has been released then, and one is killed before the other is.
    """

    kind = "arc"
    holds = True
    outside = None
    glideins = None

    def __init__(
        self, spec: SiteSpec, mark: str, changed: Callable[[Link], None], results: ResultLimits | None = None
    ) -> None:
        """`mark`: tells this broker's jobs from others'; `changed`: hears of each change of the link.

        `results`: what comes home; the usual limits without it.
        """
        self.link = Link(changed)
        self.link.way.add(urlsplit(spec.url).hostname or "")
        self._spec, self._mark = spec, mark
        self._rest = Rest(spec, self.link)
        self._jobs = Jobs()
        self._sessions = SessionDirectories(self._rest)
        self._survey = Survey(self._rest, self._sessions, self._jobs, mark)
        results = results or ResultLimits()
        self._submission = ArcSubmission(self._rest, self._sessions, self._jobs, spec, mark, results)
        self._let_go: set[str] = set()
        """Tags to be released that could not be yet."""

    async def open(self) -> None:
        """See `Adapter.open`."""
        self._rest.keeper.open()

    def answer(self, id: str, value: str) -> None:
        """Answer the link's question; empty: the user declines. Raises NotFound where it is not open."""
        self._rest.answer(id, value)

    def connect_now(self) -> None:
        """Try to connect at once; harmless while connected."""
        self._rest.keeper.open()

    def hurry(self) -> None:
        """See `Adapter.hurry`."""
        if self.link.state in (LinkState.RETRYING, LinkState.DOWN):
            self._rest.keeper.open()

    async def submit(self, launches: Sequence[Launch]) -> Sequence[str | SiteRefused]:
        """See `Adapter.submit`."""
        await self._ascertain()
        jobs = [job for launch in launches for job in self._jobs.all_of(launch.order.attempt.tag)]
        await all_done(self._survey.look_in(job) for job in jobs if job.is_unclear)
        # What A-REX gave up before its release stands in the way of another try.
        await self._clean([job for job in jobs if job.never_came])
        return await self._submission.submit(launches)

    async def release(self, tags: Sequence[str]) -> None:
        """See `Adapter.release`."""
        self._let_go.update(tags)
        await self._release()

    async def poll(self, tags: Sequence[str], *, renew: bool = True, listing: bool = True) -> PollResult:
        """See `Adapter.poll`; there are no leases."""
        await self._survey.states()
        await self._survey.inspect()
        await self._bury()
        await self._insist()
        await self._release()
        found = {tag: job for tag in self._jobs.tags() if (job := self._jobs.chosen(tag)) is not None}
        seen = {tag: job.sighting() for tag, job in found.items() if job.is_staged or not job.is_waiting}
        return PollResult(seen, missing=frozenset(tags) - seen.keys())

    async def cancel(self, tags: Sequence[str]) -> None:
        """See `Adapter.cancel`: what runs is ended by its starter, which can tell, the rest by A-REX."""
        self._let_go.difference_update(tags)
        await self._end([job for tag in tags for job in self._jobs.all_of(tag) if not job.is_over])

    async def end_records(self, tags: Sequence[str]) -> Mapping[str, EndRecord]:
        """See `Adapter.end_records`: it comes with each look."""
        found = {tag: self._jobs.chosen(tag) for tag in tags}
        records = {tag: job.end_record() for tag, job in found.items() if job is not None}
        return {tag: record for tag, record in records.items() if record is not None}

    async def files(self, tag: str) -> list[RunFile]:
        """See `Adapter.files`."""
        job = self._jobs.chosen(tag)
        return await self._sessions.files(job.id) if job is not None else []

    async def fetch(self, tag: str, names: Sequence[str], into: Path) -> None:
        """See `Adapter.fetch`; what is not there (any more) is left out."""
        job = self._jobs.chosen(tag)
        if job is not None:
            await all_done(self._sessions.fetch(job.id, name, into) for name in names)

    async def carry_lines(self, tag: str, call: LineCall) -> LineAnswer:
        """See `Adapter.carry_lines`: files of a running job can be read there, but none be added to."""
        raise NotFound("Lines cannot be carried to an ARC site.", place=self._spec.name)

    async def bring_agent(self, tag: str, order: AgentOrder) -> None:
        """See `Adapter.bring_agent`: nothing can be added to a job that runs there."""
        raise NotFound(
            "An ARC site takes nothing into a job that runs.",
            place=self._spec.name,
            remedy="Start it as an interactive job.",
        )

    async def remove(self, tags: Sequence[str]) -> None:
        """See `Adapter.remove`."""
        await self._ascertain()
        jobs = [job for tag in tags for job in self._jobs.all_of(tag)]
        # A-REX removes only what is over; one may have been handed over by a process that was killed then.
        await self._survey.act("kill", [job.id for job in jobs if not job.is_over])
        await self._clean(jobs)

    async def leftovers(self, after: str, age: float) -> Sequence[Leftover]:
        """See `Adapter.leftovers`; of an attempt there is its job, which does not change once it is over."""
        await self._survey.states()
        await self._survey.inspect()
        tags = sorted(tag for tag in self._jobs.tags() if tag > after)
        over = (job for tag in tags if (job := self._jobs.chosen(tag)) is not None and job.is_over)
        return [Leftover(job.tag, begun=not job.never_ran) for job in over]

    @property
    def traces(self) -> str:
        """See `Adapter.traces`."""
        return f"jobs whose names begin with “{self._mark}.”, and their sessions"

    async def leave(self, ended: Collection[str]) -> list[str]:
        """See `Adapter.leave`; nothing lies there but the sessions of jobs, which go with them.

        Returns all that A-REX listed: that it took an order to remove a job is no proof that it does. What
        was not listed before may live, and is ended.
        """
        there = await self._listed() or await self._listed_again()
        await self._survey.inspect()
        await self._end([job for job in there if not job.is_over and job.cancel_asked is None])
        await self._order_removal([job for job in there if job.is_over])
        return sorted({job.tag for job in there})

    async def look(self) -> tuple[Facts, ...]:
        """See `Adapter.look`; raises SourceFailed for what cannot be read."""
        return facts_of_site(await self._rest.information(), self._spec, self._rest.port)

    def renew(self) -> None:
        """See `Adapter.renew`: what A-REX publishes is asked for as a whole anyway."""

    async def forecast(self, launch: Launch) -> float | None:
        """See `Adapter.forecast`; ARC tells nothing of a single job beforehand."""
        return None

    async def way_back(self, relay: RelayPlace, ports: Sequence[int]) -> WayBack:
        """See `Adapter.way_back`; nobody leads connections back from there."""
        return await plain_way(relay, self._rest.host)

    async def close(self) -> None:
        """See `Adapter.close`."""
        await self._rest.close()

    async def _ascertain(self) -> None:
        """Have a look first where A-REX may have jobs that are not known."""
        if not self._submission.certain:
            await self._survey.states()
            self._submission.certain = True

    async def _release(self) -> None:
        """Send the file for which the jobs wait, where one job alone bears the tag."""
        ready = []
        for tag in sorted(self._let_go):
            job = self._jobs.chosen(tag)
            if job is None or not job.is_waiting or job.is_over:
                self._let_go.discard(tag)
            elif all(other is job or other.never_ran for other in self._jobs.all_of(tag)):
                ready.append(job)
        await all_done(map(self._send_go, ready))

    async def _send_go(self, job: ArcJob) -> None:
        if job.handed_over is HandOver.UNKNOWN:
            await self._survey.look_in(job)
        if job.is_staged:
            job.handed_over = HandOver.RELEASING
            if (await self._sessions.write(job.id, GO, RELEASE)).good:
                job.handed_over = HandOver.RELEASED
            self._let_go.discard(job.tag)

    async def _bury(self) -> None:
        """End jobs that stand for no attempt."""
        surplus = self._jobs.surplus()
        await self._survey.act("kill", [job.id for job in surplus if not job.is_over])
        # What cannot be removed now is surplus in the next look too.
        await self._cleaned([job for job in surplus if job.is_over])

    async def _insist(self) -> None:
        """Kill what did not end itself in time."""
        late = time.monotonic() - _GRACE
        left = [job for job in self._jobs.of.values() if job.cancel_asked and not job.is_over]
        await self._survey.act(
            "kill", [job.id for job in left if job.cancel_asked and job.cancel_asked < late]
        )

    async def _end(self, jobs: Sequence[ArcJob]) -> None:
        """End jobs that are not over."""
        # What is known of a job is as old as the last poll: it may have begun meanwhile.
        running = [job for job in jobs if not job.is_waiting and job.cancel_asked is None]
        await all_done(self._sessions.write(job.id, CANCEL, b"1\n") for job in running)
        for job in jobs:
            job.cancel_asked = job.cancel_asked or time.monotonic()
        await self._survey.act("kill", [job.id for job in jobs if not job.started])

    async def _listed(self) -> list[ArcJob]:
        """This broker's jobs that A-REX has, those too that it was told to remove."""
        self._jobs.leaving.clear()
        await self._survey.states()
        return list(self._jobs.of.values())

    async def _listed_again(self) -> list[ArcJob]:
        """The same once more: what is not listed at one time may be there all the same."""
        await asyncio.sleep(_ANEW)
        return await self._listed()

    async def _order_removal(self, jobs: Sequence[ArcJob]) -> None:
        """Have A-REX remove jobs, known until it lists them no more; raises LinkLost if it refuses."""
        answers = await self._survey.act("clean", [job.id for job in jobs])
        refused = [one for one in answers if str(one.get("status-code")) not in (_TAKEN, _UNKNOWN)]
        if refused:
            tag = next((job.tag for job in jobs if job.id == str(refused[0].get("id"))), "a job")
            raise LinkLost(
                f"{self._rest.host} does not remove {tag}: {_reason(refused, ())}.", place=self._spec.name
            )

    async def _clean(self, jobs: Sequence[ArcJob]) -> None:
        """Have A-REX remove jobs with their sessions; raises LinkLost where it does not take that."""
        if trouble := await self._cleaned(jobs):
            raise LinkLost(trouble, place=self._spec.name)

    async def _cleaned(self, jobs: Sequence[ArcJob]) -> str:
        """Have A-REX remove jobs; what it does not take, in words."""
        answers = await self._survey.act("clean", [job.id for job in jobs])
        taken = {str(one.get("id")) for one in answers if str(one.get("status-code")) == _TAKEN}
        left = [job for job in jobs if job.id not in taken]
        for job in jobs:
            if job.id in taken:
                self._jobs.drop(job)
                # It is listed until A-REX comes to it.
                self._jobs.leaving[job.id] = time.monotonic()
        if not left:
            return ""
        # What is said to be unknown may be there: A-REX says so too while it writes its own record anew.
        self._submission.certain = False
        return f"{self._rest.host} does not remove {left[0].tag}: {_reason(answers, taken)}."


def _reason(answers: Sequence[Mapping[str, Any]], taken: Container[str]) -> str:
    """Why the first that was not taken was not, in A-REX's words."""
    said = (str(one.get("reason", "")) for one in answers if str(one.get("id")) not in taken)
    return next(said, "") or "it does not say why"
