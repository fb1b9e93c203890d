"""Which parallel jobs go through MPI-Start (CB-MPI-01, CB-MPI-04)."""

from __future__ import annotations

import pytest

from broker_core.jdl.check import check

PARALLEL = 'Executable = "/bin/true"; JobType = "Parallel"; CpuNumber = 4;'
HOOK = 'Environment = {"I2G_MPI_PRE_RUN_HOOK=hook.sh"};'


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ('SubJobType = "openmpi";', "openmpi"),
        ('SubJobType = "mpich2";', "mpich"),
        ('SubJobType = "plain";', ""),
        (f'SubJobType = "plain"; {HOOK}', "plain"),
        ('SubJobType = "plain"; HostNumber = 2;', "plain"),
        ('SubJobType = "plain"; HostNumber = 2; Environment = {"CROSSDESK_BATCH_SCRIPT=x"};', ""),
    ],
)
def test_a_plain_job_needs_it_for_hooks_and_for_several_hosts_alone(more: str, kind: str) -> None:
    job = check(PARALLEL + more).description
    assert job is not None
    assert job.mpi == kind
