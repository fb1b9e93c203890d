"""A script for one batch system runs at another: it reads there what its own system would tell it."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path

import pytest

from broker_core.client.programs.describe import translation
from broker_core.client.programs.file_kind import classify
from broker_core.client.programs.path_facts import facts_of
from broker_core.jdl.check import check
from broker_core.jdl.parametric import values, with_value
from broker_core.sites.contract import LaunchOrder
from tests.sites.remote.far_site import Far, order

ARRAY = """#!/bin/sh
#SBATCH --array=3-9:3
#SBATCH --time=5
test "$SLURM_SUBMIT_DIR" = "$PWD" || exit 1
echo "$SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT ${SLURM_JOB_ID:+known}"
"""
NODES = """#!/bin/sh
#PBS -J 1-2
test "$PBS_O_WORKDIR" = "$PWD" && echo "$PBS_ARRAY_INDEX $(wc -l <"$PBS_NODEFILE")"
"""
_BEDS = [pytest.param(name, marks=pytest.mark.cluster) for name in ("slurm", "sge")] + ["shell"]


def _orders(far: Far, path: Path, text: str) -> list[LaunchOrder]:
    """One for each number of the script's array."""
    path.write_text(text)
    found = check(translation(classify(facts_of(path))).description).description
    assert found is not None
    ce = f"far:22/jobmanager-{far.spec.kind}-{far.spec.queues[0]}"
    jobs = [with_value(found, value) for value in values(found.ad) or ()]
    return [order("sh", f"-c {shlex.quote(text)}", ce=ce, environment=job.environment) for job in jobs]


@pytest.mark.parametrize("bed", _BEDS, indirect=True)
async def test_scripts_with_arrays_write_the_same_at_every_system(far: Far, tmp_path: Path) -> None:
    orders = [
        *_orders(far, tmp_path / "array.sbatch", ARRAY),
        *_orders(far, tmp_path / "nodes.pbs", NODES),
    ]
    await asyncio.gather(*(far.site.submit(one) for one in orders))
    for one in orders:
        await far.site.confirm(one.attempt)
    for one in orders:
        assert (await far.ended(one.attempt)).exit_code == 0
    said = [(await far.text(one.attempt)).split() for one in orders]
    assert said == [[number, "of", "3", "known"] for number in "369"] + [["1", "1"], ["2", "1"]]
