"""A real site of each kind with no processor free: batch jobs wait, an interactive one is refused at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.interactive import register_desk
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach, script, submit
from tests.broker.sites.watching import known
from tests.running import end_all
from tests.testbed.grid_engine import GridEngine
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

NAME = "full"


@pytest.fixture
def environment(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[dict[str, str]]:
    """Variables with which this machine is a site of the kind that the test is about."""
    if request.param == "slurm":
        cluster: Cluster = request.getfixturevalue("cluster")
        yield dict(cluster.environment)
        return
    if request.param == "shell":
        yield {"CROSSDESK_SLOTS": "2", "HOME": str(tmp_path)}
        end_all(tmp_path)
        return
    cell = GridEngine()
    try:
        cell.start()
        yield dict(cell.environment)
    finally:
        cell.close()


@pytest.mark.parametrize(
    ("kind", "environment"),
    [(kind, kind) for kind in ("slurm", "sge", "shell")],
    indirect=["environment"],
)
async def test_an_interactive_job_is_refused_where_no_processor_is_free(
    client: BrokerClient, tmp_path: Path, kind: str, environment: dict[str, str]
) -> None:
    spec = SiteSpec(name=NAME, kind=kind, environment=environment, directory=str(tmp_path / "there"))
    queues = [] if kind == "shell" else ["main"]
    await client.add_site(
        spec.model_copy(update={"poll_interval": 0.2, "list_interval": 0.2, "queues": queues})
    )
    total = (await known(client, NAME)).total_cpus
    here = f'Requirements = other.GlueSiteName == "{NAME}";'
    gate = tmp_path / "gate"
    body = f"until [ -e {gate} ]; do sleep 0.2; done"
    filling = [await script(client, body, description=here) for _ in range(total)]
    try:
        for job in filling:
            await reach(client, job, "Running")

        async def full() -> bool:
            await client.refresh_sources([NAME])
            columns = (await client.resources_page()).columns
            free = zip(columns["ce"], columns["free_cpus"], strict=True)
            return not any(count for ce, count in free if ce.startswith(f"{NAME}:"))

        await eventually(full, what="the site is seen to be full")
        await register_desk(client)
        (job,) = (await submit(client, f'Executable = "/bin/sh"; Interactive = true; {here}')).ids
        row = await reach(client, job, "Aborted")
        assert "every matching resource is busy" in row["reason"], row
        assert row["attempt"] == 0, "the site heard nothing of it"
    finally:
        gate.touch()
    for one in filling:
        await reach(client, one, "Done")
