"""Leaving a site for good: what runs there is ended, what lies there taken away, and what stays is told."""

from __future__ import annotations

import asyncio
import math

from broker_core.errors import CrossDeskError
from broker_core.sites.adapter import Adapter, SiteFailed
from broker_core.sites.link import LinkState
from broker_core.sites.remote.completion_detection import PRESENT

_SILENT = 15.0
"""Seconds that the site may take for one answer."""
_ENDING = 45.0
"""Seconds that its jobs may take to end; batch systems kill what is deaf after half a minute."""
_REMOVING = 60.0
"""Seconds after that for what they leave to be removed: A-REX looks only now and then which have ended."""
_PAUSE = 0.5


async def depart(adapter: Adapter) -> str:
    """End and remove all that this broker has there; what is left, in words with the remedy, or nothing."""
    if adapter.link.state is not LinkState.CONNECTED:
        return _left(adapter, "It could not be reached.")
    try:
        return await _end_and_remove(adapter)
    except TimeoutError:
        return _left(adapter, f"It did not answer within {_SILENT:g} s.")
    except CrossDeskError as error:
        return _left(adapter, str(error))


async def _end_and_remove(adapter: Adapter) -> str:
    """Tell all attempts to end, wait for that, and remove all; what is left, in words, or nothing."""
    told: set[str] = set()
    now = asyncio.get_running_loop().time
    ending, removing = now() + _ENDING, math.inf
    while True:
        async with asyncio.timeout(_SILENT):
            there = await _end_all(adapter, told)
        what, until = "did not end in time", ending
        if not there:
            removing = min(removing, now() + _REMOVING)
            if not (there := await adapter.leave(told)):
                return ""
            what, until = (
                "gave a sign of life unknown to what runs jobs there, or were not removed",
                removing,
            )
        if now() > until:
            return _left(adapter, f"{_jobs(there)} {what}.")
        await asyncio.sleep(_PAUSE)


async def _end_all(adapter: Adapter, told: set[str]) -> list[str]:
    """Tell what is there to end, unless it was told so; returns the tags of all that is there."""
    polled = await adapter.poll((), renew=False)
    if polled.silent:
        raise SiteFailed(polled.silent)
    there = [tag for tag, one in polled.attempts.items() if one.seen in PRESENT]
    if new := [tag for tag in there if tag not in told]:
        await adapter.cancel(new)
        told.update(new)
    return there


def _jobs(tags: list[str]) -> str:
    return f"1 job there ({tags[0]})" if len(tags) == 1 else f"{len(tags)} jobs there"


def _left(adapter: Adapter, why: str) -> str:
    return (
        f"{why} May be left there: {adapter.traces}. Remove it by hand, or add the site again by this name "
        "and remove it when it answers."
    )
