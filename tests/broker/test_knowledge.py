"""What the broker knows of resources, over HTTP: the cache by pages, one resource, sources, list-match."""

from __future__ import annotations

from contextlib import aclosing

import pytest

from broker_core.client.client import BrokerClient
from broker_core.errors import BadRequest, NotFound
from broker_core.wire.resources import RESOURCE_COLUMNS
from tests.broker.jobs import reach, submit

TRUE = 'Executable = "/bin/true";'


async def test_a_page_of_resources_has_every_column_for_each_of_them(client: BrokerClient) -> None:
    page = await client.resources_page()
    assert tuple(page.columns) == RESOURCE_COLUMNS
    assert {len(column) for column in page.columns.values()} == {page.total} == {1}
    assert page.columns["site"] == ["local"]
    assert page.columns["access"] == [True]
    assert page.columns["total_cpus"][0] > 0
    assert (await client.resources_page(offset=1)).columns["ce"] == []


async def test_a_resource_is_told_with_every_attribute_and_its_source(client: BrokerClient) -> None:
    [ce] = (await client.resources_page()).columns["ce"]
    by_ce, by_site = await client.resource(ce), await client.resource("local")
    assert by_ce.ce == by_site.ce == ce
    names = {one.name.lower() for one in by_ce.attributes}
    assert "gluehostarchitectureplatformtype" in names
    assert all(one.source == "local" and one.heard > 0 for one in by_ce.attributes)
    assert (await client.resource(ce.upper())).ce == (await client.resource("LOCAL")).ce == ce
    with pytest.raises(NotFound):
        await client.resource("nowhere:2119/jobmanager-none-none")


async def test_a_source_that_is_asked_tells_how_it_does(client: BrokerClient) -> None:
    [source] = await client.refresh_sources()
    assert (source.name, source.kind, source.state, source.resources) == ("local", "local", "ok", 1)
    assert [one.name for one in await client.sources()] == ["local"]


async def test_list_match_gives_counts_and_the_page_that_was_asked_for(client: BrokerClient) -> None:
    report = await client.match(TRUE)
    assert (report.known, report.matching, report.selected) == (1, 1, 1)
    assert [one.matches for one in report.resources] == [True]
    none = await client.match(TRUE, only="rejected")
    assert (none.resources, none.selected, none.matching) == ([], 0, 1)
    wanted = f'{TRUE} Requirements = other.GlueHostArchitecturePlatformType == "abacus";'
    refused = await client.match(wanted, limit=0)
    assert (refused.known, refused.matching, refused.resources) == (1, 0, [])
    assert refused.analysis
    with pytest.raises(BadRequest):
        await client.match(TRUE, policy="no-such-policy")


async def test_followers_hear_that_resources_changed_and_lose_no_place_in_the_log(
    client: BrokerClient,
) -> None:
    start = (await client.info()).position
    seen: list[tuple[int, int]] = []
    async with aclosing(client.follow(start)) as updates:
        async for update in updates:
            seen.append((update.resources, update.position))
            if len(seen) == 2:
                break
            await client.refresh_sources()
    assert seen[0][0] < seen[1][0]
    assert seen[1][1] >= start


async def test_cpus_of_a_site_are_free_as_soon_as_its_last_job_has_ended(client: BrokerClient) -> None:
    # It may be looked once more just then, when the software here has become known: that tells nothing.
    assert any([await _freed_without_a_look(client) for _ in range(3)])


async def _freed_without_a_look(client: BrokerClient) -> bool:
    (idle,) = await client.sites()
    values = [str(number) for number in range(idle.total_cpus)]
    jobs = (await submit(client, 'Executable = "/bin/sleep"; Arguments = "600_PARAM_";', values=values)).ids
    for job in jobs:
        await reach(client, job, "Running")
    await client.refresh_sources(["local"])
    (full,) = await client.sites()
    assert (full.free_cpus, full.total_cpus) == (0, idle.total_cpus)
    await client.cancel(jobs)
    ends = [(await reach(client, job, "Canceled"))["ended"] for job in jobs]
    (after,) = await client.sites()
    assert (after.free_cpus, after.running) == (idle.total_cpus, 0)
    (source,) = await client.sources()
    return (source.last_heard or 0) < max(ends)
