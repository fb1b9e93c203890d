"""A batch script away from its own system finds the variables that this would have set, in every shell."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.worker.starting import SHELLS, run

HERE = {
    "slurm": "SLURM_JOB_ID SLURM_SUBMIT_HOST SLURM_JOB_NODELIST SLURM_SUBMIT_DIR SLURM_CPUS_ON_NODE",
    "pbs": "PBS_JOBID PBS_O_HOST PBS_O_WORKDIR PBS_NODEFILE",
    "sge": "JOB_ID SGE_O_HOST SGE_O_WORKDIR PE_HOSTFILE",
    "lsf": "LSB_JOBID LSB_SUB_HOST LS_SUBCWD LSB_DJOB_HOSTFILE LSB_HOSTS",
    "condor": "_CONDOR_SCRATCH_DIR",
}
COUNTED = {
    "slurm": {"SLURM_NNODES": "1", "SLURM_TASKS_PER_NODE": "3", "SLURM_CPUS_ON_NODE": "3"},
    "pbs": {"PBS_NUM_NODES": "1"},
    "sge": {"NHOSTS": "1"},
    "lsf": {},
    "condor": {},
}


def variables(
    shell: list[str], directory: Path, script: str, *pairs: tuple[str, str], **inherited: str
) -> dict[str, str]:
    """What the program has in its environment."""
    given = (("CROSSDESK_BATCH_SCRIPT", f"{script} 3 3"), *pairs)
    run(shell, directory, "/bin/sh", "-c", f"env >{directory}/seen", environment=given, inherited=inherited)
    pairs_seen = (line.partition("=") for line in (directory / "seen").read_text().splitlines())
    return {name: value for name, _, value in pairs_seen}


@pytest.mark.parametrize("kind", HERE)
@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: Path(shell[0]).name)
def test_what_only_the_node_knows_is_set(shell: list[str], kind: str, tmp_path: Path) -> None:
    seen = variables(shell, tmp_path / "run", kind)
    assert all(seen.get(name) for name in HERE[kind].split())
    assert {name: seen[name] for name in COUNTED[kind]} == COUNTED[kind]


def test_lists_of_hosts_have_a_line_for_each_cpu_or_node(tmp_path: Path) -> None:
    grid, lsf = (variables(SHELLS[0], tmp_path / kind, kind) for kind in ("sge", "lsf"))
    (line,) = Path(grid["PE_HOSTFILE"]).read_text().splitlines()
    assert line.split()[1:] == ["3", "main", "UNDEFINED"]
    assert len(Path(lsf["LSB_DJOB_HOSTFILE"]).read_text().splitlines()) == len(lsf["LSB_HOSTS"].split()) == 3
    assert lsf["LSB_MCPU_HOSTS"].split()[1] == "3"


def test_what_the_script_asks_for_reaches_it(tmp_path: Path) -> None:
    pairs = (("SGE_TASK_ID", "7"), ("QUEUE", "long.q"))
    seen = variables(SHELLS[0], tmp_path / "run", "sge", *pairs)
    assert (seen["SGE_TASK_ID"], seen["QUEUE"]) == ("7", "long.q")


def test_what_its_own_system_says_counts_more_than_what_it_asked_for(tmp_path: Path) -> None:
    asked = (("SLURM_JOB_PARTITION", "gone"), ("SLURM_JOB_NAME", "mine"))
    there = {"SLURM_JOB_PARTITION": "main", "SLURM_JOB_NAME": "x"}
    seen = variables(SHELLS[0], tmp_path / "run", "slurm", *asked, **there)
    assert (seen["SLURM_JOB_PARTITION"], seen["SLURM_JOB_NAME"]) == ("main", "mine")
