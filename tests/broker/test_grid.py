"""A broker that knows thousands of resources from a source, and has a way to one of them only."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.broker.matchmaking.policy_plugins import user_folder
from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from broker_core.errors import NotFound
from tests.broker.jobs import reach, submit
from tests.command_line.calling import crossdesk
from tests.running import RunningBroker
from tests.waiting import eventually

MANY = 1500
FREE = "other.GlueCEStateFreeCPUs >= 40"
SETTINGS = """
cpus = 2
[[sources]]
name = "grid"
kind = "file"
path = "{}"
"""
RESOURCE = """
[[resources]]
ce = "ce{0:05}.example.org:2119/jobmanager-pbs-long"
site = "site{1}"
GlueCEInfoTotalCPUs = 64
GlueCEStateFreeCPUs = {2}
GlueCEStateStatus = "Production"
GlueSiteLatitude = 41.5
"""


@pytest.fixture
def grid(state_dir: Path) -> Path:
    """The file that the source reads."""
    path = state_dir.parent / "grid.toml"
    path.write_text("".join(RESOURCE.format(number, number % 40, number % 64) for number in range(MANY)))
    return path


@pytest.fixture
async def client(state_dir: Path, grid: Path) -> AsyncIterator[BrokerClient]:
    """A client of a broker that has read the file."""
    state_dir.mkdir()
    (state_dir / "broker.toml").write_text(SETTINGS.format(grid))
    broker = RunningBroker(state_dir)
    broker.start()
    async with BrokerClient(BrokerTransport(state_dir)) as made:

        async def known() -> bool:
            return (await made.resources_page(limit=1)).total > MANY

        await eventually(known, what="the file is read")
        yield made
    broker.close()


async def test_pages_show_every_known_resource_once_and_in_order(client: BrokerClient) -> None:
    ces: list[str] = []
    while True:
        page = await client.resources_page(len(ces), 700)
        ces += page.columns["ce"]
        if not page.columns["ce"]:
            break
    assert len(ces) == MANY + 1
    assert ces == sorted(set(ces))
    page = await client.resources_page(0, 5)
    assert page.columns["sources"] == ["grid"] * 5
    assert page.columns["access"] == [False] * 5
    assert page.columns["latitude"] == [41.5] * 5
    listed = crossdesk("site", "list", "--all", "--limit", "0", "--json").json
    assert [row["ce"] for row in listed["resources"]] == ces


async def test_resources_known_from_a_source_alone_are_matched_only_if_that_is_assumed(
    client: BrokerClient,
) -> None:
    text = f'Executable = "/bin/true"; Requirements = {FREE};'
    report = await client.match(text, limit=5, only="rejected")
    assert (report.known, report.matching, report.selected) == (MANY + 1, 0, MANY + 1)
    nearest = report.resources[0]
    assert "no way to send jobs" in nearest.reason
    assert [one.origin for one in nearest.clauses if one.value != "true"] == ["access"]
    assumed = await client.match(text, limit=5, only="matching", assume_access=True)
    free = sum(number % 64 >= 40 for number in range(MANY))
    assert (assumed.matching, assumed.selected, len(assumed.resources)) == (free, free, 5)
    again = await client.match(text, only="matching", assume_access=True, offset=free - 1, limit=5)
    assert len(again.resources) == 1
    named = await client.match(text, ces=[nearest.ce])
    assert [one.ce for one in named.resources] == [nearest.ce]


async def test_no_job_is_sent_where_the_broker_has_no_way_to_send_it(client: BrokerClient) -> None:
    (job,) = (await submit(client, f'Executable = "/bin/true"; Requirements = {FREE};')).ids
    (plain,) = (await submit(client, 'Executable = "/bin/true";')).ids
    await reach(client, plain, "Done")
    row = await reach(client, job, "Waiting")
    assert row["attempt"] == 0
    why = await client.why(job)
    assert (why.matching_ever, why.known) == (0, MANY + 1)
    assert "no way to send jobs" in " ".join((why.headline, *why.details))


async def test_a_source_that_fails_says_why_and_what_it_told_before_stays(
    client: BrokerClient, grid: Path
) -> None:
    grid.unlink()
    [asked] = await client.refresh_sources(["grid"])
    assert (asked.name, asked.state) == ("grid", "failed")
    assert asked.reason
    assert (await client.resources_page(limit=1)).total == MANY + 1
    states = {one.name: one.state for one in await client.sources()}
    assert states == {"grid": "failed", "local": "ok"}
    said = crossdesk("site", "refresh")
    assert (said.code, "failed" in said.out) == (1, True)
    with pytest.raises(NotFound):
        await client.refresh_sources(["no-such-source"])


async def test_run_time_tags_are_told_with_the_sites_that_show_them(
    client: BrokerClient, grid: Path
) -> None:
    line = 'GlueHostApplicationRunTimeEnvironment = ["MODULE:gcc/14", "MODULE:...", "PYTHON:", "MPICH"]\n'
    with grid.open("a") as file:
        for number, site in ((MANY, "site9"), (MANY + 1, "site10")):
            file.write(RESOURCE.format(number, site.removeprefix("site"), 1) + line)

    async def told() -> dict[str, list[str]]:
        return {one.name: one.sites for one in await client.tags()}

    async def there() -> bool:
        return "MPICH" in await told()

    await eventually(there)
    found = await told()
    assert (found["MODULE:gcc/14"], found["MPICH"]) == (["site10", "site9"], ["site10", "site9"])
    assert found["CROSSDESK"] == ["local"]
    assert not {"MODULE:...", "PYTHON:"} & set(found)


async def test_what_a_source_says_anew_is_shown(client: BrokerClient, grid: Path) -> None:
    grid.write_text(RESOURCE.format(7, 7, 3))
    [asked] = await client.refresh_sources(["grid"])
    assert (asked.state, asked.resources) == ("ok", 1)
    page = await client.resources_page()
    assert page.total == 2
    shown = await client.resource("site7")
    [free] = [one for one in shown.attributes if one.name == "GlueCEStateFreeCPUs"]
    assert (free.value, free.source) == (3, "grid")


async def test_without_a_cache_sources_are_asked_for_each_match_and_jobs_run(
    state_dir: Path, grid: Path
) -> None:
    state_dir.mkdir()
    (state_dir / "broker.toml").write_text("cache = false\n" + SETTINGS.format(grid))
    broker = RunningBroker(state_dir)
    broker.start()
    try:
        async with BrokerClient(BrokerTransport(state_dir)) as client:
            (job,) = (await submit(client, 'Executable = "/bin/true";')).ids
            await reach(client, job, "Done")
            heard = {one.name: one.last_heard or 0.0 for one in await client.sources()}
            report = await client.match('Executable = "/bin/true";', limit=1, only="matching")
            assert [one.site for one in report.resources] == ["local"]
            again = {one.name: one.last_heard or 0.0 for one in await client.sources()}
            assert all(again[name] > heard[name] for name in heard)
    finally:
        broker.close()


async def test_a_policy_in_the_folder_of_the_user_orders_list_match_and_can_be_chosen(
    client: BrokerClient,
) -> None:
    text = f'Executable = "/bin/true"; Requirements = {FREE}; Rank = other.GlueCEStateFreeCPUs;'
    usual = await client.match(text, limit=1, only="matching", assume_access=True)
    folder = user_folder()
    folder.mkdir(parents=True)
    (folder / "last-first.py").write_text(
        "def order(choices, request):\n    return range(len(choices) - 1, -1, -1)\n"
    )
    (folder / "broken.py").write_text("def order(choices, request):\n    return [7, 7]\n")
    assert {"last-first", "broken"} <= {one.name for one in await client.policies()}
    await client.choose_policy(order="last-first")
    turned = await client.match(text, limit=1, only="matching", assume_access=True)
    assert turned.policy == "last-first"
    assert turned.resources[0].ce != usual.resources[0].ce
    fallen_back = await client.match(text, limit=1, only="matching", assume_access=True, policy="broken")
    assert fallen_back.resources[0].ce == usual.resources[0].ce
    (job,) = (await submit(client, 'Executable = "/bin/true";')).ids
    await reach(client, job, "Done")
