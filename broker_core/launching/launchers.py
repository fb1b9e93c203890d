"""The launchers of attempts over several sites, as the broker sees them: started, watched, adopted, ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from broker_core.errors import CrossDeskError
from broker_core.jobs.overlay_ways import OverlayWay
from broker_core.jobs.placement import Component
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.launching.application_launchers import NONE_OF_OWN, ApplicationLaunchers
from broker_core.launching.launcher_folder import VARIABLE, LauncherFolder, LauncherSettings
from broker_core.launching.overlay_hub import new_secret
from broker_core.launching.spreading import Proxies
from broker_core.scheduling.coallocation.messages import (
    ComponentGathered,
    EndLauncher,
    LauncherLost,
    ReleaseBarrier,
    TrafficCounted,
)

log = logging.getLogger("crossdesk.launchers")
POLL_INTERVAL = 0.1
"""Seconds between two looks at what a launcher has left."""
START_DEADLINE = 20.0
"""Seconds within which a launcher says how its components are started."""
_RELAY = re.compile(r"\S+:\d{1,5}", re.ASCII)
_NAMES = ("mpiexec.mpich", "mpiexec.hydra", "mpiexec")
FIRST_REPORT, LONGEST_PAUSE = 1.0, 600.0
"""Seconds between the first two reports of traffic, twice as many before each further one, and the most."""
Figures = tuple[tuple[int, int], ...]
Post = Callable[[ComponentGathered | LauncherLost | TrafficCounted], None]


class NoLauncher(CrossDeskError):
    """A job over several sites cannot be started from this machine."""

    code = "no_launcher"


class TrafficReports:
    """Tells figures that have changed, the first and the last ones at once."""

    def __init__(self, folder: LauncherFolder, tell: Callable[[Figures], None]) -> None:
        self._folder = folder
        self._tell = tell
        self._reported: Figures = ()
        self._pause = FIRST_REPORT
        self._due = 0.0

    def report(self, now: float, *, over: bool) -> None:
        """Tell what is new, if it is time; `now`: monotonic. `over`: there will be nothing more."""
        if now < self._due and not over:
            return
        figures = tuple(self._folder.traffic())
        if not figures or figures == self._reported:
            return
        self._reported, self._due = figures, now + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE)
        self._tell(figures)


class Launchers:
    """One launcher for each attempt, in a session of its own; its folder is named by the attempt's tag."""

    def __init__(
        self,
        root: Path,
        mpiexec: str,
        address: str,
        relay: str = "",
        own: ApplicationLaunchers = NONE_OF_OWN,
    ) -> None:
        """`root`: of their folders. `mpiexec`, `address`: as in the settings; empty: found out. `relay`: at
        which hub and components meet, unless the address is set; empty: components call this machine.
        `own`: launchers of one's own."""
        self._own = own
        self._root, self._relay = root, "" if address else relay
        self._mpiexec = mpiexec
        self._address = address
        self.post: Post = lambda _: None
        """Takes what is learned of attempts."""
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._starting: dict[str, asyncio.Lock] = {}
        self._watches: dict[str, asyncio.Task[None]] = {}

    async def words(
        self,
        component: Component,
        chunks: Sequence[Sequence[int]],
        overlay: OverlayWay | None = None,
        application: str = "",
    ) -> Proxies:
        """How the proxies of a component are started at its site; starts the launcher of the attempt first.

        `chunks`: for each component the processes of each of its proxies. `overlay`: how they get to a hub
        here, by way of which they talk. `application`: name of a launcher of one's own. Raises NoLauncher,
        NoApplicationLauncher.
        """
        tag = Component(component.job, component.attempt).tag
        folder = self._folder(tag)
        async with self._starting.setdefault(tag, asyncio.Lock()):
            if not folder.path.exists():
                text = await asyncio.to_thread(self._own.source, application) if application else b""
                mpiexec = "" if application else await asyncio.to_thread(self._found)
                if tag not in self._starting:
                    raise NoLauncher("It was ended before its launcher began.")
                settings = LauncherSettings(
                    mpiexec, self._address, tuple(map(tuple, chunks)), application=application
                )
                self._start(tag, folder, self._with_hub(settings, overlay) if overlay else settings, text)
                self._watch(tag)
            answer, settings = await self._word(tag, folder, component.index), folder.settings()
            # Another broker may have begun with other numbers, which hold.
            mine = settings.chunks[component.index]
            if settings.application:
                return Proxies("", mine, variables=tuple(json.loads(answer).items()))
            words, _, hub = answer.partition("\n")
            return Proxies(words, mine, hub, settings.overlay)

    def release(self, effect: ReleaseBarrier) -> None:
        """Let all components leave MPI_Init."""
        self._release(Component(effect.job, effect.attempt).tag)

    def _release(self, tag: str) -> None:
        folder = self._folder(tag)
        if pid := folder.pid():
            folder.release.touch()
            _signal(pid, signal.SIGUSR1)

    def end(self, effect: EndLauncher) -> None:
        """End the launcher of an attempt, and with it all processes that talk to it."""
        tag = Component(effect.job, effect.attempt).tag
        if watch := self._watches.pop(tag, None):
            watch.cancel()
        self._end(tag)

    def adopt(self, records: Iterable[JobRecord]) -> None:
        """Take over what an earlier broker started for the jobs at sites; what none of them has any more is
        ended. An attempt whose launcher died before the barrier is told to be lost."""
        states = {one.component.tag: one.state for one in records if len(one.placements) > 1}
        for path in self._root.iterdir() if self._root.is_dir() else ():
            if path.name in states:
                if states[path.name] is JobState.RUNNING:
                    self._release(path.name)
                self._watch(path.name)
            else:
                self._end(path.name)

    async def close(self) -> None:
        """Watch no more; launchers go on."""
        watches = list(self._watches.values())
        for watch in watches:
            watch.cancel()
        await asyncio.gather(*watches, return_exceptions=True)
        for child in self._children.values():
            child.returncode = child.poll() or 0  # it is left to whoever comes next

    def _folder(self, tag: str) -> LauncherFolder:
        return LauncherFolder(self._root / tag)

    def _found(self) -> str:
        if self._mpiexec:
            return self._mpiexec
        folders = [os.path.join(sys.prefix, "bin"), *os.get_exec_path()]
        found = (shutil.which(name, path=os.pathsep.join(folders)) for name in _NAMES)
        return next((path for path in found if path and _is_mpich(path)), "")

    def _start(self, tag: str, folder: LauncherFolder, settings: LauncherSettings, text: bytes) -> None:
        if not settings.mpiexec and not settings.application:
            raise NoLauncher(
                "There is no mpiexec of MPICH on the broker's machine.",
                remedy="Install the extra crossdesk[mpi], or name it in the setting mpiexec.",
            )
        try:
            folder.prepare(replace(settings, address=settings.address or own_address()), text)
            program = "application_process" if settings.application else "launcher_process"
            with (folder.path / "log").open("wb") as output:
                self._children[tag] = subprocess.Popen(
                    [sys.executable, "-I", "-m", f"broker_core.launching.{program}", str(folder.path)],
                    stdin=subprocess.DEVNULL, stdout=output, stderr=output, cwd="/",
                    env=os.environ | {VARIABLE: str(folder.path)}, start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise NoLauncher(f"The launcher cannot be started: {error.strerror or error}.") from error

    def _with_hub(self, settings: LauncherSettings, overlay: OverlayWay) -> LauncherSettings:
        """The same for components that talk by way of a hub; raises NoLauncher."""
        if self._relay and not _RELAY.fullmatch(self._relay):
            raise NoLauncher(f"The setting relay must be host:port, not {self._relay!r}.")
        own = tuple(new_secret() for _ in settings.chunks)
        return replace(settings, secrets=own, relay=self._relay, overlay=overlay)

    def _watch(self, tag: str) -> None:
        watch = asyncio.create_task(self._follow(tag), name=f"launcher of {tag}")
        self._watches[tag] = watch

    async def _follow(self, tag: str) -> None:
        """Tell what becomes known of a launcher, until it is over."""
        folder, reported = self._folder(tag), set[int]()
        job, attempt = tag.rsplit(".", 1)
        way = folder.overlay()
        traffic = TrafficReports(folder, lambda now: self.post(TrafficCounted(job, int(attempt), now, way)))
        while True:
            runs = self._runs(tag, folder)
            traffic.report(time.monotonic(), over=not runs)
            for index in sorted(folder.waiting() - reported):
                reported.add(index)
                self.post(ComponentGathered(Component(job, int(attempt), index)))
            if not runs:
                break
            await asyncio.sleep(POLL_INTERVAL)
        if folder.proxies() and not folder.ended and not folder.release.exists():
            log.warning("The launcher of %s died before all components were there", tag)
            self.post(LauncherLost(job, int(attempt)))
        if self._watches.pop(tag, None) is not None:
            self._end(tag)

    async def _word(self, tag: str, folder: LauncherFolder, index: int) -> str:
        """The words of a proxy, once mpiexec has said them; raises NoLauncher."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(START_DEADLINE):
                while tag in self._watches:
                    if words := folder.proxies():
                        return words[index]
                    await asyncio.sleep(POLL_INTERVAL / 5)
        raise NoLauncher("The launcher did not say how its components are started.")

    def _runs(self, tag: str, folder: LauncherFolder) -> bool:
        child = self._children.get(tag)
        return child.poll() is None if child is not None else bool(folder.pid())

    def _end(self, tag: str) -> None:
        """No process of it is left, nor its folder."""
        folder = self._folder(tag)
        for pid in folder.processes():
            _signal(pid, signal.SIGKILL)
        if child := self._children.pop(tag, None):
            child.wait()
        self._starting.pop(tag, None)
        shutil.rmtree(folder.path, ignore_errors=True)


def own_address() -> str:
    """Of this machine on its way out; nothing is sent. Without a network its loopback."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def _is_mpich(path: str) -> bool:
    words = [path, "--version"]
    try:
        answer = subprocess.run(words, capture_output=True, timeout=10, stdin=subprocess.DEVNULL, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return b"HYDRA" in answer.stdout


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
