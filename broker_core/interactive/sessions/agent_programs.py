"""Which agents the broker has for interactive jobs at other sites, best first."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import time
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from broker_core.launching.cached_program import CachedProgram
from broker_core.system.built_files import BUILT, built_paths, checkout, why_missing
from broker_core.worker.script import line_agent_path

FROZEN = "crossdesk-agent-x86_64-linux"
"""File of the agent that brings its own interpreter; its name tells where it runs."""
SOURCES = "sources.json"
"""In that file: what of the project it was made of, each with its SHA-256 (`packaging/agent/build.py`)."""

_FRESH = 1.0
"""Seconds for which what was found serves."""


@dataclass(frozen=True, slots=True)
class AgentPrograms:
    """What there is for other sites, and why it is not more."""

    frozen: Path | None
    lines: Path | None
    """The one that needs a shell and nothing else."""
    missing: str = ""
    """What is to be done to have the better one; empty where it is there."""
    older: str = ""
    """What is to be done where the better one was built of other sources than those that run here."""

    def kept(self, *, frozen: bool, plain: bool) -> tuple[CachedProgram, ...]:
        """Those that a site is to keep of those wanted; reads the files unless they are as they were."""
        wanted = ((self.frozen, frozen), (self.lines, plain))
        return tuple(_kept(path) for path, is_wanted in wanted if path is not None and is_wanted)


class FrozenAgent:
    """The agent that brings its own interpreter to other sites; all glideins of a burst ask for it."""

    def __init__(self, setting: str) -> None:
        """`setting`: as of `agents`."""
        self._setting = setting
        self._found: CachedProgram | None = None
        self._found_at = -math.inf
        self._looking = asyncio.Lock()

    async def find(self) -> CachedProgram | None:
        """None: this broker has none. It may be built meanwhile."""
        async with self._looking:
            if time.monotonic() - self._found_at >= _FRESH:
                programs = agents(self._setting)
                found = await asyncio.to_thread(programs.kept, frozen=True, plain=False)
                self._found, self._found_at = next(iter(found), None), time.monotonic()
        return self._found


def agents(setting: str) -> AgentPrograms:
    """The agents of this installation; `setting`: the frozen one by the owner's word, empty: look for it."""
    lines = line_agent_path()
    frozen = next((path for path in _places(setting) if path.is_file()), None)
    missing = "" if frozen else _missing(setting)
    return AgentPrograms(
        frozen, lines if lines.is_file() else None, missing, _older(frozen) if frozen else ""
    )


def _places(setting: str) -> tuple[Path, ...]:
    """Where the frozen agent may be: as set, as installed, as built in a checkout."""
    if setting:
        return (Path(setting).expanduser(),)
    return built_paths(FROZEN)


def _older(frozen: Path) -> str:
    """Only a file that was built here has its sources beside it, and can be built again."""
    if frozen != checkout() / BUILT / FROZEN or not (checkout() / "packaging" / "agent.sh").is_file():
        return ""
    found = frozen.stat()
    return _outdated(checkout(), frozen, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=8)
def _outdated(checkout: Path, path: Path, size: int, modified: int) -> str:
    """In words, if the sources have changed since the file was built; looked at once for each file."""
    try:
        with zipfile.ZipFile(path) as archive:
            made_of = dict(json.loads(archive.read(SOURCES)))
        current = all(_digest(checkout / name) == was for name, was in made_of.items())
    except (OSError, KeyError, ValueError, TypeError, zipfile.BadZipFile):
        current = False
    return "" if current else f"The agent file {path} is older than its sources: run sh packaging/agent.sh."


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _missing(setting: str) -> str:
    if setting:
        return f"agent_program in broker.toml names {setting}, which is not there"
    return why_missing(FROZEN) or (
        f"the broker has no {FROZEN}: build it with sh packaging/agent.sh, or name it as agent_program"
    )


def _kept(path: Path) -> CachedProgram:
    found = path.stat()
    return CachedProgram(path.name, path, _sha256(path, found.st_size, found.st_mtime_ns))


@lru_cache(maxsize=8)
def _sha256(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
