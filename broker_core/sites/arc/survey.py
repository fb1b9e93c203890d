"""Finding out which jobs of this broker a computing element has, and how they are now."""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Mapping, Sequence, Set
from typing import Any

import orjson

from broker_core.sites.arc.answers import jobs as listed
from broker_core.sites.arc.answers import kept_name, name_of
from broker_core.sites.arc.description import GO, LAUNCH, RELEASE
from broker_core.sites.arc.jobs import OVER, STATES, ArcJob, HandOver, Jobs
from broker_core.sites.arc.launch_script import is_whole
from broker_core.sites.arc.rest import Rest, RestResponse, all_done
from broker_core.sites.arc.session_directories import SessionDirectories
from broker_core.sites.transport.contract import LinkLost

AT_ONCE = 100
"""Jobs in one request, and sessions that one poll looks into."""
_REMOVING = 30.0
"""Seconds that A-REX may take to remove a job; one that is there for longer counts as found anew."""
_NAMING = 60.0
"""Seconds for which a job without a name is asked about; A-REX also has no answer while it writes."""
_UNKNOWN = "404"
_WHOLE = b"\n.\n"


class Survey:
    """Brings `jobs` up to date."""

    def __init__(self, rest: Rest, sessions: SessionDirectories, jobs: Jobs, mark: str) -> None:
        self._rest = rest
        self._sessions = sessions
        self._jobs = jobs
        self._prefix = f"{mark}."
        self._nameless: dict[str, float] = {}
        """Id of each job whose name could not be read to when it was found, by the monotonic clock."""

    async def states(self) -> None:
        """All jobs with their states of now: the filter by state looks at the jobs themselves.

        The action `status` does not: it repeats what the information system wrote down up to a minute ago.
        """
        before = set(self._jobs.of)
        found: dict[str, str] = {}
        # What moves on between the two requests is then in both, and the second counts.
        for some in (STATES, sorted(OVER)):
            answer = await self._rest.ask("GET", f"/jobs?state={','.join(some)}")
            found |= {str(one.get("id")): str(one.get("state")) for one in self._read(answer)}
        known = self._jobs.of.keys() | self._jobs.foreign | self._leaving(found)
        await self._name([id for id in found if id not in known])
        await self._miss(before - found.keys())
        for id, state in found.items():
            if (job := self._jobs.of.get(id)) is not None:
                job.state = state
        self._jobs.foreign &= found.keys()

    def _leaving(self, listed: Container[str]) -> Set[str]:
        """What A-REX is about to remove; that it took the order is no proof that it does."""
        late = time.monotonic() - _REMOVING
        left = {id: since for id, since in self._jobs.leaving.items() if id in listed and since > late}
        self._jobs.leaving = left
        return left.keys()

    async def inspect(self) -> None:
        """Look into the sessions that are not known yet, and of the others where there may be news.

        Of the latter those that have not been looked into for longest, as many as one poll may take.
        """
        new = [job for job in self._jobs.of.values() if job.handed_over is HandOver.UNKNOWN]
        due = [
            job
            for job in self._jobs.of.values()
            if job.handed_over is not HandOver.UNKNOWN and _may_have_news(job)
        ]
        due.sort(key=lambda job: job.looked_at)
        await all_done(map(self.look_in, new + due[:AT_ONCE]))

    async def look_in(self, job: ArcJob) -> None:
        """Read what the session of one job tells."""
        job.looked_at = time.monotonic()
        state = job.state
        sizes = await self._sessions.sizes(job.id)
        if sizes is None:
            # Nothing follows from that, unless A-REX does not list the job any more either.
            return
        if job.handed_over is HandOver.UNKNOWN:
            await self._look_first(job, sizes)
        told = await self._read_markers(job, sizes.keys())
        if state in OVER and not job.closed and told:
            if not job.ended:
                job.reason = await self._why(job.id)
            job.closed = True

    async def _look_first(self, job: ArcJob, sizes: Mapping[str, int]) -> None:
        """What another process has sent; a file whose sending was cut off is there in part."""
        if sizes.get(GO, 0) == len(RELEASE):
            job.handed_over = HandOver.RELEASED
            return
        staged = LAUNCH in sizes
        if job.is_waiting and sizes.get(LAUNCH):
            script = await self._sessions.read(job.id, LAUNCH)
            if not script:
                return
            staged = is_whole(script)
        elif job.is_waiting:
            staged = False
        if job.handed_over is HandOver.UNKNOWN:
            job.handed_over = HandOver.STAGED if staged else HandOver.INCOMPLETE

    async def _read_markers(self, job: ArcJob, names: Set[str]) -> bool:
        """Read what the starter left; False if a marker is there that cannot be read in full yet.

        The end counts only together with the list of outputs, which the starter writes before it.
        """
        if "started" in names and not job.started:
            job.started = await self._whole(job.id, "started")
        if "ended" not in names or job.ended:
            return True
        if "started" in names and not job.started:
            return False
        ended = await self._whole(job.id, "ended")
        outputs = await self._sessions.read(job.id, "outputs") if "outputs" in names else b""
        if not ended or ("outputs" in names and not outputs):
            return False
        job.outputs, job.ended = outputs, ended
        return True

    async def _miss(self, ids: Set[str]) -> None:
        """Forget the jobs that are not listed any more, once A-REX has said that it does not know them."""
        for one in await self.act("status", sorted(ids)):
            job = self._jobs.of.get(str(one.get("id")))
            if job is not None and str(one.get("status-code")) == _UNKNOWN:
                self._jobs.drop(job)

    async def _whole(self, id: str, marker: str) -> bytes:
        """A marker; empty while it is being written."""
        raw = await self._sessions.read(id, marker)
        return raw if raw.endswith(_WHOLE) else b""

    async def _why(self, id: str) -> str:
        """Why A-REX says that a job failed."""
        answer = await self._rest.ask("GET", f"/jobs/{id}/diagnose/failed")
        text = answer.body.decode("utf-8", "replace") if answer.good else ""
        return " ".join(text.split())[:500]

    async def _name(self, ids: Sequence[str]) -> None:
        """Learn what new jobs are called; those of others are remembered as such."""
        for start in range(0, len(ids), AT_ONCE):
            for one in await self.act("info", ids[start : start + AT_ONCE]):
                id = str(one.get("id"))
                name = name_of(one) or await self._name_kept(id)
                if name.startswith(self._prefix):
                    self._jobs.add(id, name.removeprefix(self._prefix))
                elif name or self._has_no_name(id):
                    self._jobs.foreign.add(id)

    def _has_no_name(self, id: str) -> bool:
        """True once it is certain: whose name is not there yet may be this broker's."""
        now = time.monotonic()
        self._nameless = {one: since for one, since in self._nameless.items() if since > now - 2 * _NAMING}
        return now - self._nameless.setdefault(id, now) > _NAMING

    async def _name_kept(self, id: str) -> str:
        """The name in A-REX's own record of a job, which is there before its description for others is."""
        answer = await self._rest.ask("GET", f"/jobs/{id}/diagnose/local")
        return kept_name(answer.body) if answer.good else ""

    async def act(self, action: str, ids: Iterable[str]) -> list[dict[str, Any]]:
        """One action on many jobs: `info`, `status`, `kill` or `clean`; what each job's answer is."""
        asked = {"job": [{"id": id} for id in ids]}
        if not asked["job"]:
            return []
        answer = await self._rest.ask("POST", f"/jobs?action={action}", content=orjson.dumps(asked))
        return self._read(answer)

    def _read(self, answer: RestResponse) -> list[dict[str, Any]]:
        if not answer.good:
            raise LinkLost(f"{self._rest.host} answers {answer.status} {answer.reason}.")
        try:
            return listed(answer.body)
        except ValueError as error:
            raise LinkLost(f"{self._rest.host} answers what cannot be read: {error}.") from error


def _may_have_news(job: ArcJob) -> bool:
    if job.closed or job.ended:
        return False
    return not (job.is_waiting or job.state == "SUBMITTING")
