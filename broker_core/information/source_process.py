"""A source asked in a process of its own: decoding takes seconds, an event loop has milliseconds."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import orjson

from broker_core.information.glue.static_names import STATIC
from broker_core.information.source_worker import FRAME
from broker_core.information.updater import SourceAnswer, SourceFailed
from broker_core.resources.facts import Facts
from broker_core.system.process_start import start_whole

_BUFFER = 1 << 18
Item = TypeVar("Item")


async def ask_in_process(work: str, **request: Any) -> SourceAnswer:
    """Have a worker ask about resources; raises SourceFailed."""
    facts, said = await run_in_process(work, _facts, **request)
    return SourceAnswer(
        tuple(facts),
        complete=said["complete"],
        silent=tuple(said["silent"]),
        remarks=tuple(said["remarks"]),
        refused=said["refused"],
        checked=True,
        storage=said["storage"],
    )


async def run_in_process(
    work: str, make: Callable[[Any], Item], **request: Any
) -> tuple[list[Item], Mapping[str, Any]]:
    """Start a worker for one request; returns what `make` makes of each item it sends, and its last word.

    The process is gone when this returns or is cancelled. Raises SourceFailed.
    """
    process, canceled = await start_whole(
        asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "broker_core.information.source_worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_BUFFER,
        )
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if canceled is not None:
            raise canceled
        process.stdin.write(orjson.dumps({"work": work, **request}) + b"\n")
        return await _gather(process.stdout, make)
    except (asyncio.IncompleteReadError, ConnectionError) as error:
        raise SourceFailed(
            "The process that decodes the answer ended before its time.",
            remedy="Look into the broker's log; a machine short of memory ends large processes.",
        ) from error
    finally:
        await _ended(process)


async def _gather(
    stream: asyncio.StreamReader, make: Callable[[Any], Item]
) -> tuple[list[Item], Mapping[str, Any]]:
    items: list[Item] = []
    while True:
        kind, length = FRAME.unpack(await stream.readexactly(FRAME.size))
        said = orjson.loads(await stream.readexactly(length))
        if kind == b"X":
            raise SourceFailed(said["message"], place=said["place"], remedy=said["remedy"])
        if kind == b"E":
            return items, said
        items += map(make, said)
        await asyncio.sleep(0)  # a full buffer gives no turn to others by itself


def _facts(said: Any) -> Facts:
    """Lists become tuples: the garbage collector need not look into tens of thousands of these for ever."""
    ce, site, attributes = said
    for name, value in attributes.items():
        if type(value) is list:
            attributes[name] = tuple(value)
    return Facts(ce, site, attributes, STATIC)


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Kill the process if it is still there, and take its end; not to be cut short by a cancel."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):  # it may end just now
            process.kill()
    await asyncio.shield(process.wait())
