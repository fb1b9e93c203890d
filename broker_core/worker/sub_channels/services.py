"""Services that a job offers at its node: what it says of them, and whether they answer (CB-I2G-03).

A program that serves pages appends one line of JSON to the file that CROSSDESK_SERVICES names:

    {"name": "JupyterLab", "port": 8888, "path": "/lab", "token": "..."}

`port` is one of 127.0.0.1 at the node. `path` and `token` may be missing; the token becomes the query
`token=...` of the address. A later line of the same name takes the place of the former.
"""

from __future__ import annotations

import asyncio
import json
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import asyncssh

from broker_core.interactive.channel.frames import word
from broker_core.worker.agent_settings import SERVICES

MOST, LONGEST = 16, 64 * 1024
"""Services of a job, and bytes of the file."""
NAME, TEXT = 80, 2048
"""Characters of a name, and of a path or token."""
INTERVAL = 0.5
"""Seconds between two looks, while a desk wants to know."""
PATIENCE = 900.0
"""Seconds in which a service has to listen after it was first seen in the file."""
STARTING, READY, ENDED, REFUSED = "starting", "ready", "ended", "refused"
_LISTENS = "0A"
"""State of a socket in /proc/net/tcp."""
_ADDRESSES = {
    "00000000", "0100007F", "0" * 32, "00000000000000000000000001000000", "0000000000000000FFFF00000100007F",
}  # fmt: skip
"""Those at which a connection to 127.0.0.1 arrives, or one to ::1: in order of the bytes of x86."""


@dataclass(frozen=True, slots=True)
class OfferedService:
    """One service as a desk is told of it. Path and token are secrets."""

    name: str
    port: int
    path: str = "/"
    token: str = ""
    state: str = STARTING
    problem: str = ""


@dataclass(slots=True)
class _Life:
    """What is remembered of a service between two looks."""

    since: float = field(default_factory=time.monotonic)
    answered: bool = False


class JobServices:
    """The services of one job, by the file in its directory."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / SERVICES
        self._lives: dict[tuple[str, int], _Life] = {}

    def survey(self) -> list[OfferedService]:
        """All that the file names, with their states; takes a moment, call it beside the loop."""
        try:
            text = own_text(self._file, LONGEST)
        except FileNotFoundError:
            return []
        except OSError as error:
            why = error.strerror or str(error)
            return [OfferedService(SERVICES, 0, state=REFUSED, problem=f"The file cannot be used: {why}.")]
        found = {one.name: one for one in _read(text)}
        return [self._judged(one) for one in list(found.values())[:MOST]]

    def _judged(self, offered: OfferedService) -> OfferedService:
        """With the state that it has now."""
        if offered.state == REFUSED:
            return offered
        life = self._lives.setdefault((offered.name, offered.port), _Life())
        owners = listeners(offered.port)
        state, problem = STARTING, ""
        if owners - {os.geteuid()}:
            state, problem = REFUSED, f"Port {offered.port} of the node is used by another account."
        elif owners:
            state, life.answered = READY, True
        elif life.answered:
            state = ENDED
        elif time.monotonic() - life.since > PATIENCE:
            state, problem = ENDED, f"Nothing has listened at port {offered.port} of the node."
        if state in (READY, STARTING):
            return OfferedService(offered.name, offered.port, offered.path, offered.token, state)
        return OfferedService(offered.name, offered.port, state=state, problem=problem)


class ServiceChannel(asyncssh.SSHUNIXSession[bytes]):
    """Tells one desk of the services: at once, and whenever something changed, until it goes."""

    def __init__(self, services: JobServices) -> None:
        self._services = services
        self._telling: asyncio.Task[None] | None = None

    def connection_made(self, channel: asyncssh.SSHUNIXChannel[bytes]) -> None:
        """Begin to look."""
        self._channel = channel

    def session_started(self) -> None:
        """The desk listens."""
        self._telling = asyncio.ensure_future(self._tell())

    def connection_lost(self, error: Exception | None) -> None:
        """The desk is gone."""
        if self._telling is not None:
            self._telling.cancel()

    async def _tell(self) -> None:
        last: list[OfferedService] | None = None
        while not self._channel.is_closing():
            found = await asyncio.to_thread(self._services.survey)
            if found != last and not self._channel.is_closing():
                self._channel.write(word("services", services=[asdict(one) for one in found]))
                last = found
            await asyncio.sleep(INTERVAL)


def listeners(port: int) -> set[int]:
    """Accounts whose programs listen at a port of this machine, where connections to 127.0.0.1 arrive."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue  # a kernel without IPv6
        for line in lines:
            words = line.split()
            address, _, number = words[1].rpartition(":")
            if words[3] == _LISTENS and int(number, 16) == port and address in _ADDRESSES:
                found.add(int(words[7]))
    return found


def own_text(file: Path, longest: int) -> str:
    """The text of a file of this account's own, which nobody else may read from now on; raises OSError."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as stream:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError("it is no regular file")
        if found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise OSError("another account can write it")
        if stat.S_IMODE(found.st_mode) & 0o077:
            os.fchmod(descriptor, 0o600)
        text = stream.read(longest + 1)
    if len(text) > longest:
        raise OSError(f"it is larger than {longest // 1024} KiB")
    return text.decode("utf-8", "replace")


def _read(text: str) -> Iterator[OfferedService]:
    """What the lines say; one that is not understood is told. What is being written is left for later."""
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if line.strip() and line.endswith("\n"):
            try:
                yield _service(json.loads(line))
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                why = str(error) if isinstance(error, _BadLineError) else "it is no JSON object with a port"
                yield OfferedService(f"Line {number}", 0, state=REFUSED, problem=f"Not understood: {why}.")


class _BadLineError(ValueError):
    """A line of the file that names no service; says why."""


def _service(message: Any) -> OfferedService:
    if not isinstance(message, dict):
        raise TypeError("no object")
    name, port = message.get("name", "Service"), message["port"]
    path, token = message.get("path", "/"), message.get("token", "")
    if not isinstance(name, str) or not name.strip() or len(name) > NAME:
        raise _BadLineError(f"name is a text of 1 to {NAME} characters")
    if type(port) is not int or not 1 <= port <= 65535:
        raise _BadLineError("port is a number from 1 to 65535")
    if not isinstance(path, str) or not path.startswith("/") or len(path) > TEXT:
        raise _BadLineError("path is a text that begins with /")
    if not isinstance(token, str) or len(token) > TEXT:
        raise _BadLineError(f"token is a text of at most {TEXT} characters")
    return OfferedService(name, port, path, token)
