"""The session directory of a job, seen through the REST interface."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import httpx

from broker_core.sites.arc.answers import folder
from broker_core.sites.arc.description import JOB
from broker_core.sites.arc.rest import Content, Rest, RestResponse
from broker_core.sites.contract import RunFile
from broker_core.sites.run_files import is_inside
from broker_core.sites.transport.contract import LinkLost

SESSION_LIFETIME = 7 * 86_400.0
"""Seconds after a job's end that A-REX keeps its session directory, where the site did not set others."""
_WORTH = 1 << 20
"""Bytes from which on a file that is there in part is continued; smaller ones are brought anew."""
_PART, _NO_SUCH_RANGE = 206, 416
_BYTES = "application/octet-stream"


class SessionDirectories:
    """Files of jobs; every call raises LinkLost."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    async def sizes(self, id: str) -> dict[str, int] | None:
        """Files at the top with their sizes; None where A-REX says that it does not have the job.

        It says so too while it writes its own record of the job anew.
        """
        answer = await self._rest.ask("PROPFIND", self._path(id), headers={"Depth": "1"})
        return {file.path: file.size for file in self._listed(answer, id, "")} if answer.good else None

    async def files(self, id: str) -> list[RunFile]:
        """Files below the job's working directory."""
        answer = await self._rest.ask("PROPFIND", self._path(id, JOB), headers={"Depth": "infinity"})
        return self._listed(answer, id, JOB) if answer.good else []

    async def read(self, id: str, name: str) -> bytes:
        """A small file; empty where it is not there."""
        answer = await self._rest.ask("GET", self._path(id, name))
        return answer.body if answer.good else b""

    async def write(self, id: str, name: str, content: bytes) -> RestResponse:
        """Put a small file there, or replace it."""
        return await self._rest.ask(
            "PUT", self._path(id, name), content=content, kind="application/octet-stream"
        )

    async def send(self, id: str, name: str, content: Content, size: int) -> RestResponse:
        """Put a file of any size there."""
        return await self._rest.send(self._path(id, name), content, size)

    async def fetch(self, id: str, name: str, into: Path) -> None:
        """Bring one file of the working directory into a folder, if it is there; raises OSError too."""
        target = into / name
        if not is_inside(name) or target.is_dir():
            return
        there = target.stat().st_size if target.is_file() else 0
        if there < _WORTH or not await self._received(id, name, target, there):
            await self._received(id, name, target, 0)

    async def _received(self, id: str, name: str, target: Path, start: int) -> bool:
        """Bring a file from byte `start` on, if it is there; False if it is shorter than that."""
        path = self._path(id, JOB + name)
        async with self._rest.receiving(path, start) as found:
            if found.status_code == _NO_SUCH_RANGE:
                return False
            if found.is_server_error:
                raise LinkLost(f"{self._rest.host} does not give {name}: {found.reason_phrase}.")
            if not found.is_success or await self._is_folder(found, id, name):
                return True
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with target.open("ab" if found.status_code == _PART else "wb") as file:
                async for piece in found.aiter_raw():
                    file.write(piece)
        return True

    async def _is_folder(self, found: httpx.Response, id: str, name: str) -> bool:
        """True where the content is a list made by A-REX; files come as a stream of bytes."""
        if found.headers.get("content-type", _BYTES).startswith(_BYTES):
            return False
        return all(file.path != name for file in await self.files(id))

    def _path(self, id: str, name: str = "") -> str:
        return f"/jobs/{quote(id, safe='')}/session/{quote(name)}"

    def _listed(self, answer: RestResponse, id: str, below: str) -> list[RunFile]:
        try:
            return folder(answer.body, f"{self._rest.path}/jobs/{id}/session/{below}")
        except ValueError as error:
            raise LinkLost(f"{self._rest.host} answers what cannot be read: {error}.") from error
