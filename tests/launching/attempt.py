"""One attempt over two sites with the real mpiexec; the sites are processes of the test."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from broker_core.jobs.overlay_ways import OverlayWay
from broker_core.jobs.placement import Component, shared
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.launching.launcher_folder import LauncherFolder
from broker_core.launching.launchers import Launchers
from broker_core.launching.spreading import Chunks
from broker_core.scheduling.coallocation.messages import ComponentGathered, LauncherLost
from broker_core.worker.script import mpi_start_path
from broker_core.worker.scripts.overlay import LIBRARY
from broker_core.worker.scripts.overlay_link import VARIABLE
from tests.testbed.mpi import Installation, installed
from tests.testbed.overlay_library import overlay_library
from tests.waiting import eventually, within

CHUNKS: Chunks = ((2,), (1,))
ONE, TWO = Component("j", 1), Component("j", 1, 1)


@dataclass(frozen=True)
class Linked:
    """An MPI with another program than that which checks its ranks."""

    prefix: Path
    program: Path


def over_two(state: JobState) -> JobRecord:
    """The row of that job."""
    where = shared(("a:22/jobmanager-slurm-x", "b:22/jobmanager-slurm-x"), 3)
    return JobRecord("j", "ann", "ranks", "Parallel", False, 3, state, "", placements=where, attempt=1)


class Job:
    """One attempt over two sites."""

    def __init__(self, root: Path, chunks: Chunks = CHUNKS) -> None:
        self.root = root
        self.chunks = chunks
        self.relay, self.address = "", "127.0.0.1"
        self.mpich: Installation | Linked = installed("mpich")
        self.heard: list[ComponentGathered | LauncherLost] = []
        self.launchers = self.broker()
        self.parts: list[asyncio.subprocess.Process] = []

    def broker(self) -> Launchers:
        address = "" if self.relay else self.address
        mpiexec = str(self.mpich.prefix / "bin/mpiexec")
        made = Launchers(self.root / "launchers", mpiexec, address, self.relay)
        made.post = self.heard.append
        return made

    async def start(
        self,
        one: Component,
        *words: str,
        overlay: OverlayWay | None = None,
        within: Sequence[str] = (),
    ) -> None:
        """What a site does with a component; `within`: words that run a command as its nodes do."""
        folder = self.root / one.tag / "job"
        folder.mkdir(parents=True)
        proxies = await self.launchers.words(one, self.chunks, overlay)
        given = {"PATH": os.defpath, "FI_TCP_IFACE": "lo", "GIVEN": one.tag}
        given["CROSSDESK_MPI_PROXY"] = proxies.words
        if len(proxies.chunks) > 1:
            given["CROSSDESK_MPI_LAYOUT"] = proxies.layout
        given |= {VARIABLE: proxies.hub} if overlay else {}
        kind = "pacx-mpi" if overlay else "mpich-g2"
        if overlay is OverlayWay.PRELOAD:
            shutil.copyfile(overlay_library(), folder / LIBRARY)
        script = [*within, "/bin/sh", str(mpi_start_path()), kind, str(sum(self.chunks[one.index]))]
        script += [str(self.mpich.prefix), "GIVEN", str(folder.parent), str(self.mpich.program), *words]
        with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
            part = await asyncio.create_subprocess_exec(
                *script, cwd=folder, env=given, stdin=asyncio.subprocess.DEVNULL, stdout=out, stderr=err
            )
        self.parts.append(part)

    async def codes(self) -> list[int]:
        return [await within(part.wait(), 60) for part in self.parts]

    def said(self, one: Component, name: str = "out") -> str:
        return (self.root / one.tag / "job" / name).read_text()

    def gathered(self) -> list[Component]:
        return [one.component for one in self.heard if isinstance(one, ComponentGathered)]

    @property
    def folder(self) -> LauncherFolder:
        return LauncherFolder(self.root / "launchers" / "j.1")

    async def both(self, *words: str) -> None:
        await self.start(ONE, *words)
        await self.start(TWO, *words)
        await eventually(lambda: len(self.gathered()) == 2)
