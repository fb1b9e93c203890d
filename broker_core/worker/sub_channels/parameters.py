"""Changes of a program's parameters: desks send them, and the program finds them in a file.

The file that CROSSDESK_PARAMETERS names has a line for each parameter that was changed, the newest change:

    NUMBER TAB DESK TAB NAME TAB VALUE

It is replaced as a whole, so that a reader sees all of a change or nothing, and a program that never reads
takes no room. Numbers are milliseconds since the epoch, made to rise.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import asyncssh

from broker_core.interactive.channel.frames import BadFrame, FrameReader, read_word, word
from broker_core.worker.agent_settings import PARAMETERS
from broker_core.worker.sub_channels.services import own_text

MOST_PARAMETERS = 64
"""Parameters that are changed."""
MOST_NAME, MOST_VALUE = 80, 200
"""Bytes of a name and of a value."""
_MOST_WAITING = 256
"""Changes of one desk that wait to be written."""
_MOST_ANSWERS = 1024
"""Changes whose numbers are remembered: a desk asks again after a cut."""
_LONGEST = 64 * 1024


class BadChange(ValueError):
    """A change that is not written; says why."""


@dataclass(frozen=True, slots=True)
class WrittenChange:
    """The newest change of one parameter."""

    number: int
    by: str
    name: str
    value: str


class JobParameters:
    """The changes of one job, written where its program finds them."""

    def __init__(self, directory: Path) -> None:
        self._file = directory / PARAMETERS
        self._changes: dict[str, WrittenChange] | None = None
        self._answers: OrderedDict[str, int] = OrderedDict()
        self._lock = asyncio.Lock()
        self.followers: set[Callable[[], None]] = set()
        """Called after each change."""

    async def changes(self) -> list[WrittenChange]:
        """The newest change of each parameter; raises OSError."""
        async with self._lock:
            return list((await self._known()).values())

    async def write(self, request: str, by: str, name: str, value: str) -> int:
        """Write a change for the program, once for each request; returns its number.

        When it returns the change is on the disk. Raises BadChange, and OSError.
        """
        for text, most in ((name, MOST_NAME), (value, MOST_VALUE), (by, MOST_NAME), (request, MOST_NAME)):
            if not text.isprintable() or len(text.encode("utf-8", "surrogatepass")) > most:
                raise BadChange(f"names and values are lines of at most {most} bytes")
        async with self._lock:
            if request in self._answers:
                return self._answers[request]
            known = await self._known()
            last = max((one.number for one in known.values()), default=0)
            change = WrittenChange(max(last + 1, int(time.time() * 1000)), by, name, value)
            changed = {**known, name: change}
            if not name or len(changed) > MOST_PARAMETERS:
                raise BadChange(f"a job has at most {MOST_PARAMETERS} parameters")
            await asyncio.to_thread(self._replace, list(changed.values()))
            self._changes = changed
            self._answers[request] = change.number
            if len(self._answers) > _MOST_ANSWERS:
                self._answers.popitem(last=False)
        for follower in list(self.followers):
            follower()
        return change.number

    async def _known(self) -> dict[str, WrittenChange]:
        """What there is, also of an agent before this one."""
        if self._changes is None:
            try:
                text = await asyncio.to_thread(own_text, self._file, _LONGEST)
            except FileNotFoundError:
                text = ""
            found = [_written(line) for line in text.splitlines()]
            self._changes = {one.name: one for one in found if one is not None}
        return self._changes

    def _replace(self, changes: list[WrittenChange]) -> None:
        lines = [f"{one.number}\t{one.by}\t{one.name}\t{one.value}\n" for one in changes]
        fresh = self._file.with_name(f"{self._file.name}.part")
        fresh.unlink(missing_ok=True)
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(handle, "w", encoding="utf-8", errors="surrogatepass") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(handle)
        fresh.replace(self._file)


def _written(line: str) -> WrittenChange | None:
    """A change as it stands in the file; None for what the program may have written there itself."""
    parts = line.split("\t")
    if len(parts) != 4 or not parts[0].isdecimal():
        return None
    return WrittenChange(int(parts[0]), *parts[1:])


class ParameterChannel(asyncssh.SSHUNIXSession[bytes]):
    """Takes changes of one desk in their order, and tells it of those by all desks."""

    def __init__(self, parameters: JobParameters) -> None:
        self._parameters = parameters
        self._reader = FrameReader()
        self._requests: asyncio.Queue[dict[str, Any]] = asyncio.Queue(_MOST_WAITING)
        self._changed = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def connection_made(self, channel: asyncssh.SSHUNIXChannel[bytes]) -> None:
        """Keep the channel."""
        self._channel = channel

    def session_started(self) -> None:
        """The desk listens."""
        self._changed.set()
        self._parameters.followers.add(self._changed.set)
        self._tasks = [asyncio.ensure_future(self._take()), asyncio.ensure_future(self._tell())]

    def connection_lost(self, error: Exception | None) -> None:
        """The desk is gone."""
        self._parameters.followers.discard(self._changed.set)
        for task in self._tasks:
            task.cancel()

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """Take changes; a desk that is not understood, or floods, is listened to no longer."""
        try:
            for _, content in self._reader.feed(data):
                self._requests.put_nowait(read_word(content))
        except (BadFrame, asyncio.QueueFull):
            self._channel.abort()

    async def _take(self) -> None:
        while True:
            self._say(await self._answer(await self._requests.get()))

    async def _answer(self, message: dict[str, Any]) -> bytes:
        request = str(message.get("request", ""))
        try:
            values = [str(message[key]) for key in ("by", "name", "value")]
            number = await self._parameters.write(request, *values)
        except KeyError as error:
            return word("answer", request=request, reason=f"{error} is missing")
        except BadChange as error:
            return word("answer", request=request, reason=str(error))
        except OSError as error:
            return word("answer", request=request, reason=error.strerror or str(error))
        return word("answer", request=request, number=number)

    async def _tell(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                found = await self._parameters.changes()
            except OSError as error:
                self._say(word("changes", changes=[], reason=error.strerror or str(error)))
                continue
            self._say(word("changes", changes=[asdict(one) for one in found]))

    def _say(self, message: bytes) -> None:
        if not self._channel.is_closing():
            self._channel.write(message)
