"""A root of a file system with the GNU C library and a shell, and no Python."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_NAMES = ("libc.so.6", "libm.so.6", "libdl.so.2", "libutil.so.1", "libpthread.so.0", "libgcc_s.so.1")
_LOADER = Path("lib64/ld-linux-x86-64.so.2")
_PLACE = Path("lib/x86_64-linux-gnu")
AGENT = "/opt/agent"
"""Where the agent is in it."""
MOUNTED = ("unshare", "--mount", "/bin/sh", "-c")
"""Words that run a script whose mounts end with it."""


def bare_root(folder: Path, agent: Path) -> Path:
    """Make such a root, with the agent."""
    for name in (*(_PLACE / name for name in _NAMES), _LOADER, Path("bin/sh")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(Path("/") / name, target)
    for name in ("dev", "proc", "tmp", "opt"):
        (folder / name).mkdir()
    shutil.copy2(agent, folder / AGENT.lstrip("/"))
    return folder


def listing(folder: Path) -> list[str]:
    """Every path below a folder."""
    return sorted(
        os.path.join(where, name) for where, dirs, names in os.walk(folder) for name in dirs + names
    )
