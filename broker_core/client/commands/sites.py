"""The client's methods about sites."""

from __future__ import annotations

import os

from broker_core.client.answers import fitting, value
from broker_core.client.requests import Requests, part
from broker_core.wire.sites import (
    ConnectRequest,
    Detection,
    DetectRequest,
    LogLine,
    QuestionAnswer,
    SiteRemoved,
    SiteSpec,
    SiteTest,
    SiteView,
)


class SiteCommands(Requests):
    """Sites: added, looked at, changed, removed."""

    async def sites(self) -> list[SiteView]:
        """The sites with all that their cards show."""
        return fitting(list[SiteView], await self._get("/sites"))

    async def add_site(self, spec: SiteSpec) -> SiteView:
        """Add a site; the connection is made afterwards."""
        return fitting(SiteView, await self._post("/sites", spec.model_dump(), again=False))

    async def change_site(self, spec: SiteSpec) -> SiteView:
        """Use other settings for the site of this name."""
        answer = await self._transport.ask("PUT", f"/sites/{part(spec.name)}", spec.model_dump())
        return fitting(SiteView, value(answer.content))

    async def remove_site(self, name: str, force: bool = False) -> SiteRemoved:
        """Forget a site; raises Conflict while jobs are there, unless forced: then they are canceled."""
        query = {"force": "true"} if force else None
        answer = await self._transport.ask("DELETE", f"/sites/{part(name)}", query=query, again=False)
        return fitting(SiteRemoved, value(answer.content))

    async def detect_site(self, request: DetectRequest) -> Detection:
        """Begin to look what is at a host; ask `detection` until it is `found` or `failed`."""
        body = request.model_dump() | {"agent": request.agent or _agent()}
        return fitting(Detection, await self._post("/sites/detect", body, again=False))

    async def detection(self, id_: str) -> Detection:
        """What was found at a host so far."""
        return fitting(Detection, await self._get(f"/sites/detect/{part(id_)}"))

    async def answer_detection(self, id_: str, answer: QuestionAnswer) -> Detection:
        """Answer the question that stands in the way of a detection."""
        path = f"/sites/detect/{part(id_)}/answer"
        return fitting(Detection, await self._post(path, answer.model_dump(), again=False))

    async def answer_site(self, name: str, answer: QuestionAnswer) -> SiteView:
        """Answer the question that stands in the way of a connection; the broker keeps it in memory only."""
        path = f"/sites/{part(name)}/answer"
        return fitting(SiteView, await self._post(path, answer.model_dump(), again=False))

    async def test_site(self, name: str, *, speed: bool = False) -> SiteTest:
        """Send a small job there that proves that jobs run; it is one of the user's jobs.

        `speed`: it also measures how fast the node is.
        """
        path = f"/sites/{part(name)}/test{'?speed=true' if speed else ''}"
        return fitting(SiteTest, await self._post(path, again=False))

    async def drain_site(self, name: str) -> SiteView:
        """Send no new jobs to a site."""
        return await self._at_site(name, "drain")

    async def resume_site(self, name: str) -> SiteView:
        """Send new jobs to a site again."""
        return await self._at_site(name, "resume")

    async def connect_site(self, name: str) -> SiteView:
        """Try to connect now instead of later, with the keys that this login's ssh-agent has."""
        return await self._at_site(name, "connect", ConnectRequest(agent=_agent()).model_dump())

    async def _at_site(self, name: str, verb: str, body: object = None) -> SiteView:
        return fitting(SiteView, await self._post(f"/sites/{part(name)}/{verb}", body))

    async def site_log(self, name: str) -> list[LogLine]:
        """What happened to the connection of a site, oldest first."""
        return fitting(list[LogLine], await self._get(f"/sites/{part(name)}/log"))


def _agent() -> str:
    """Socket of the ssh-agent of this login; empty: there is none."""
    return os.environ.get("SSH_AUTH_SOCK", "")
