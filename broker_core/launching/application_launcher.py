"""What a launcher for a kind of parallel program of one's own is made of (CB-AL-07).

A launcher is a file NAME.py with a class `Launcher` that inherits from `ApplicationLauncher` and replaces
what is other for its programs: how components are told what to call, when all are ready, how their work is
watched. It runs at the broker in a process of its own, which outlives the broker, and ends with its job.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import secrets
from collections.abc import Callable, Sequence

CONTACT = "CROSSDESK_CONTACT"
"""Variable of a component: HOST PORT INDEX SECRET, of the launcher that it calls."""
_LONGEST = 1000
"""Bytes of the line with which a component begins."""
_PATIENCE = 30
"""Seconds that a caller has for it."""


class Contacts:
    """Where components call. A call with the line `INDEX SECRET WORDS` says that this component is ready; it
    is answered by the line `go WORDS` once all are, and stays open as long as the component works."""

    def __init__(self, number: int) -> None:
        self._secrets = [secrets.token_urlsafe(24) for _ in range(number)]
        self._ready = [asyncio.Event() for _ in range(number)]
        self._gone = [asyncio.Event() for _ in range(number)]
        self._released = asyncio.Event()
        self._answer = b""
        self.greetings = [""] * number
        """By component, the words behind its secret: of its own, or none."""
        self._host, self._port = "", 0

    async def open(self, address: str) -> None:
        """Listen at an address of this machine; raises OSError."""
        self._server = await asyncio.start_server(self._called, address, 0, limit=_LONGEST)
        self._host, self._port = self._server.sockets[0].getsockname()[:2]

    def words(self, index: int) -> str:
        """What a component is told: HOST PORT INDEX SECRET."""
        return f"{self._host} {self._port} {index} {self._secrets[index]}"

    async def ready(self, index: int) -> None:
        """Wait for the call of a component."""
        await self._ready[index].wait()

    def go(self, words: str = "") -> None:
        """Answer all calls, with words of the launcher's own."""
        self._answer = f"go {words}".strip().encode() + b"\n"
        self._released.set()

    async def gone(self, index: int) -> None:
        """Wait until a component has ended its call."""
        await self._gone[index].wait()

    async def _called(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, ValueError):
            async with asyncio.timeout(_PATIENCE):
                words = (await reader.readline()).decode("utf-8", "replace").split(maxsplit=2)
            index = self._known(words)
            if index is not None:
                self.greetings[index] = "".join(words[2:]).strip()
                self._ready[index].set()
                try:
                    await self._answered(reader, writer)
                finally:
                    self._gone[index].set()
        writer.close()

    async def _answered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a component, and wait for the end of its call; raises OSError if that broke."""
        await self._released.wait()
        writer.write(self._answer)
        await writer.drain()
        while await reader.read(_LONGEST):
            pass

    def _known(self, words: Sequence[str]) -> int | None:
        """The component that calls so, for the first time."""
        for index, secret in enumerate(self._secrets):
            if words[:1] == [str(index)] and not self._ready[index].is_set():
                given = words[1] if len(words) > 1 else ""
                return index if hmac.compare_digest(given.encode(), secret.encode()) else None
        return None


class ApplicationLauncher:
    """Starts the components of one job together; three methods can be replaced, each is ready-made."""

    def __init__(self, cpus: Sequence[int], address: str, gathered: Callable[[int], None]) -> None:
        """`cpus`: of each component. `address`: of this machine, by which the sites call it. `gathered`:
        tells the broker that a component is ready; once all are, it releases them."""
        self.cpus, self.address = tuple(cpus), address
        self.gathered = gathered
        self.released = asyncio.Event()
        """Set by the broker."""
        self.contacts = Contacts(len(cpus))

    async def submit(self) -> list[dict[str, str]]:
        """The variables that each component gets beside those of the description. Here: what to call."""
        await self.contacts.open(self.address)
        return [{CONTACT: self.contacts.words(index)} for index in range(len(self.cpus))]

    async def synchronize(self) -> None:
        """Until all components are ready and released; each that is ready is told by `gathered`. Here: a
        component is ready once it calls, and waits for the answer."""
        await self.all_called()
        await self.released.wait()
        self.contacts.go()

    async def all_called(self) -> None:
        """Until all components have called; each of them is told to be ready at once."""
        await asyncio.gather(*(self._ready(index) for index in range(len(self.cpus))))

    async def _ready(self, index: int) -> None:
        await self.contacts.ready(index)
        self.gathered(index)

    async def monitor(self) -> int:
        """Until the work is over; returns an exit code for the log. Here: until all calls have ended."""
        await asyncio.gather(*(self.contacts.gone(index) for index in range(len(self.cpus))))
        return 0
