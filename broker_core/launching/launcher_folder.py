"""What a launcher and the broker leave for each other: one folder for each attempt over several sites."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from broker_core.jobs.overlay_ways import OverlayWay
from broker_core.launching.spreading import Chunks
from broker_core.worker.scripts.lasting_starter import started_at

VARIABLE = "CROSSDESK_LAUNCHER"
"""In the environment of a launcher and of all that it starts: its folder."""


@dataclass(frozen=True, slots=True)
class LauncherSettings:
    """What a launcher is told."""

    mpiexec: str
    """Of MPICH, on this machine."""
    address: str
    """Of this machine, by which the sites call it."""
    chunks: Chunks
    secrets: tuple[str, ...] = ()
    """Of each component, if all of them talk by way of a hub here; empty: they call each other."""
    relay: str = ""
    """HOST:PORT of the relay at which the hub and they meet; empty: they call the hub."""
    application: str = ""
    """Name of a launcher of one's own, which stands in the folder; empty: mpiexec."""
    overlay: OverlayWay | None = None
    """The way to the hub that all components take; None: there is no hub."""


class LauncherFolder:
    """The files there; each is whole, or not there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.output = path / "output"
        """What mpiexec said."""
        self.release = path / "release"
        """There once the barrier is released."""
        self.application = path / "application_launcher.py"
        """The launcher of one's own."""
        self._settings = path / "settings.json"
        self._process = path / "process.json"
        self._proxies = path / "proxies.json"
        self._ended = path / "ended"
        self._traffic = path / "traffic.json"

    def prepare(self, settings: LauncherSettings, application: bytes = b"") -> None:
        """Make it for a launcher that is to be started, which may be one's own; raises OSError."""
        self.path.mkdir(parents=True, mode=0o700)
        if application:
            self.application.write_bytes(application)
        self._write(self._settings, json.dumps(asdict(settings)))

    def settings(self) -> LauncherSettings:
        """What the launcher was told; raises OSError and ValueError."""
        stored = json.loads(self._settings.read_text())
        # Earlier versions had one proxy for each component.
        chunks = stored["chunks"] if "chunks" in stored else [[count] for count in stored["cpus"]]
        secrets, relay = tuple(stored.get("secrets", ())), stored.get("relay", "")
        # Earlier versions had one way to the hub.
        way = OverlayWay(stored.get("overlay") or OverlayWay.NAMESPACE) if secrets else None
        application = stored.get("application", "")
        return LauncherSettings(
            stored["mpiexec"], stored["address"], tuple(map(tuple, chunks)), secrets, relay, application, way
        )

    def overlay(self) -> OverlayWay | None:
        """The way to the hub; None where there is no hub, or no launcher any more."""
        try:
            return self.settings().overlay
        except (OSError, ValueError, KeyError):
            return None

    def identify(self) -> None:
        """The process that calls this is the launcher."""
        self._write(self._process, json.dumps([os.getpid(), started_at(os.getpid())]))

    def pid(self) -> int:
        """Of the launcher, by pid and start time; 0 if it does not run."""
        try:
            pid, started = json.loads(self._process.read_text())
        except (OSError, ValueError):
            return 0
        return pid if started and started_at(pid) == started else 0

    def tell_proxies(self, words: Sequence[str]) -> None:
        """For each component the words with which its site starts the proxy, behind the version of MPICH: the
        first one where there are several, whose numbers follow its own. Of a launcher of one's own: the
        variables of each component as JSON."""
        self._write(self._proxies, json.dumps(list(words)))

    def proxies(self) -> list[str]:
        """The same; empty while they are not known."""
        try:
            return [str(one) for one in json.loads(self._proxies.read_text())]
        except (OSError, ValueError):
            return []

    def tell_traffic(self, figures: Sequence[tuple[int, int]]) -> None:
        """Bytes that each component has sent to others, and was sent by them."""
        self._write(self._traffic, json.dumps(figures))

    def traffic(self) -> list[tuple[int, int]]:
        """The same; empty where nobody counts them."""
        try:
            return [(int(sent), int(received)) for sent, received in json.loads(self._traffic.read_text())]
        except (OSError, ValueError, TypeError):
            return []

    def gathered(self, index: int) -> None:
        """A component waits in MPI_Init."""
        (self.path / f"gathered.{index}").touch()

    def waiting(self) -> set[int]:
        """The components that do, or did."""
        names = (one.name.partition("gathered.") for one in self.path.glob("gathered.*"))
        return {int(number) for _, _, number in names if number.isdecimal()}

    def tell_end(self, code: int) -> None:
        """Mpiexec has ended."""
        self._write(self._ended, str(code))

    @property
    def ended(self) -> bool:
        """Mpiexec has ended by itself."""
        return self._ended.exists()

    def processes(self) -> list[int]:
        """All that carry the mark of the folder: the launcher and what it started."""
        mark = f"{VARIABLE}={self.path}".encode()
        found = []
        for name in os.listdir("/proc"):
            # What is gone meanwhile, or another account's, is none of these.
            with suppress(OSError):
                if name.isdecimal() and mark in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                    found.append(int(name))
        return found

    def _write(self, path: Path, text: str) -> None:
        fresh = path.with_suffix(".new")
        fresh.write_text(text)
        fresh.replace(path)
