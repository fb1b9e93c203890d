"""Handing attempts over: described in one request, then given their files; they wait for their release."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from broker_core.sites.adapter import Launch
from broker_core.sites.arc.answers import jobs as listed
from broker_core.sites.arc.bundle import Bundle, bundle
from broker_core.sites.arc.description import BUNDLE, LAUNCH, Activity, document
from broker_core.sites.arc.jobs import ArcJob, HandOver, Jobs
from broker_core.sites.arc.launch_script import launch_script
from broker_core.sites.arc.rest import Rest, RestResponse
from broker_core.sites.arc.session_directories import SessionDirectories
from broker_core.sites.contract import SiteRefused
from broker_core.sites.left_files import MOST_NAMES
from broker_core.sites.remote.settings import ResultLimits
from broker_core.sites.staging import StagingFailed
from broker_core.sites.starting import StarterSettings, starter_variables
from broker_core.sites.transport.contract import LinkLost
from broker_core.wire.sites import SiteSpec
from broker_core.worker.script import (
    MARK,
    mpi_start_path,
    overlay_files,
    publish_path,
    software_path,
    use_path,
)

_AT_ONCE = 50
"""Jobs in one request."""
_BEAT = 3
"""Seconds between two looks of the starter whether it was cancelled."""
_UNKNOWN = 404
_MARGIN = 300.0
"""Seconds that the batch system gives a job beyond its wall limit, for staging and clearing up."""


@dataclass(frozen=True, slots=True)
class JobUpload:
    """One attempt made ready."""

    launch: Launch
    bundle: Bundle
    script: bytes

    @property
    def tag(self) -> str:
        """Of the attempt."""
        return self.launch.order.attempt.tag


class ArcSubmission:
    """Brings attempts to A-REX, each once."""

    def __init__(
        self,
        rest: Rest,
        sessions: SessionDirectories,
        jobs: Jobs,
        spec: SiteSpec,
        mark: str,
        results: ResultLimits,
    ) -> None:
        """`results`: as they stand when a job is sent."""
        self._rest = rest
        self._sessions = sessions
        self._jobs = jobs
        self._spec = spec
        self._mark = mark
        self._results = results
        self.certain = False
        """All jobs that A-REX took are known; not so at the beginning, and after a lost answer."""

    async def submit(self, launches: Sequence[Launch]) -> list[str | SiteRefused]:
        """Ids or refusals, in order; raises LinkLost: then the same launches may be given again."""
        results: dict[str, str | SiteRefused] = {}
        parcels: dict[str, JobUpload] = {}
        for launch in launches:
            tag = launch.order.attempt.tag
            try:
                parcels[tag] = self._parcel(launch)
            except SiteRefused as refused:
                results[tag] = refused
            except (StagingFailed, ValueError) as error:
                results[tag] = SiteRefused(str(error), place=launch.order.attempt.job)
        new = [parcel for parcel in parcels.values() if self._jobs.chosen(parcel.tag) is None]
        for start in range(0, len(new), _AT_ONCE):
            results |= await self._hand_over(new[start : start + _AT_ONCE])
        taken = [parcel for tag, parcel in parcels.items() if tag not in results]
        staged = await asyncio.gather(*map(self._stage, taken), return_exceptions=True)
        for parcel, found in zip(taken, staged, strict=True):
            if isinstance(found, BaseException) and not isinstance(found, SiteRefused):
                raise found
            results[parcel.tag] = found
        return [results[launch.order.attempt.tag] for launch in launches]

    def _parcel(self, launch: Launch) -> JobUpload:
        order = launch.order
        order.carried("arc")
        # Standard output and error are brought back like the files that the description names.
        outputs = tuple(filter(None, dict.fromkeys((*order.outputs, order.stdout, order.stderr))))
        environment = (*self._spec.environment.items(), *order.environment)
        known = replace(order, outputs=outputs, environment=environment)
        at = StarterSettings(
            "",
            lambda one: f"../{one.name}",
            beat=_BEAT,
            most_output=self._results.results_max,
            stay=MOST_NAMES,
            software_path=f"../{software_path().name}",
            use_path=f"../{use_path().name}",
            mpi_path=f"../{mpi_start_path().name}",
            publish_path=f"../{publish_path().name}",
        )
        given = starter_variables(known, at)
        script = launch_script(given, f"{MARK}={launch.order.attempt.tag}")
        parallel = [mpi_start_path(), *overlay_files()] if order.mpi else []
        scripts = (*([software_path()] if order.software else []), *parallel)
        return JobUpload(launch, bundle(order.inputs, order.agents, scripts), script)

    async def _hand_over(self, parcels: Sequence[JobUpload]) -> dict[str, SiteRefused]:
        """One request; the refused ones by tag."""
        request = document(self._activity(parcel.launch) for parcel in parcels)
        try:
            answer = await self._rest.ask(
                "POST", "/jobs?action=new", content=request, kind="application/xml", repeat=False
            )
            found = self._answers(answer, len(parcels))
        except BaseException:
            self.certain = False
            raise
        refused = {}
        for parcel, one in zip(parcels, found, strict=True):
            if str(one.get("status-code")) == "201":
                self._jobs.add(str(one["id"]), parcel.tag).handed_over = HandOver.INCOMPLETE
            else:
                refused[parcel.tag] = self._refusal(str(one.get("reason", "no reason was given")))
        return refused

    def _answers(self, answer: RestResponse, count: int) -> list[dict[str, Any]]:
        if not answer.good:
            one = {"status-code": answer.status, "reason": answer.reason}
            return [one] * count
        try:
            found = listed(answer.body)
        except ValueError as error:
            raise LinkLost(f"{self._rest.host} answers what cannot be read: {error}.") from error
        if len(found) != count:
            raise LinkLost(f"{self._rest.host} answers for {len(found)} jobs instead of {count}.")
        return found

    async def _stage(self, parcel: JobUpload) -> str:
        """Put the files of one attempt there, the launch script last; returns the id. Raises SiteRefused."""
        job = self._jobs.chosen(parcel.tag)
        if job is None:
            raise LinkLost("The job went from the site while its files were on their way.")
        if job.is_waiting and not job.is_staged:
            try:
                await self._send(job, parcel)
            except StagingFailed as error:
                raise SiteRefused(str(error), place=parcel.launch.order.attempt.job) from error
        return job.id

    async def _send(self, job: ArcJob, parcel: JobUpload) -> None:
        files = parcel.bundle
        answer = await self._sessions.send(job.id, BUNDLE, files.chunks, files.size)
        if answer.good:
            answer = await self._sessions.write(job.id, LAUNCH, parcel.script)
        if answer.status == _UNKNOWN:
            # A-REX says so too while it writes its own record of the job anew; the next look tells.
            raise LinkLost(f"{self._rest.host} does not know the job for which files were sent to it.")
        if not answer.good:
            raise self._refusal(f"the input files are refused: {answer.status} {answer.reason}")
        job.handed_over = HandOver.STAGED

    def _activity(self, launch: Launch) -> Activity:
        order = launch.order
        limit = None if order.wall_limit is None else order.wall_limit + _MARGIN
        name = f"{self._mark}.{order.attempt.tag}"
        return Activity(
            name, launch.queue, order.cpus, limit, order.carried("arc"), tuple(self._spec.options)
        )

    def _refusal(self, reason: str) -> SiteRefused:
        return SiteRefused(f"The site refuses the job: {reason}.", place=self._spec.name)
