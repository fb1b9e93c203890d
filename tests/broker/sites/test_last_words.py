"""What a program that fails at a cluster said last is recorded with its end."""

from __future__ import annotations

from broker_core.client.client import BrokerClient
from tests.broker.jobs import reach, script
from tests.broker.sites.conftest import NAME
from tests.testbed.slurm import Cluster

THERE = f'Requirements = other.GlueSiteName == "{NAME}";'


async def test_the_last_line_of_the_standard_error_comes_home_with_the_end(
    site: BrokerClient, cluster: Cluster
) -> None:
    job = await script(site, "echo started >&2; echo 'MemoryError: 3 GB' >&2; exit 1", description=THERE)
    row = await reach(site, job, "Done", "Aborted")
    assert (row["state"], row["error_line"]) == ("Done", "MemoryError: 3 GB")
    assert NAME in row["site"]
    again = (await site.resubmit([job], {"Arguments": "--less"})).ids[0]
    row = await reach(site, again, "Done", "Aborted")
    assert (row["rerun_of"], row["error_line"]) == (job, "MemoryError: 3 GB")
