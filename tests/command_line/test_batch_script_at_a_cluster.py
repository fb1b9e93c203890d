"""A script for Slurm with a line for a GPU, by the command line alone: translated, sent, run, and why not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk
from tests.leaks import lasting
from tests.running import RunningBroker
from tests.testbed.slurm import Cluster, Slurm
from tests.waiting import wait_until

pytestmark = pytest.mark.cluster
TEXT = """#!/bin/bash
#SBATCH -J "my training" --gres=gpu:a100:{gpus}
#SBATCH --cpus-per-task=2 --mem=200M -t 10
echo "GPU $CUDA_VISIBLE_DEVICES, $SLURM_CPUS_PER_TASK CPUs on $SLURMD_NODENAME, $1"
"""
SPREAD = """#!/bin/sh
#SBATCH -n 6 -t 10
echo "$SLURM_NNODES nodes"
srun sh -c 'echo "$SLURMD_NODENAME"' | sort | uniq -c
"""
ELSEWHERE = """#!/bin/sh
#PBS -l procs=6
echo "$PBS_NUM_NODES nodes"
sort "$PBS_NODEFILE" | uniq -c
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One node without GPUs, and one with two."""
    with lasting():
        bed = Slurm(tmp_path_factory.mktemp("gpus") / "bed", nodes=2, cpus=4)
    bed.clusters["a"].equip(2, "a100", 2)
    try:
        yield bed.start().clusters["a"]
    finally:
        bed.close()


def test_from_a_script_to_its_output_and_to_why_it_cannot_run(
    running_broker: RunningBroker, cluster: Cluster, tmp_path: Path
) -> None:
    settings = [word for name, value in cluster.environment.items() for word in ("--env", f"{name}={value}")]
    words = ["--name", "vega", "--kind", "slurm", "--directory", str(tmp_path / "site"), *settings]
    added = crossdesk("site", "add", *words)
    assert added.code == 0, added.err
    wait_until(lambda: "a100" in crossdesk("site", "show", "vega").out, what="the site told of its GPUs")

    script, description = tmp_path / "train it.sbatch", tmp_path / "train it.jdl"
    script.write_text(TEXT.format(gpus=1))
    made = crossdesk("jdl", "from", str(script), "--out", str(description))
    assert (made.code, "GPUNumber = 1" in made.err) == (0, True), made.err
    assert crossdesk("jdl", "check", str(description)).code == 0
    for file, more in ((script, ["--arguments", "itself"]), (description, [])):
        done = crossdesk("job", "submit", str(file), *more, "--wait")
        assert done.code == 0, done.err
        said = crossdesk("job", "log", done.out.strip()).out
        assert said.startswith("GPU 0, 2 CPUs on a2, "), said
        assert said.endswith("itself\n" if more else ", \n")

    script.write_text(TEXT.format(gpus=3))
    many = tmp_path / "many.jdl"
    assert crossdesk("jdl", "from", str(script), "--out", str(many)).code == 0
    why = crossdesk("job", "list-match", str(many), "--explain")
    assert "no node of vega has 3 GPUs of model a100 (at most 2)" in " ".join(why.out.split()), why.out
    assert "A site is needed that has a node with 3 GPUs and has one node with all of it" in why.err

    for name, text in (("spread.sbatch", SPREAD), ("spread.pbs", ELSEWHERE)):
        (tmp_path / name).write_text(text)
        done = crossdesk("job", "submit", str(tmp_path / name), "--wait")
        assert done.code == 0, done.err
        words = crossdesk("job", "log", done.out.strip()).out.split()
        assert words[:2] == ["2", "nodes"]
        counts = dict(zip(words[3::2], map(int, words[2::2]), strict=True))
        assert counts in ({"a1": 4, "a2": 2}, {"a1": 2, "a2": 4})
