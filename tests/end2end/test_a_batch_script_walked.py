"""A stranger's batch script with a line for a GPU: dropped, run at a real Slurm, and its use plotted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from broker_core.errors import NotFound
from broker_core.wire.sites import SiteSpec
from tests.end2end.desktop import Desktop
from tests.end2end.screen import Screen
from tests.leaks import lasting
from tests.testbed.slurm import LIMITING, LIMITING_CGROUP, Cluster, Slurm
from tests.waiting import wait_until

pytestmark = pytest.mark.cluster
PICTURES = Path("build/screenshots")
TEXT = """#!/bin/bash
#SBATCH --job-name="my training"
#SBATCH --gres=gpu:a100:1
#SBATCH --cpus-per-task=2
#SBATCH --mem=200M
#SBATCH --time=00:30:00
#SBATCH --mail-type=END
#SBATCH --output=train-%j.out
echo "GPU $CUDA_VISIBLE_DEVICES, $SLURM_CPUS_PER_TASK CPUs on $SLURMD_NODENAME"
for device in {devices}/*; do (: <"$device") 2>&1; done
while [ ! -e {gate} ]; do sleep 0.1; done
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One node without GPUs, and one with two."""
    with lasting():
        bed = Slurm(tmp_path_factory.mktemp("gpus") / "bed", nodes=2, cpus=4)
    bed.clusters["a"].equip(2, "a100", 2)
    bed.clusters["a"].settings = LIMITING.replace("jobacct_gather/linux", "jobacct_gather/cgroup")
    bed.clusters["a"].cgroup = f"{LIMITING_CGROUP}ConstrainDevices=yes\n"
    try:
        yield bed.start().clusters["a"]
    finally:
        bed.close()


@pytest.fixture(scope="module")
def screen() -> Iterator[Screen]:
    made = Screen()
    yield made
    made.close()


@pytest.fixture
def desktop(screen: Screen, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    made = Desktop(screen, tmp_path_factory.mktemp("desktop"))
    yield made
    made.close()


def _add_site(desktop: Desktop, cluster: Cluster, folder: Path) -> None:
    spec = SiteSpec(
        name="vega", kind="slurm", directory=str(folder / "site"), environment=cluster.environment
    )
    desktop.ask(lambda client: client.add_site(spec))

    def has_gpus() -> bool:
        with suppress(NotFound):
            return "a100" in str(desktop.ask(lambda client: client.resource("vega")))
        return False

    wait_until(has_gpus, what="the site told of its GPUs")


def _is_drawn(desktop: Desktop) -> bool:
    """The place where charts are announced has given way to them, and they say what is under the pointer."""
    texts = desktop.texts()
    return not any("Samples come" in one for one in texts) and any("GB asked for" in one for one in texts)


def test_from_a_dropped_script_to_its_plotted_use(desktop: Desktop, cluster: Cluster, tmp_path: Path) -> None:
    _add_site(desktop, cluster, tmp_path)
    script = tmp_path / "train it.sbatch"
    gate = tmp_path / "gate"
    script.write_text(TEXT.replace("{gate}", str(gate)).replace("{devices}", str(cluster.folder / "dev")))
    before = len(desktop.jobs())
    with desktop.carry_files(script) as drag:
        assert drag.accepted
        desktop.await_text("Drop to run this Slurm script")
        desktop.screen.picture(PICTURES / "walk-script-1-drop.png")
        assert drag.drop()
    desktop.await_text("GPUNumber = 1")
    desktop.screen.picture(PICTURES / "walk-script-2-sheet.png")
    desktop.click("Submit", "QPushButton")
    wait_until(lambda: any(row["state"] == "Running" for row in desktop.jobs()), what="it runs")
    desktop.screen.picture(PICTURES / "walk-script-3-runs.png")
    desktop.show_tab("Use")
    desktop.await_text("So far ")
    wait_until(lambda: _is_drawn(desktop), 240, "its use is drawn while it runs")
    desktop.screen.picture(PICTURES / "walk-script-4-use.png")
    gate.touch()
    (row,) = desktop.await_jobs(before, 1)
    [file] = [one for one in desktop.ask(lambda client: client.files(row["id"])) if one.role == "stdout"]
    output = desktop.output(row["id"], file.path)
    assert "GPU 0, 2 CPUs on a2" in output
    # Its own device may be opened, though nothing stands behind it here; the other one is fenced off.
    assert "a100-2-0: No such device" in output
    assert "a100-2-1: Operation not permitted" in output
    # The inspector opens with what one asks of a job that has ended.
    desktop.await_text("Done")
    desktop.show_tab("Use")
    desktop.await_text(" of 200 MB of memory")
    desktop.screen.picture(PICTURES / "walk-script-5-after.png")
