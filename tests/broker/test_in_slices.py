"""What is worked out bit by bit while resources and sites come and go."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import orjson

from broker_core.broker.api.views import resources as resource_views
from broker_core.broker.api.views.resources import resources_page
from broker_core.broker.engine.failpoints import FailPoints
from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.jobs.placement import shared
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from broker_core.reactor.reactor import Now
from broker_core.resources.cache import ResourceCache
from broker_core.sites.link import Link
from tests.resources.made import facts, heard


async def test_a_page_has_each_resource_once_though_rows_change_hands(monkeypatch: Any) -> None:
    monkeypatch.setattr(resource_views, "SLICE", 1)
    names = [f"{name}:2119/jobmanager-pbs-long" for name in "abcd"]
    cache = ResourceCache()
    cache.report(heard(*map(facts, names)))
    page = asyncio.create_task(resources_page(cache, 0, 10, Now(0.0, 0.0)))
    await asyncio.sleep(0)
    a, b, gone, d = names
    cache.report(heard(facts(d), facts(b), at=1.0))  # a, told already, and the third one go
    cache.report(heard(facts(d), facts(b), facts(a), at=2.0))
    assert gone not in cache.entries
    assert orjson.loads(await page)["columns"]["ce"] == [a, b, d]


class _Place:
    """A site that takes its time to remove files: stands for one whose disk is slow."""

    def __init__(self, name: str, go: asyncio.Event) -> None:
        self.name, self.holds, self.link = name, False, Link(lambda _: None)
        self.go, self.forgotten = go, 0

    async def forget(self, attempts: Any) -> None:
        await self.go.wait()
        self.forgotten += len(attempts)

    async def close(self) -> None:
        """Nothing is open."""


def _ended(job: str, ce: str) -> JobRecord:
    return JobRecord(
        id=job, owner="me", name="n", structure="Normal", interactive=False, cpus=1, attempt=1,
        state=JobState.DONE, description="", placements=shared((ce,), 1),
    )  # fmt: skip


async def test_files_are_removed_everywhere_though_sites_come_and_go_meanwhile() -> None:
    go = asyncio.Event()
    places = [_Place(name, go) for name in ("a", "b", "c")]
    calls = SiteDispatcher(SimpleNamespace(), SimpleNamespace(), FailPoints())  # type: ignore[arg-type]
    for place in places[:2]:
        calls.add(place)  # type: ignore[arg-type]
    records = [_ended(f"job{number}", f"{name}:22/jobmanager-fork-q") for number, name in enumerate("ab")]
    removing = asyncio.create_task(calls.forget(records))
    await asyncio.sleep(0)
    calls.add(places[2])  # type: ignore[arg-type]
    go.set()
    await removing
    assert [place.forgotten for place in places] == [1, 1, 0]
