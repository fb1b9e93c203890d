"""Which agents the broker has for interactive jobs at other sites, best first."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import broker_core
from broker_core.sites.contract import KeptProgram
from broker_core.worker.script import starter_path

FROZEN = "crossdesk-agent-x86_64-linux"
"""File of the agent that brings its own interpreter; its name tells where it runs."""
LINES = "line_agent.sh"
"""The agent that needs a shell and nothing else."""


@dataclass(frozen=True, slots=True)
class Agents:
    """What there is for other sites, and why it is not more."""

    frozen: Path | None
    lines: Path | None
    missing: str = ""
    """What is to be done to have the better one; empty where it is there."""

    def kept(self, *, frozen: bool, plain: bool) -> tuple[KeptProgram, ...]:
        """Those that a site is to keep of those wanted; reads the files unless they are as they were."""
        wanted = ((self.frozen, frozen), (self.lines, plain))
        return tuple(_kept(path) for path, is_wanted in wanted if path is not None and is_wanted)


def agents(setting: str) -> Agents:
    """The agents of this installation; `setting`: the frozen one by the owner's word, empty: look for it."""
    lines = starter_path().with_name(LINES)
    frozen = next((path for path in _places(setting) if path.is_file()), None)
    missing = "" if frozen else _missing(setting)
    return Agents(frozen, lines if lines.is_file() else None, missing)


def _places(setting: str) -> tuple[Path, ...]:
    """Where the frozen agent may be: as set, as installed, as built in a checkout."""
    if setting:
        return (Path(setting).expanduser(),)
    checkout = Path(str(broker_core.__file__)).parents[1]
    return (
        Path(sys.prefix, "share", "crossdesk", FROZEN),
        checkout / "build" / "agent" / FROZEN,
    )


def _missing(setting: str) -> str:
    if setting:
        return f"agent_program in broker.toml names {setting}, which is not there"
    return f"the broker has no {FROZEN}: build it with sh packaging/agent.sh, or name it as agent_program"


def _kept(path: Path) -> KeptProgram:
    found = path.stat()
    return KeptProgram(path.name, path, _sha256(path, found.st_size, found.st_mtime_ns))


@lru_cache(maxsize=8)
def _sha256(path: Path, size: int, modified: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
