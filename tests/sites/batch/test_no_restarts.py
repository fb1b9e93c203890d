"""Batch systems must not start a job again by themselves: the broker alone makes new attempts."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.sites.adapter import AttemptStatus
from tests.sites.batch.beds import Bed, gone
from tests.sites.batch.conftest import grid_engine_bed, slurm_bed
from tests.waiting import wait_until

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize(
    ("kind", "again", "refusal"),
    [("slurm", "scontrol requeue {id}", "disabled"), ("sge", "qmod -rj {id}", "not restartable")],
    ids=["slurm", "sge"],
)
def test_who_wants_a_job_run_again_is_refused_and_it_runs_once(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, again: str, refusal: str
) -> None:
    bed: Bed = (slurm_bed if kind == "slurm" else grid_engine_bed)(request, tmp_path)
    body = f"echo started >>{tmp_path}/ran; until [ -e {tmp_path}/go ]; do sleep 0.1; done"
    id = bed.submit("again.a.1", bed.script("a", body))
    bed.release(id)
    wait_until(lambda: (tmp_path / "ran").exists(), what="it runs")
    done = bed.ask(again.format(id=id))
    assert bed.listed("again")[id].seen is AttemptStatus.RUNNING
    (tmp_path / "go").touch()
    gone(bed, "again", id)
    assert (tmp_path / "ran").read_text() == "started\n"
    assert refusal in done.stdout + done.stderr
