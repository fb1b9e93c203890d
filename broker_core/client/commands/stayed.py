"""The client's methods about what jobs made that stayed at their sites."""

from __future__ import annotations

from collections.abc import Sequence

from broker_core.client.answers import fitting
from broker_core.client.requests import Requests, part
from broker_core.wire.views import LeftView


class StayedCommands(Requests):
    """Listing, bringing and forgetting."""

    async def stayed(self, job: str) -> LeftView:
        """What of an ended job is at its site alone."""
        return fitting(LeftView, await self._get(f"/jobs/{part(job)}/stayed"))

    async def fetch_stayed(self, job: str, names: Sequence[str] = ()) -> LeftView:
        """Bring files that stayed, so that they are output like others; no names: all that are listed.

        Returns what is left there. Raises NotFound where one is gone, Conflict before the end.
        """
        answer = await self._post(f"/jobs/{part(job)}/stayed/fetch", {"names": list(names)})
        return fitting(LeftView, answer)

    async def forget_stayed(self, job: str, names: Sequence[str] = ()) -> LeftView:
        """Have files removed at the site for good; no names: all. Returns what is left there."""
        answer = await self._post(f"/jobs/{part(job)}/stayed/forget", {"names": list(names)})
        return fitting(LeftView, answer)
