"""Programs that are carried, the hub between them, and nodes that forbid namespaces."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from broker_core.launching.overlay_hub import OverlayHub
from broker_core.worker.script import overlay_path
from broker_core.worker.scripts.overlay import LIBRARY
from broker_core.worker.scripts.overlay_link import VARIABLE
from tests.testbed.overlay_library import overlay_library
from tests.waiting import eventually

FORBIDDEN = (
    *("unshare", "--user", "--map-root-user", "sh", "-c"),
    *('echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"', "sh"),
)
"""Words that run a command where nobody may make a user namespace."""


def checked(within: Sequence[str]) -> str:
    """What a node says of itself."""
    words = [*within, sys.executable, "-B", str(overlay_path()), "check"]
    return subprocess.run(words, capture_output=True, text=True, timeout=30, check=True).stdout.strip()


async def carried(
    folder: Path, call: str, *words: str, library: bool = True
) -> asyncio.subprocess.Process:
    """A program in a network of its own, or with the library in its place, as the call says."""
    if library and call.endswith(" preload"):
        shutil.copyfile(overlay_library(), folder / LIBRARY)
    return await asyncio.create_subprocess_exec(
        *(sys.executable, str(overlay_path()), "run", str(folder / "note"), *words),
        env={"PATH": os.defpath, VARIABLE: call},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


@asynccontextmanager
async def hub_of(*secrets: str) -> AsyncIterator[tuple[OverlayHub, int]]:
    hub = OverlayHub(secrets, [1] * len(secrets))
    port = await hub.open("127.0.0.1")
    try:
        yield hub, port
    finally:
        await hub.close()
        await eventually(lambda: not hub.callers)
