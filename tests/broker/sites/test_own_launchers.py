"""Launchers of one's own: programs at two real Slurm clusters that are one job without MPI."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.transport import BrokerTransport
from broker_core.errors import BadRequest
from tests.broker.jobs import reach, submit, upload
from tests.broker.sites.grid import Grid, with_both
from tests.broker.sites.launching import launching_broker
from tests.launching.own_launchers import CALLER, LauncherFolders
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = [pytest.mark.mpi, pytest.mark.cluster]


@pytest.fixture
def launchers(tmp_path: Path) -> LauncherFolders:
    return LauncherFolders(tmp_path / "authorities")


@pytest.fixture
async def own(
    hosts: Path, state_dir: Path, clusters: dict[str, Cluster], launchers: LauncherFolders
) -> AsyncIterator[Grid]:
    """The same with a launcher of one's own."""
    launchers.install("farm")
    settings = f'application_launchers = "{launchers.folder}"\n'
    with launching_broker(state_dir, "127.0.0.1", settings) as broker:
        async with BrokerClient(BrokerTransport(broker.state_dir, patience=20)) as client:
            await with_both(client, hosts)
            yield Grid(client, broker, clusters, hosts)


FARMED = f"""
    JobType = "Parallel"; SubJobType = "plain"; ApplicationLauncher = "farm"; Executable = "{sys.executable}";
    Arguments = "caller.py '{{said}}' 'here I am'"; InputSandbox = {{{{"caller.py"}}}}; StdOutput = "out";
    StdError = "err"; SubJobs = {{{{
        [ NodeNumber = 1; Requirements = RegExp("north", other.GlueCEUniqueID); ],
        [ NodeNumber = 2; Requirements = RegExp("south", other.GlueCEUniqueID); ] }}}};
"""


async def test_a_launcher_of_ones_own_joins_programs_at_two_sites(
    own: Grid, launchers: LauncherFolders
) -> None:
    file = await upload(own.client, CALLER.encode(), "caller.py")
    job = (await submit(own.client, FARMED.format(said="here I am"), files=[file])).ids[0]
    row = await reach(own.client, job, "Done", "Aborted")
    assert (row["state"], row["exit_code"]) == ("Done", 0), await own.story(job)
    assert await own.output(job, "out") == "master 0 go here I am\n"
    assert await own.output(job, "component-1/out") == "worker 1 go here I am\n"
    await own.nothing_is_left()

    wrong = (await submit(own.client, FARMED.format(said="elsewhere"), files=[file])).ids[0]
    row = await reach(own.client, wrong, "Done", "Aborted")
    assert row["exit_code"] == 1
    await own.nothing_is_left()

    (launchers.folder / "farm.py.sig").write_text("of nobody")
    with pytest.raises(BadRequest, match="not signed by an authority that this broker trusts") as refused:
        await submit(own.client, FARMED.format(said="here I am"), files=[file])
    assert (refused.value.code, refused.value.place) == ("no_such_launcher", "ApplicationLauncher")


GATED = """
import os
from pathlib import Path
with open(GATE + ".begun", "a") as begun:
    begun.write(os.environ["CROSSDESK_COMPONENT"])
if os.environ["CROSSDESK_COMPONENT"] == "1":
    import select
    while not Path(GATE).exists():
        select.select((), (), (), 0.05)
"""


@pytest.mark.parametrize("victim", ["broker", "launcher"])
async def test_a_job_outlives_the_broker_and_is_started_again_with_another_launcher(
    own: Grid, tmp_path: Path, victim: str
) -> None:
    """Killed while one component has called and the other has not."""
    gate = tmp_path / "gate"
    text = f"GATE = {str(gate)!r}\n{GATED}{CALLER}"
    file = await upload(own.client, text.encode(), "caller.py")
    job = (await submit(own.client, FARMED.format(said="here I am"), files=[file])).ids[0]
    begun = tmp_path / "gate.begun"
    await eventually(lambda: begun.exists() and len(begun.read_text()) == 2)
    await eventually(lambda: own.launcher(job).waiting() == {0})
    if victim == "broker":
        own.broker.kill()
        own.broker.start()
    else:
        os.kill(own.launcher(job).pid(), signal.SIGKILL)
        await eventually(lambda: own.launcher(job, 2).waiting() == {0}, what="the second attempt")
    gate.touch()
    row = await reach(own.client, job, "Done", "Aborted")
    assert (row["state"], row["exit_code"]) == ("Done", 0), await own.story(job)
    assert await own.output(job, "component-1/out") == "worker 1 go here I am\n"
    assert len(begun.read_text()) == (2 if victim == "broker" else 4)
    await own.nothing_is_left()


async def test_after_the_death_of_a_launcher_the_parts_that_work_go_on_alone(
    own: Grid, tmp_path: Path
) -> None:
    gate, begun = tmp_path / "gate", tmp_path / "gate.begun"
    held = CALLER.replace("sys.exit(", GATED.replace('== "1"', 'in "01"') + "sys.exit(")
    file = await upload(own.client, f"GATE = {str(gate)!r}\n{held}".encode(), "caller.py")
    job = (await submit(own.client, FARMED.format(said="here I am"), files=[file])).ids[0]
    await eventually(lambda: begun.exists() and len(begun.read_text()) == 2, what="both work")
    os.kill(own.launcher(job).pid(), signal.SIGKILL)
    await eventually(lambda: not own.launcher(job).path.exists(), what="the broker has noticed")
    assert (await own.client.job(job)).row["state"] == "Running"
    gate.touch()
    row = await reach(own.client, job, "Done", "Aborted")
    assert (row["state"], row["exit_code"]) == ("Done", 0), await own.story(job)
    assert len(begun.read_text()) == 2
    await own.nothing_is_left()
