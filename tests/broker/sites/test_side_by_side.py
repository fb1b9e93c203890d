"""Two sites in one home directory, which are one cluster too."""

from __future__ import annotations

import asyncio
from pathlib import Path

from broker_core.client.client import BrokerClient
from broker_core.wire.sites import SiteSpec
from tests.broker.jobs import reach, script
from tests.broker.sites.conftest import NAME
from tests.broker.sites.watching import known
from tests.testbed.slurm import Cluster

SITES = (NAME, "other")
JOBS = 3


async def test_sites_that_share_a_directory_and_a_cluster_leave_each_others_jobs_alone(
    client: BrokerClient, spec: SiteSpec, trusting: Path, cluster: Cluster, tmp_path: Path
) -> None:
    for name in SITES:
        await client.add_site(spec.model_copy(update={"name": name}))
    for name in SITES:
        await known(client, name)
    before = len(cluster.completed())
    jobs = [
        await script(
            client,
            f"echo ran >>{tmp_path}/ran-{name}-{number}; sleep 3; exit 7",
            description=f'Requirements = other.GlueSiteName == "{name}";',
        )
        for number in range(JOBS)
        for name in SITES
    ]
    rows = await asyncio.gather(*(reach(client, job, "Done", "Aborted") for job in jobs))
    assert [(row["state"], row["exit_code"]) for row in rows] == [("Done", 7)] * len(jobs)
    assert {path.read_text() for path in tmp_path.glob("ran-*")} == {"ran\n"}
    assert len(cluster.all_completed()) - before == len(jobs)
