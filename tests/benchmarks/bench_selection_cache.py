"""What selection costs with the cache of resources and without it (CB-RES-03, CB-CACHE-09)."""

# Needs: openldap
from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from broker_core.client.client import BrokerClient
from tests.benchmarks.broker import TRUE, running
from tests.benchmarks.figure import Figure
from tests.testbed.glue_tree import made_sites, tree
from tests.testbed.openldap import Slapd
from tests.testbed.ports import free_port
from tests.waiting import eventually

SITES, CES = 8, 200
QUESTIONS = {True: 30, False: 5}
"""Selections that are measured, with and without the cache."""
_SOURCE = '[[sources]]\nname = "{}"\nkind = "ldap"\naddress = "{}"\noptions = {{ levels = 1 }}\n'


def measure() -> list[Figure]:
    """Seconds of one selection over what the sites published, and over what they answer to it."""
    found = []
    for cache in (True, False):
        # Anew each time: whatever was started beside a broker of this benchmark ends with that one.
        with (
            tempfile.TemporaryDirectory(prefix="cd-selection-") as folder,
            _servers(Path(folder)) as addresses,
        ):
            found += asyncio.run(_measured(addresses, cache))
    return found


@contextmanager
def _servers(folder: Path) -> Iterator[list[str]]:
    """Addresses of the sites' servers, and one at which nothing listens."""
    made = made_sites(CES, SITES)
    servers = [Slapd(folder / site, tree({site: ces})) for site, ces in made.items()]
    try:
        yield [*(one.start() for one in servers), f"ldap://127.0.0.1:{free_port()}"]
    finally:
        for server in servers:
            server.close()


async def _measured(addresses: list[str], cache: bool) -> list[Figure]:
    sources = "".join(_SOURCE.format(f"s{number}", one) for number, one in enumerate(addresses))
    state = Path(os.environ["CROSSDESK_STATE_DIR"])
    state.mkdir(exist_ok=True)
    (state / "broker.toml").write_text(f"cpus = 2\ncache = {str(cache).lower()}\n{sources}")
    async with running() as (_, client):

        async def known() -> bool:
            return (await client.resources_page(limit=1)).total > CES

        await eventually(known, what="the sites have answered")
        spent = [await _selection(client) for _ in range(QUESTIONS[cache])]
    words = "with the cache" if cache else f"without it, {SITES} sites asked and a dead one left out"
    return [
        Figure(f"selection from {CES} CEs {words}", round(statistics.median(spent), 4), "s"),
        Figure(f"standard deviation {words}", round(statistics.stdev(spent), 4), "s"),
    ]


async def _selection(client: BrokerClient) -> float:
    """Seconds of one question where a job could run."""
    begin = time.perf_counter()
    report = await client.match(TRUE, limit=1, explain=False, assume_access=True)
    spent = time.perf_counter() - begin
    if report.matching <= 1:
        raise RuntimeError(f"only {report.matching} of {report.known} resources match: {report.analysis}")
    return spent
