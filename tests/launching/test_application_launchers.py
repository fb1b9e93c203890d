"""Launchers of one's own: who may install them, and how they join the components of a job."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.jobs.placement import Component
from broker_core.jobs.states import JobState
from broker_core.launching.application_launchers import ApplicationLaunchers, NoApplicationLauncher
from broker_core.launching.launcher_folder import LauncherFolder
from broker_core.launching.launchers import Launchers, NoLauncher
from broker_core.scheduling.coallocation.messages import (
    ComponentGathered,
    EndLauncher,
    LauncherLost,
    ReleaseBarrier,
)
from tests.launching.attempt import over_two
from tests.launching.own_launchers import CALLER, FARM, LauncherFolders
from tests.waiting import eventually, within

ONE, TWO = Component("j", 1), Component("j", 1, 1)
CHUNKS = ((2,), (1,))


@pytest.fixture
def folders(tmp_path: Path) -> LauncherFolders:
    return LauncherFolders(tmp_path / "authorities")


def _refused(folders: LauncherFolders, name: str) -> str:
    with pytest.raises(NoApplicationLauncher) as refused:
        ApplicationLaunchers(str(folders.folder)).source(name)
    assert refused.value.remedy
    return str(refused.value)


def test_a_launcher_that_a_trusted_authority_signed_is_taken(folders: LauncherFolders) -> None:
    folders.install("farm")
    assert ApplicationLaunchers(str(folders.folder)).source("farm") == FARM.encode()


@pytest.mark.parametrize("signed", [{"by": "somebody"}, {"namespace": "file"}], ids=["by", "purpose"])
def test_a_signature_of_others_or_for_another_purpose_is_none(
    folders: LauncherFolders, signed: dict[str, str]
) -> None:
    folders.install("farm", **signed)
    assert "not signed by an authority that this broker trusts" in _refused(folders, "farm")


def test_an_authority_may_be_trusted_with_some_names_only(folders: LauncherFolders) -> None:
    folders.install("foreign")
    assert "not signed" in _refused(folders, "foreign")


def test_a_launcher_that_was_changed_or_lost_its_signature_is_refused(folders: LauncherFolders) -> None:
    made = folders.install("farm")
    made.write_text(FARM + "\n")
    assert "not signed" in _refused(folders, "farm")
    (folders.folder / "farm.py.sig").write_text("no signature")
    assert "not signed" in _refused(folders, "farm")
    (folders.folder / "farm.py.sig").unlink()
    assert "no signature that can be checked: No such file" in _refused(folders, "farm")


@pytest.mark.parametrize("name", ["nothing", "", "../authorities/farm", "a b"])
def test_what_is_not_installed_is_named(folders: LauncherFolders, name: str) -> None:
    folders.install("farm")
    assert f"no application launcher {name}" in _refused(folders, name)


def test_without_trusted_authorities_nothing_is_taken(folders: LauncherFolders) -> None:
    folders.install("farm")
    (folders.folder / "allowed_signers").write_text("# nobody\n")
    assert "not signed" in _refused(folders, "farm")
    assert ApplicationLaunchers("").names == frozenset()


class Farm:
    """A job of two components, which are processes of the test."""

    def __init__(self, root: Path, folders: LauncherFolders) -> None:
        self.root, self._own = root, ApplicationLaunchers(str(folders.folder))
        self.heard: list[object] = []
        self.launchers = self.broker()
        self.parts: list[asyncio.subprocess.Process] = []

    def broker(self) -> Launchers:
        made = Launchers(self.root / "launchers", "", "127.0.0.1", own=self._own)
        made.post = self.heard.append
        return made

    async def start(self, one: Component, said: str) -> None:
        proxies = await self.launchers.words(one, CHUNKS, application="farm")
        assert proxies.variables is not None
        given = {"PATH": os.defpath, **dict(proxies.variables)}
        words = [sys.executable, "-c", CALLER, said, "here I am"]
        self.parts.append(
            await asyncio.create_subprocess_exec(*words, env=given, stdout=asyncio.subprocess.PIPE)
        )

    async def output(self) -> list[tuple[int | None, bytes]]:
        return [((await within(one.communicate()))[0], one.returncode)[::-1] for one in self.parts]

    @property
    def folder(self) -> LauncherFolder:
        return LauncherFolder(self.root / "launchers/j.1")

    async def gathered(self) -> None:
        told = {ComponentGathered(ONE), ComponentGathered(TWO)}
        await eventually(lambda: {one for one in self.heard if isinstance(one, ComponentGathered)} == told)


@pytest.fixture
async def farm(tmp_path: Path, folders: LauncherFolders) -> AsyncIterator[Farm]:
    folders.install("farm")
    made = Farm(tmp_path, folders)
    yield made
    for part in made.parts:
        if part.returncode is None:
            part.kill()
        await part.communicate()
    made.launchers.end(EndLauncher("j", 1))
    await made.launchers.close()
    await eventually(lambda: made.folder.processes() == [], what="no process of the launcher is left")


async def test_components_wait_until_all_are_there_and_learn_what_the_launcher_tells(farm: Farm) -> None:
    await farm.start(ONE, "here I am")
    await eventually(lambda: ComponentGathered(ONE) in farm.heard)
    await farm.start(TWO, "-")
    await farm.gathered()
    assert all(one.returncode is None for one in farm.parts)
    farm.launchers.release(ReleaseBarrier("j", 1))
    assert await farm.output() == [(0, b"master 0 go here I am\n"), (0, b"worker 1 go here I am\n")]
    # It ends by itself once all calls have.
    await eventually(lambda: not farm.folder.path.exists())
    assert not any(isinstance(one, LauncherLost) for one in farm.heard)


async def test_who_has_not_the_secret_of_a_component_is_none(farm: Farm) -> None:
    proxies = await farm.launchers.words(ONE, CHUNKS, application="farm")
    host, port, _, secret = dict(proxies.variables or ())["CROSSDESK_CONTACT"].split()
    for line in (f"1 {secret}", "0 wrong", "0", "7 x", "", "x" * 5000):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(f"{line}\n".encode())
        assert await within(reader.read()) == b""
        writer.close()
    assert farm.heard == []
    await farm.start(ONE, "here I am")
    await eventually(lambda: farm.heard == [ComponentGathered(ONE)])


async def test_the_next_broker_hears_again_who_waits_and_releases_all(farm: Farm) -> None:
    await farm.start(ONE, "here I am")
    await farm.start(TWO, "-")
    await farm.gathered()
    await farm.launchers.close()
    farm.heard.clear()
    farm.launchers = farm.broker()
    farm.launchers.adopt([over_two(JobState.SCHEDULED)])
    await farm.gathered()
    farm.launchers.release(ReleaseBarrier("j", 1))
    assert [code for code, _ in await farm.output()] == [0, 0]


async def test_what_no_job_has_any_more_is_ended_by_the_next_broker(farm: Farm) -> None:
    await farm.start(ONE, "here I am")
    await eventually(lambda: farm.heard == [ComponentGathered(ONE)])
    await farm.launchers.close()
    farm.launchers = farm.broker()
    farm.launchers.adopt([])
    await eventually(lambda: not farm.folder.path.exists())
    assert all(code for code, _ in await farm.output())


@pytest.mark.expected_log("died before")
async def test_a_launcher_that_is_killed_before_all_are_there_is_lost(farm: Farm) -> None:
    await farm.start(ONE, "here I am")
    await eventually(lambda: farm.heard == [ComponentGathered(ONE)])
    os.kill(farm.folder.pid(), signal.SIGKILL)
    await eventually(lambda: LauncherLost("j", 1) in farm.heard)
    assert all(code for code, _ in await farm.output())


@pytest.mark.parametrize(
    "text", ["", "class Launcher: pass", "import nothing_like_this", FARM.replace("FARM_ROLE", "A=B")],
    ids=["empty", "another class", "cannot be loaded", "no variable"],
)  # fmt: skip
async def test_a_launcher_that_does_not_work_is_told_soon(
    text: str, tmp_path: Path, folders: LauncherFolders
) -> None:
    folders.install("farm", text)
    farm = Farm(tmp_path, folders)
    with pytest.raises(NoLauncher, match="did not say how its components are started"):
        await within(farm.launchers.words(ONE, CHUNKS, application="farm"), 10)
    await farm.launchers.close()
    await eventually(lambda: not farm.folder.path.exists())
