"""Questions to this machine in shell text."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress

_REAPED = 5.0
"""Seconds for the end of a process that was killed."""


async def printed_here(text: str, *words: str, seconds: float) -> str:
    """What shell text prints that is called with `words`; empty where it does not end in time."""
    process = await asyncio.create_subprocess_exec(
        *("/bin/sh", "-c", text, "sh", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(seconds):
            out, _ = await process.communicate()
    except TimeoutError:
        return ""
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            # At the end of a loop nobody may hear of its end any more.
            with suppress(TimeoutError):
                async with asyncio.timeout(_REAPED):
                    await process.wait()
    return out.decode("utf-8", "replace")
