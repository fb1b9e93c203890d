"""A broker that is fed by real information systems while others are dead."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from broker_core.wire.submission import Submission, SubmissionItem
from tests.information.asking import Grid
from tests.running import RunningBroker
from tests.testbed.ports import free_port
from tests.waiting import eventually


@pytest.fixture
async def client(grid: Grid, state_dir: Path) -> AsyncIterator[BrokerClient]:
    """A client of a broker with four sources: an index, a dead server, a file and a disabled one."""
    state_dir.mkdir(parents=True)
    (state_dir / "mine.toml").write_text(
        '[[resources]]\nce = "mine.example.org:2119/jobmanager-pbs-own"\nsite = "mine"\n'
        "GlueCEInfoTotalCPUs = 8\nGlueCEStateFreeCPUs = 8\n"
        'GlueCESEBindGroupSEUniqueID = ["se.mine.example.org"]\n'
    )
    (state_dir / "replicas.json").write_text('{"lfn:/data": ["gsiftp://se.mine.example.org/data"]}')
    (state_dir / "broker.toml").write_text(
        f'[[sources]]\nname = "grid"\nkind = "ldap"\naddress = "{grid.index}"\n'
        f'[[sources]]\nname = "dead"\nkind = "ldap"\naddress = "ldap://127.0.0.1:{free_port()}"\n'
        f'[[sources]]\nname = "mine"\nkind = "file"\npath = "{state_dir}/mine.toml"\n'
        '[[sources]]\nname = "monitor"\nkind = "rgma"\n'
        f'[replicas]\naddress = "{state_dir}/replicas.json"\n'
    )
    broker = RunningBroker(state_dir)
    try:
        broker.start()
        async with BrokerClient(BrokerTransport(state_dir)) as made:
            yield made
    finally:
        broker.close()


async def test_thousands_of_elements_are_known_and_matched_while_another_source_is_dead(
    client: BrokerClient, grid: Grid
) -> None:
    told = {one.name: one for one in await client.refresh_sources()}
    assert {name: one.state for name, one in told.items()} == {
        "dead": "failed",
        "grid": "ok",
        "local": "ok",
        "mine": "ok",
        "monitor": "disabled",
    }
    assert "refused" in told["dead"].reason

    async def known() -> bool:
        return (await client.resources_page(limit=1)).total == len(grid.elements) + 2

    await eventually(known, what="the cache has merged everything")
    made = grid.sites["site005"][2]
    detail = await client.resource(made.ce)
    values = {one.name.lower(): one for one in detail.attributes}
    assert values["gluehostarchitecturesmpsize"].value == 16
    assert {one.source for one in detail.attributes} == {"grid"}
    assert values["gluehostarchitecturesmpsize"].static
    assert not values["gluecestatestatus"].static
    grid_alone = 'other.GlueCEInfoLRMSType == "slurm"'
    wanted = (
        f'Executable = "/bin/true"; Requirements = other.GlueHostMainMemoryRAMSize >= 16384 && {grid_alone};'
    )
    report = await client.match(wanted, assume_access=True, limit=5)
    memory = sum(one.number % 8 == 7 and one.number % 25 != 24 for one in grid.elements.values())
    assert (report.known, report.matching) == (len(grid.elements) + 2, memory)


async def test_the_element_close_to_the_files_of_a_job_comes_first(client: BrokerClient) -> None:
    await client.refresh_sources()

    async def known() -> bool:
        return (await client.resources_page(limit=1)).total > 2000

    await eventually(known, what="the cache has merged everything")
    wanted = 'Executable = "/bin/true"; InputData = {"lfn:/data"}; DataAccessProtocol = "gsiftp";'
    report = await client.match(wanted, assume_access=True, limit=2)
    assert report.resources[0].ce == "mine.example.org:2119/jobmanager-pbs-own"
    assert report.resources[0].close_files == 1
    away = 'Executable = "/bin/true"; OutputSE = "se.mine.example.org";'
    assert (await client.match(away, assume_access=True, limit=1)).matching == 1


async def test_what_close_storage_elements_say_decides_where_asked_for(
    client: BrokerClient, grid: Grid
) -> None:
    await client.refresh_sources()

    async def known() -> bool:
        return (await client.resources_page(limit=1)).total == len(grid.elements) + 2

    await eventually(known, what="the cache has merged everything")
    test = 'target.GlueSEStatus == "Production" && target.GlueSAStateAvailableSpace >= 30000000'
    wanted = f'Executable = "/bin/true"; Requirements = anyMatch(other.storage.CloseSEs, {test});'
    report = await client.match(wanted, assume_access=True, limit=1000, only="matching")
    chosen = {name for name in grid.sites if int(name[-3:]) % 2 and int(name[-3:]) >= 30}
    assert chosen
    assert {one.site.lower() for one in report.resources} == chosen


async def test_a_catalogue_that_never_answers_keeps_no_job_from_running(state_dir: Path) -> None:
    state_dir.mkdir(parents=True)
    broker = RunningBroker(state_dir)
    with socket.socket() as mute:
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        address = f"http://127.0.0.1:{mute.getsockname()[1]}"
        (state_dir / "broker.toml").write_text(f'[replicas]\nkind = "http"\naddress = "{address}"\n')
        try:
            broker.start()
            async with BrokerClient(BrokerTransport(state_dir)) as client:
                wanted = 'Executable = "/bin/true"; InputData = {"lfn:/data"}; DataAccessProtocol = "gsiftp";'
                item = SubmissionItem(description=wanted)
                (job,) = (await client.submit(Submission(key="near-the-data", items=[item]))).ids

                async def done() -> bool:
                    return (await client.job(job)).row["state"] == "Done"

                await eventually(done)
        finally:
            broker.close()
