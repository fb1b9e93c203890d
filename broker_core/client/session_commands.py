"""The client's methods about desks and the sessions of interactive jobs."""

from __future__ import annotations

from urllib.parse import quote

from broker_core.client.answers import value
from broker_core.client.asking import Asking, part
from broker_core.wire.interactive import DeskKey, DeskView, SessionContact


class SessionCommands(Asking):
    """Desks and sessions."""

    async def desks(self) -> list[DeskView]:
        """The user's desks that agents let in."""
        return [DeskView.model_validate(one) for one in await self._get("/desks")]

    async def add_desk(self, desk: DeskKey) -> list[DeskView]:
        """Register a desk; jobs that start from now on know it."""
        return [DeskView.model_validate(one) for one in await self._post("/desks", desk.model_dump())]

    async def remove_desk(self, fingerprint: str) -> list[DeskView]:
        """Forget a desk."""
        path = f"/desks?fingerprint={quote(fingerprint, safe='')}"
        return [
            DeskView.model_validate(one) for one in value((await self._transport.ask("DELETE", path)).content)
        ]

    async def session_contact(self, job: str, wait: float = 0.0) -> SessionContact:
        """How the agent of a job is reached; `wait`: seconds to wait for it at most."""
        return SessionContact.model_validate(await self._get(f"/jobs/{part(job)}/session", wait=wait))
