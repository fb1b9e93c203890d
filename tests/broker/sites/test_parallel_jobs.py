"""Parallel jobs from their description to their output: at a host behind SSH and a cluster behind it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.errors import BadRequest
from broker_core.wire.sites import SiteSpec
from broker_core.wire.submission import SandboxFile
from tests.broker.jobs import reach, submit
from tests.broker.sites.conftest import NAME
from tests.broker.sites.watching import known
from tests.testbed.mpi import installed
from tests.testbed.slurm import Cluster
from tests.testbed.sshd import Sshd, own_home

pytestmark = pytest.mark.mpi
JOB = """
    JobType = "Parallel"; SubJobType = "{kind}"; NodeNumber = 2; Executable = "ranks";
    InputSandbox = {{"ranks"}}; StdOutput = "out"; StdError = "err"; Environment = {{"GIVEN=a value"}};
    Requirements = other.GlueSiteName == "{site}";
"""


@pytest.fixture
def sshd(tmp_path: Path, slurm: Cluster) -> Iterator[Sshd]:
    """A host that has MPICH in its PATH."""
    path = f"{installed('mpich').prefix}/bin:/usr/bin:/bin"
    server = Sshd(tmp_path / "sshd", environment=slurm.environment | own_home(tmp_path) | {"PATH": path})
    try:
        yield server.start()
    finally:
        server.close()


@pytest.fixture
async def both(client: BrokerClient, spec: SiteSpec, trusting: Path, cluster: Cluster) -> BrokerClient:
    """A client of a broker that has the cluster, and its login host as a host without a batch system."""
    host = spec.model_copy(update={"name": "host", "kind": "shell", "directory": f"{spec.directory}-host"})
    for one in (spec, host):
        await client.add_site(one)
        await known(client, one.name)
    return client


async def program(client: BrokerClient) -> SandboxFile:
    """The program that checks its ranks, uploaded."""
    content = installed("mpich").program.read_bytes()
    sha = hashlib.sha256(content).hexdigest()
    await client.upload(sha, content)
    return SandboxFile(name="ranks", sha256=sha, size=len(content), executable=True)


async def test_an_mpi_job_runs_where_its_mpi_is_and_the_others_are_told_why_not(both: BrokerClient) -> None:
    file = await program(both)
    for site in ("host", NAME):
        job = (await submit(both, JOB.format(kind="mpich", site=site), files=[file])).ids[0]
        row = await reach(both, job, "Done", "Aborted")
        errors = (await both.read_file(job, "err")).content.decode()
        assert (row["state"], row["exit_code"]) == ("Done", 0), errors
        out = (await both.read_file(job, "out")).content.decode()
        assert out == "2 ranks of 1 launchers, pi 3.141593, halo right, given a value\n"


async def test_list_match_says_which_mpi_a_site_lacks(both: BrokerClient) -> None:
    report = await both.match(JOB.format(kind="openmpi", site="host"), [await program(both)])
    reasons = {one.site: one.reason for one in report.resources}
    assert reasons["host"] == "it does not offer the MPI implementation OPENMPI"


async def test_a_launcher_that_the_broker_has_not_is_refused_at_once(client: BrokerClient) -> None:
    text = 'JobType = "Parallel"; SubJobType = "plain"; Executable = "a"; ApplicationLauncher = "mine";'
    parts = "SubJobs = {[ NodeNumber = 1; ], [ NodeNumber = 1; ]};"
    with pytest.raises(BadRequest, match="no application launcher mine") as refused:
        await submit(client, f"{text} {parts}")
    assert refused.value.code == "no_such_launcher"
    with pytest.raises(BadRequest, match="starts several components together") as refused:
        await submit(client, f"{text} NodeNumber = 2;")
    assert refused.value.code == "launcher_without_components"


async def test_a_job_over_several_sites_is_refused_with_what_to_write(client: BrokerClient) -> None:
    text = JOB.format(kind="pacx-mpi", site="host").replace('InputSandbox = {"ranks"};', "")
    with pytest.raises(BadRequest, match="sites, which is not done yet for interactive jobs") as refused:
        await submit(client, text.replace('"ranks"', '"/bin/true"') + "Interactive = true;")
    assert refused.value.code == "several_sites_not_run"
    assert 'SubJobType = "openmpi" or "mpich"' in refused.value.remedy
