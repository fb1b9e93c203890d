"""An agent file that was built of other sources than those beside it: noticed, and said with what to do."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

import broker_core
from broker_core.interactive.sessions import agent_programs
from broker_core.interactive.sessions.agent_programs import (
    FROZEN,
    SOURCES,
    AgentPrograms,
    FrozenAgent,
    agents,
)
from broker_core.system.paths import places
from tests.packaging.sources import ROOT
from tests.running import RunningBroker

NAME = "broker_core/worker/agent.py"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one source; the broker's sources are taken to be there."""
    (tmp_path / NAME).parent.mkdir(parents=True)
    (tmp_path / NAME).write_text("one\n")
    (tmp_path / "packaging").mkdir()
    (tmp_path / "packaging" / "agent.sh").write_text("now\n")
    monkeypatch.setattr(broker_core, "__file__", str(tmp_path / "broker_core" / "__init__.py"))
    return tmp_path


def built(folder: Path, sources: Mapping[str, str] | None) -> Path:
    """A file as a build leaves it, as far as its age goes: a program with an archive behind it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / FROZEN
    file.write_bytes(b"#!/bin/sh\n")
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr("licences/one", "free")
        if sources is not None:
            archive.writestr(SOURCES, json.dumps(dict(sources)))
    return file


def digests(checkout: Path) -> dict[str, str]:
    return {NAME: hashlib.sha256((checkout / NAME).read_bytes()).hexdigest()}


def test_a_file_of_the_sources_beside_it_is_as_it_should_be(checkout: Path) -> None:
    file = built(checkout / "build" / "agent", digests(checkout))
    assert (agents("").frozen, agents("").older) == (file, "")


async def test_it_is_looked_for_once_for_all_glideins_of_a_burst(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, asked = built(checkout / "build" / "agent", digests(checkout)), list[str]()

    def counted(setting: str) -> AgentPrograms:
        asked.append(setting)
        return agents(setting)

    monkeypatch.setattr(agent_programs, "agents", counted)
    agent = FrozenAgent("")
    found = await asyncio.gather(*(agent.find() for _ in range(8)))
    assert {one.path for one in found if one is not None} == {file}
    assert (len(found), asked) == (8, [""])
    file.unlink()
    monkeypatch.setattr(agent_programs, "_FRESH", 0.0)
    assert await agent.find() is None


@pytest.mark.parametrize("change", ["edited", "gone", "unknown", "none"])
def test_a_file_of_other_sources_is_older_until_it_is_built_again(checkout: Path, change: str) -> None:
    folder = checkout / "build" / "agent"
    built(folder, None if change == "unknown" else digests(checkout))
    if change == "edited":
        (checkout / NAME).write_text("two\n")
    elif change == "gone":
        (checkout / NAME).unlink()
    elif change == "none":
        (folder / FROZEN).write_bytes(b"no archive")
    said = agents("").older
    assert said == f"The agent file {folder / FROZEN} is older than its sources: run sh packaging/agent.sh."
    assert agents("").missing == "", "it is used all the same"
    (checkout / NAME).write_text("three, and longer\n")
    built(folder, digests(checkout) | {"packaging/agent.sh": "0"})
    assert agents("").older
    built(folder, digests(checkout))
    assert agents("").older == ""


def test_a_file_that_has_no_sources_beside_it_is_not_complained_of(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = built(tmp_path / "own", {NAME: "0"})
    assert (agents(str(own)).frozen, agents(str(own)).older) == (own, "")
    installed = built(tmp_path / "prefix" / "share" / "crossdesk", None)
    monkeypatch.setattr("sys.prefix", str(tmp_path / "prefix"))
    assert (agents("").frozen, agents("").older) == (installed, "")


def test_where_it_cannot_be_built_again_nothing_is_said(checkout: Path) -> None:
    file = built(checkout / "build" / "agent", {NAME: "0"})
    (checkout / "packaging" / "agent.sh").unlink()
    assert (agents("").frozen, agents("").older) == (file, "")


def test_a_file_that_is_not_there_is_said_to_be_built_or_why_it_could_not_be(checkout: Path) -> None:
    folder = checkout / "build" / "agent"
    assert "sh packaging/agent.sh" in agents("").missing
    folder.mkdir(parents=True)
    (folder / "log").write_text("Fetching\ncrossdesk: Debian 12's packages cannot be had.\n\n")
    (folder / "building").write_text(f"{os.getpid()}\n")
    assert "is being built" in agents("").missing
    (folder / "building").write_text("no number of a process that lives\n")
    assert agents("").missing == f"its file {FROZEN} could not be built: Debian 12's packages cannot be had."
    (folder / "log").write_text("")
    assert "sh packaging/agent.sh" in agents("").missing


def test_a_broker_says_so_once_at_its_start(tmp_path: Path, running_broker: RunningBroker) -> None:
    for name in ("broker_core", "packaging"):
        (tmp_path / name).symlink_to(ROOT / name)
    file = built(tmp_path / "build" / "agent", {NAME: "of another one"})
    running_broker.kill()
    running_broker.start(PYTHONPATH=str(tmp_path), PYTHONSAFEPATH="1")
    told = places(running_broker.state_dir).log.read_text()
    assert told.count(f"The agent file {file} is older than its sources: run sh packaging/agent.sh.") == 1
