"""The broker's own relay: started when first needed, found again after a restart of the broker."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

from broker_core.errors import CrossDeskError
from broker_core.interactive.channel.rendezvous import LINE, PORTS, Endpoint

PATIENCE = 10.0
"""Seconds that a relay gets to answer."""
START = 60.0
"""Seconds that it gets to start: as long as a busy machine takes. One that fails ends before that."""
STEP = 0.02


class NoRelay(CrossDeskError):
    """The relay could not be started."""

    code = "no_relay"


class OwnRelay:
    """A relay of its own process beside this broker; it goes on when the broker ends."""

    def __init__(self, folder: Path, address: str, idle_exit: float) -> None:
        self._announced = folder / "relay.json"
        self._log = folder / "logs" / "relay.log"
        self._address = address
        self._idle_exit = idle_exit
        self._turn = asyncio.Lock()

    async def place(self) -> Endpoint:
        """Where it listens; it is started if there is none. Raises NoRelay.

        One that lives and does not answer for now, as on a busy machine, is no reason for another: agents
        wait at its port, and at another port desks would never meet them.
        """
        async with self._turn:
            known = self._read()
            if known is not None and (await _answers(known) or self._lives()):
                return known
            return await self._start(known)

    def _read(self) -> Endpoint | None:
        try:
            said = json.loads(self._announced.read_bytes())
            return Endpoint(str(said["host"]), int(said["port"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def _lives(self) -> bool:
        """True if the process that announced itself is there; its number may be somebody else's by now."""
        try:
            pid = int(json.loads(self._announced.read_bytes())["pid"])
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError, KeyError, TypeError):
            return False
        return os.fsencode(self._announced) in words

    async def _start(self, before: Endpoint | None) -> Endpoint:
        """Start it, on the same port as before if that is free: agents know it."""
        for port in (self._own_port() if before is None else before.port, 0):
            self._announced.unlink(missing_ok=True)
            process = self._spawn(port)
            place = await self._announcement(process)
            if place is not None:
                return place
        raise NoRelay(
            "The relay for interactive jobs could not be started.",
            place=str(self._log),
            remedy="The log says why; a free port of the range 20000 to 25000 is needed.",
        )

    def _own_port(self) -> int:
        """A port that hardly any other relay of this machine takes while this one is away for a moment."""
        return PORTS[zlib.crc32(os.fsencode(self._announced)) % len(PORTS)]

    def _spawn(self, port: int) -> subprocess.Popen[bytes]:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        words = ["--address", self._address, "--port", str(port), "--idle-exit", str(self._idle_exit)]
        words += ["--announce", str(self._announced)]
        with self._log.open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-P", "-m", "broker_core.interactive.relay", *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                start_new_session=True,
            )

    async def _announcement(self, process: subprocess.Popen[bytes]) -> Endpoint | None:
        """Where the new one listens; None: it has ended, at the latest now, and announces nothing more."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + START
        while loop.time() < deadline and process.poll() is None:
            if (place := self._read()) is not None:
                return place
            await asyncio.sleep(STEP)
        process.kill()
        await asyncio.to_thread(process.wait)
        return None


async def _answers(place: Endpoint) -> bool:
    """True if a relay of ours listens there."""
    try:
        async with asyncio.timeout(PATIENCE):
            reader, writer = await asyncio.open_connection(place.host, place.port)
    except (OSError, TimeoutError):
        return False
    try:
        writer.write(b"?\n")
        async with asyncio.timeout(PATIENCE):
            return (await reader.read(LINE)).startswith(b"NO this is a relay")
    except (OSError, TimeoutError):
        return False
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
