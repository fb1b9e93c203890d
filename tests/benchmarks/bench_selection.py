"""Selection of a computing element with and without the cache, over LDAP (CB-RES-03)."""

# Needs: openldap
from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.broker import running
from tests.benchmarks.figure import Figure
from tests.testbed.glue_tree import made_sites, tree
from tests.testbed.openldap import Slapd
from tests.waiting import eventually

SIZES = {"a regional grid": (25, 10), "a large grid": (400, 40)}
"""Name to computing elements and sites."""
_TIMES = 7
_JOB = (
    'Executable = "/bin/true"; Requirements = other.GlueCEInfoTotalCPUs > 1;'
    " Rank = other.GlueCEStateFreeCPUs;"
)
_SETTINGS = 'cache = {}\n[[sources]]\nname = "grid"\nkind = "ldap"\naddress = "{}"\n'


def measure() -> list[Figure]:
    """Medians of the same question at a broker that remembers, and at one that asks all sites each time."""
    found = []
    for name, (ces, sites) in SIZES.items():
        with (
            tempfile.TemporaryDirectory(prefix="cd-bench-") as folder,
            _grid(Path(folder), ces, sites) as index,
        ):
            kept, asked = (asyncio.run(_selection(index, ces, cache=cache)) for cache in (True, False))
        what = f"selection among {ces} CEs of {sites} sites ({name})"
        found.append(Figure(f"{what}, from the cache", round(1e3 * kept, 2), "ms", at_most=100.0))
        found.append(Figure(f"{what}, all sites asked", round(1e3 * asked, 2), "ms"))
        found.append(Figure(f"{what}: what asking adds", round(asked - kept, 3), "s"))
    return found


@contextlib.contextmanager
def _grid(folder: Path, ces: int, count: int) -> Iterator[str]:
    """Address of an index that names a server with these sites."""
    sites = made_sites(ces, count)
    server = Slapd(folder / "sites", tree(sites))
    index = Slapd(folder / "index", tree(sites, top="local", services=dict.fromkeys(sites, server.start())))
    try:
        yield index.start()
    finally:
        index.close()
        server.close()


async def _selection(index: str, ces: int, *, cache: bool) -> float:
    state = Path(os.environ["CROSSDESK_STATE_DIR"])
    state.mkdir(parents=True, exist_ok=True)
    (state / "broker.toml").write_text(_SETTINGS.format(str(cache).lower(), index))
    async with running() as (_, client):

        async def all_match() -> bool:
            return (await client.match(_JOB, assume_access=True)).known > ces

        await eventually(all_match, what="the grid is known")
        spent = []
        for _ in range(_TIMES):
            begin = time.perf_counter()
            await client.match(_JOB, assume_access=True)
            spent.append(time.perf_counter() - begin)
    return statistics.median(spent)
