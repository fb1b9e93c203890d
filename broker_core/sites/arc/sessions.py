"""The session directory of a job, seen through the REST interface."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from broker_core.errors import NotFound
from broker_core.sites.arc.answers import folder
from broker_core.sites.arc.description import JOB
from broker_core.sites.arc.rest import Answer, Content, Rest
from broker_core.sites.contract import RunFile
from broker_core.sites.transport.contract import LinkLost

_WORTH = 1 << 20
"""Bytes from which on a file that is there in part is continued; smaller ones are brought anew."""
_NO_SUCH_RANGE = 416


class Sessions:
    """Files of jobs; every call raises LinkLost."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    async def names(self, id: str) -> set[str] | None:
        """Names of the files at the top; None where the session is not there."""
        answer = await self._rest.ask("PROPFIND", self._path(id), headers={"Depth": "1"})
        return {file.path for file in self._listed(answer, id, "")} if answer.good else None

    async def files(self, id: str) -> list[RunFile]:
        """Files below the job's working directory."""
        answer = await self._rest.ask("PROPFIND", self._path(id, JOB), headers={"Depth": "infinity"})
        return self._listed(answer, id, JOB) if answer.good else []

    async def read(self, id: str, name: str) -> bytes:
        """A small file; empty where it is not there."""
        answer = await self._rest.ask("GET", self._path(id, name))
        return answer.body if answer.good else b""

    async def write(self, id: str, name: str, content: bytes) -> Answer:
        """Put a small file there, or replace it."""
        return await self._rest.ask(
            "PUT", self._path(id, name), content=content, kind="application/octet-stream"
        )

    async def send(self, id: str, name: str, content: Content, size: int) -> Answer:
        """Put a file of any size there."""
        return await self._rest.send(self._path(id, name), content, size)

    async def fetch(self, id: str, name: str, into: Path) -> None:
        """Bring one file of the working directory into a folder; raises NotFound, and OSError."""
        if any(part in ("", ".", "..") for part in name.split("/")) or "\0" in name:
            raise NotFound("The job has no such file.", place=name[:200])
        target = into / name
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with target.open("ab") as file:
            answer = await self._received(id, name, file)
        if not answer.good:
            raise NotFound("The job has no such file.", place=name[:200], remedy="List the job's files.")

    async def _received(self, id: str, name: str, file: BinaryIO) -> Answer:
        there = file.tell()

        def write(status: int, piece: bytes) -> None:
            if not piece and status == 200:
                file.truncate(0)  # the whole file comes
            file.write(piece)

        path = self._path(id, JOB + name)
        answer = await self._rest.receive(path, there if there >= _WORTH else 0, write)
        if answer.status == _NO_SUCH_RANGE:
            answer = await self._rest.receive(path, 0, write)
        return answer

    def _path(self, id: str, name: str = "") -> str:
        return f"/jobs/{quote(id, safe='')}/session/{quote(name)}"

    def _listed(self, answer: Answer, id: str, below: str) -> list[RunFile]:
        try:
            return folder(answer.body, f"{self._rest.path}/jobs/{id}/session/{below}")
        except ValueError as error:
            raise LinkLost(f"{self._rest.host} answers what cannot be read: {error}.") from error
