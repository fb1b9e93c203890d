"""A real A-REX in front of a real Slurm: the starter's markers tell the end long before A-REX does."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.information.updater import SourceFailed
from broker_core.resources.facts import Facts
from broker_core.sites.adapter import AttemptStatus
from broker_core.wire.sites import SiteSpec
from broker_core.worker.markers import ended_mark
from tests.sites.arc.conftest import Adapting
from tests.sites.arc.launches import launch
from tests.testbed.arc import ARex
from tests.testbed.slurm import Cluster, Slurm
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """A Slurm cluster in a folder that other accounts can reach."""
    folder = Path(tempfile.mkdtemp(prefix="cd-arc-"))
    folder.chmod(0o755)
    bed = Slurm(folder / "slurm", nodes=1)
    try:
        yield bed.start().clusters["a"]
    finally:
        bed.close()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def gate(cluster: Cluster) -> Iterator[ARex]:
    """A computing element that sends its jobs to the cluster."""
    folder = cluster.folder.parents[1] / "arc"
    folder.mkdir()
    site = ARex(folder, slurm=cluster.environment)
    try:
        yield site.start()
    finally:
        site.close()


async def test_jobs_of_a_cluster_behind_arc_end_by_their_markers_and_are_cancelled_there(
    gate: ARex, cluster: Cluster, tmp_path: Path, adapting: Adapting
) -> None:
    proxy = gate.authority.proxy(gate.user, tmp_path / "proxy.pem")
    trust = str(gate.authority.file)
    adapter = await adapting(SiteSpec(name="g", kind="arc", url=gate.url, proxy=str(proxy), trust=trust))

    async def published() -> tuple[Facts, ...]:
        try:
            return await adapter.look()
        except SourceFailed:  # it writes its document for the first time
            return ()

    (facts,) = await eventually(published, what="the site describes itself")
    assert facts.ce == f"g:{gate.port}/jobmanager-arc-main"
    assert facts.attributes["GLUE2ComputingManagerTotalLogicalCPUs"] == cluster.cpus

    quick = launch(tmp_path, "quick", 'echo "job $SLURM_JOB_ID"; exit 4', queue="main")
    endless = launch(tmp_path, "endless", "sleep 3000", queue="main")
    await adapter.submit([quick, endless])
    await adapter.release(["quick.1", "endless.1"])

    async def started() -> bool:
        return bool((await adapter.poll([])).attempts["endless.1"].started)

    await eventually(started, 90.0, "the endless job runs")
    await adapter.cancel(["endless.1"])
    marks = {}

    async def over() -> bool:
        found = (await adapter.poll([])).attempts
        marks.update({tag: ended_mark(one.ended, 0.0) for tag, one in found.items() if one.ended})
        return all(one.seen is AttemptStatus.ENDED for one in found.values())

    await eventually(over, 90.0, "both are over")
    assert {tag: mark and (mark.exit_code, mark.failure) for tag, mark in marks.items()} == {
        "quick.1": (4, ""),
        "endless.1": (None, "killed"),
    }
    await adapter.fetch("quick.1", ["out"], tmp_path / "home")
    assert (tmp_path / "home" / "out").read_text().startswith("job ")
    await adapter.remove(["quick.1", "endless.1"])
    await eventually(lambda: not cluster.present(), what="nothing of them is in the cluster")
