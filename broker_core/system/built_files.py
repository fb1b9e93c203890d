"""Files for worker nodes that are made by `packaging/agent.sh`: where they are, and why one is missing."""

from __future__ import annotations

import sys
from pathlib import Path

import broker_core

BUILT = Path("build", "agent")
"""Folder of a checkout in which they are made."""


def checkout() -> Path:
    """The folder that holds our sources."""
    return Path(str(broker_core.__file__)).parents[1]


def built_paths(name: str) -> tuple[Path, ...]:
    """Where such a file may be: as installed, as built in a checkout."""
    return (Path(sys.prefix, "share", "crossdesk", name), checkout() / BUILT / name)


def why_missing(name: str) -> str:
    """Why there is none, as far as its builder tells; empty where it was never started."""
    folder = checkout() / BUILT
    if _is_built_now(folder / "building"):
        return f"its file {name} is being built, which takes a minute or two ({folder / 'log'})"
    if trouble := _last_line(folder / "log"):
        return f"its file {name} could not be built: {trouble}"
    return ""


def _is_built_now(note: Path) -> bool:
    """True while the process lives that wrote its number there (`packaging/agent.sh`)."""
    try:
        return Path("/proc", str(int(note.read_text()))).exists()
    except (OSError, ValueError):
        return False


def _last_line(file: Path) -> str:
    """What the builder said last; empty if it was never started."""
    try:
        lines = file.read_text(errors="replace").split("\n")
    except OSError:
        return ""
    filled = [line.strip() for line in lines if line.strip()]
    return filled[-1].removeprefix("crossdesk: ")[:300] if filled else ""
