"""Information systems with hundreds and thousands of computing elements: asked, decoded and joined."""

# Needs: openldap
from __future__ import annotations

import asyncio
import gc
import tempfile
import time
from pathlib import Path

from broker_core.information.ldap.updater import LdapUpdater
from broker_core.information.source_process import ask_in_process
from broker_core.information.updater import SourceAnswer, SourceSettings
from tests.benchmarks.figure import Figure
from tests.testbed.glue_tree import made_sites, tree
from tests.testbed.openldap import Slapd

SIZES = (400, 5000)
SITES = 40
_TICK = 0.001


def measure() -> list[Figure]:
    """Seconds from the question to the last fact, and how long the event loop was kept busy at a stretch."""
    found = []
    for ces in SIZES:
        with tempfile.TemporaryDirectory(prefix="cd-bench-") as folder:
            found += asyncio.run(_measured(ces, Path(folder)))
    return found


async def _measured(ces: int, folder: Path) -> list[Figure]:
    sites = made_sites(ces, SITES)
    server = Slapd(folder / "sites", tree(sites))
    index = Slapd(folder / "index", tree(sites, top="local", services=dict.fromkeys(sites, server.start())))
    ldif = folder / "grid.ldif"
    ldif.write_text("\n\n".join(tree(sites)))
    try:
        one, held = await _asked(
            LdapUpdater(SourceSettings("x", "ldap", server.address, options={"levels": 1}))
        )
        two, held_2 = await _asked(LdapUpdater(SourceSettings("x", "ldap", index.start())))
        _, collected = await _asked(LdapUpdater(SourceSettings("x", "ldap", server.address)), collect=True)
        begin = time.perf_counter()
        answer = await ask_in_process("file", path=str(ldif))
        file = time.perf_counter() - begin
    finally:
        server.close()
        index.close()
    assert len(answer.facts) == ces
    return [
        Figure(f"{ces} CEs of one server, both vocabularies", one, "s"),
        Figure(f"{ces} CEs by an index and {SITES} sites", two, "s"),
        Figure(f"{ces} CEs of an LDIF file", file, "s"),
        Figure(f"event loop busy at a stretch, {ces} CEs", 1000 * max(held, held_2), "ms", at_most=10.0),
        Figure(f"the same with garbage collected as it falls, {ces} CEs", 1000 * collected, "ms"),
    ]


async def _asked(updater: LdapUpdater, collect: bool = False) -> tuple[float, float]:
    """Seconds of the answer, and the most processor time that the loop spent between two ticks.

    Without `collect` the garbage collector rests: when that runs is for the process to say, not for sources.
    """
    if not collect:
        gc.disable()
    longest, ticking = [0.0], True

    async def tick() -> None:
        while ticking:
            before = time.thread_time()
            await asyncio.sleep(_TICK)
            longest[0] = max(longest[0], time.thread_time() - before)

    task = asyncio.create_task(tick())
    begin = time.perf_counter()
    answer: SourceAnswer = await updater.fetch()
    spent = time.perf_counter() - begin
    ticking = False
    await task
    gc.enable()
    assert answer.complete
    return spent, longest[0]
