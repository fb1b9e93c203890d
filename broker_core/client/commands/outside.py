"""The client's methods about jobs that were submitted outside CrossDesk."""

from __future__ import annotations

from broker_core.client.answers import fitting
from broker_core.client.requests import Requests, part
from broker_core.wire.outside import OutsideDetail, OutsideJob, OutsideJobs, OutsideOutput


class OutsideCommands(Requests):
    """Jobs of the sites' accounts that no CrossDesk submitted, or another one."""

    async def outside_jobs(self, *, refresh: bool = True, wait: bool = False) -> OutsideJobs:
        """All that are known. `refresh`: have the sites asked; `wait`: answer when they have told."""
        flags = {"refresh": str(refresh).lower(), "wait": str(wait).lower()}
        return fitting(OutsideJobs, await self._get("/outside", **flags))

    async def outside_job(self, site: str, id_: str) -> OutsideDetail:
        """What the batch system tells of one; raises NotFound."""
        return fitting(OutsideDetail, await self._get(f"/outside/{part(site)}/{part(id_)}"))

    async def outside_output(self, site: str, id_: str, *, error: bool = False) -> OutsideOutput:
        """The end of what one wrote; raises NotFound and LinkLost."""
        path = f"/outside/{part(site)}/{part(id_)}/output"
        return fitting(OutsideOutput, await self._get(path, error=str(error).lower()))

    async def cancel_outside(self, site: str, id_: str) -> OutsideJob:
        """Have the batch system end one. Raises NotFound, NotAuthorized on a shared broker, and LinkLost."""
        path = f"/outside/{part(site)}/{part(id_)}/cancel"
        return fitting(OutsideJob, await self._post(path, again=False))
