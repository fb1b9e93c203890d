"""The client's methods about desks and the sessions of interactive jobs."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from broker_core.client.answers import fitting, value
from broker_core.client.requests import Requests, part
from broker_core.wire.interactive import DeskView, NewDesk, SessionContact


class SessionCommands(Requests):
    """Desks and sessions."""

    async def desks(self) -> list[DeskView]:
        """The user's desks that agents let in."""
        return fitting(list[DeskView], await self._get("/desks"))

    async def add_desk(self, desk: NewDesk) -> list[DeskView]:
        """Register a desk; jobs that run are told of it."""
        return fitting(list[DeskView], await self._post("/desks", desk.model_dump()))

    async def remove_desk(self, fingerprint: str) -> list[DeskView]:
        """Forget a desk; jobs that run send it away."""
        path = f"/desks?fingerprint={quote(fingerprint, safe='')}"
        return fitting(list[DeskView], value((await self._transport.ask("DELETE", path)).content))

    async def look_at_lines(
        self, job: str, desk: str, places: Mapping[int, int], *, write: bool, begin: bool, wait: float
    ) -> bytes:
        """Frames with what is new of a program whose lines the broker carries (`channel.frames`).

        `places`: stream to the first byte wanted; `begin`: where it stands, too. Sent once.
        """
        query: dict[str, str] = {"desk": desk, "write": str(write), "begin": str(begin), "wait": f"{wait:g}"}
        query |= {name: str(places[stream]) for stream, name in ((1, "out"), (2, "err")) if stream in places}
        answer = await self._transport.ask("GET", f"/jobs/{part(job)}/lines", query=query, again=False)
        return bytes(answer.content)

    async def type_lines(self, job: str, desk: str, offset: int, data: bytes) -> None:
        """Input for such a program; `offset`: of its first byte in all that this desk sent. Sent once."""
        query: dict[str, str | int | list[str]] = {"desk": desk, "offset": offset}
        headers = {"content-type": "application/octet-stream"}
        path = f"/jobs/{part(job)}/lines"
        await self._transport.ask("POST", path, data, query=query, headers=headers, again=False)

    async def line_wish(self, job: str, desk: str, what: str, name: str = "") -> None:
        """Take the input of such a program, end it, send a signal, or leave. Sent once."""
        said = {"desk": desk, "what": what, "name": name}
        await self._transport.ask("POST", f"/jobs/{part(job)}/lines/wish", said, again=False)

    async def bring_agent(self, job: str) -> None:
        """Have an agent brought beside the program of a batch job that runs; one that waits gets none yet.

        Raises Conflict for one that has ended, and BadRequest where none can be brought.
        """
        await self._post(f"/jobs/{part(job)}/agent")

    async def session_contact(self, job: str, wait: float = 0.0) -> SessionContact:
        """How the agent of a job is reached; `wait`: seconds to wait for it at most."""
        return fitting(SessionContact, await self._get(f"/jobs/{part(job)}/session", wait=wait))
