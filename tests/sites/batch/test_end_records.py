"""What batch systems print of the ends of jobs is read; the texts are as their manuals show them."""

from __future__ import annotations

import pytest

from broker_core.sites.adapter import EndRecord
from broker_core.sites.batch.systems import SYSTEMS

_SLURM = """\
14|COMPLETING
15_2|TIMEOUT
16|CANCELLED
@@@
13|OUT_OF_MEMORY|
13.batch|OUT_OF_MEMORY|61440K
13.0|COMPLETED|2M
15_2|RUNNING|
16|CANCELLED by 0|
17|NODE_FAIL|
18|PENDING|
"""
_GRID_ENGINE = """\
==============================================================
qname        all.q
jobnumber    12
taskid       undefined
failed       100 : assumedly after job
exit_status  137                  (Killed)
ru_wallclock 61s
maxvmem      1.250G
category     -q all.q -l h_rt=60
==============================================================
jobnumber    13
taskid       4
failed       37  : qmaster enforced h_rt, h_cpu, or h_vmem limit
ru_wallclock 3
maxvmem      4.0M
category     -l h_vmem=4M
==============================================================
jobnumber    14
taskid       undefined
failed       0
exit_status  3
ru_wallclock 3
"""
_PBS = """\
Job Id: 21.server
    Job_Name = x
    resources_used.mem = 2048kb
    job_state = F
    Exit_status = 271
    comment = Job run at Mon Nov 23 on (node1:ncpus=1) and walltime 61 exceeded l
\timit 60
Job Id: 22[3].server
    resources_used.mem = 4gb
    comment = mem 4194304kb exceeded limit 2097152kb
    Exit_status = -25
Job Id: 23.server
    job_state = R
"""
_LSF = """\
Job <31>, Job Name <x>, User <ann>
Mon Nov 23 10:00:00: Starting (Pid 1);
Mon Nov 23 10:01:00: Exited with exit code 130; TERM_MEMLIMIT: job killed after reach
                     ing LSF memory usage limit;

MEMORY USAGE:
MAX MEM: 12 Mbytes;  AVG MEM: 10 Mbytes
------------------------------------------------------------------------------
Job <32[5]>, Job Name <y>, User <ann>
Mon Nov 23 10:01:00: Exited by signal 9; TERM_PREEMPT: job killed after preemption;
Job <33>, Job Name <z>
Mon Nov 23 10:00:00: Starting (Pid 2);
"""
_CONDOR = """\
41\t0\t3\t150\tPERIODIC_REMOVE: MemoryUsage > RequestMemory\tundefined
42\t2\t4\tundefined\tundefined\tundefined
"""
_MEMORY = "it needed more memory than it had asked for"


@pytest.mark.parametrize(
    ("kind", "out", "found"),
    [
        (
            "slurm",
            _SLURM,
            {
                "13": EndRecord("OUT_OF_MEMORY", "out-of-memory", _MEMORY, 61440 << 10),
                "15_2": EndRecord("TIMEOUT", "wall-limit", "its time was over"),
                "16": EndRecord("CANCELLED", "lost", "it was canceled there"),
                "17": EndRecord("NODE_FAIL", "lost", "its node failed"),
            },
        ),
        (
            "sge",
            _GRID_ENGINE,
            {
                "12": EndRecord(
                    "failed 100 : assumedly after job", "wall-limit", "its time was over", 5 << 28
                ),
                "13_4": EndRecord(
                    "failed 37 : qmaster enforced h_rt, h_cpu, or h_vmem limit",
                    "lost",
                    "it went beyond a limit of time or memory",
                    4 << 20,
                ),
                "14": EndRecord("exit_status 3"),
            },
        ),
        (
            "pbs",
            _PBS,
            {
                "21": EndRecord("Exit_status 271", "wall-limit", "its time was over", 2 << 20),
                "22_3": EndRecord("Exit_status -25", "out-of-memory", _MEMORY, 4 << 30),
            },
        ),
        (
            "lsf",
            _LSF,
            {
                "31": EndRecord("TERM_MEMLIMIT", "out-of-memory", _MEMORY, 12 << 20),
                "32_5": EndRecord("TERM_PREEMPT", "lost", "another job took its place"),
            },
        ),
        (
            "condor",
            _CONDOR,
            {
                "41_0": EndRecord(
                    "PERIODIC_REMOVE: MemoryUsage > RequestMemory", "out-of-memory", _MEMORY, 150 << 20
                ),
                "41": EndRecord(
                    "PERIODIC_REMOVE: MemoryUsage > RequestMemory", "out-of-memory", _MEMORY, 150 << 20
                ),
                "42_2": EndRecord("JobStatus 4"),
            },
        ),
    ],
)
def test_what_is_over_is_read_and_what_is_not_is_left_out(
    kind: str, out: str, found: dict[str, EndRecord]
) -> None:
    assert SYSTEMS[kind].read_end_records(out) == found


@pytest.mark.parametrize("kind", ["slurm", "sge", "pbs", "lsf", "condor", "shell"])
@pytest.mark.parametrize("out", ["", "\n", "no such command: x|y\n", "Job <x>\n====\n\t\t\t\t\t\n|||\n@@@\n"])
def test_what_is_no_record_tells_nothing(kind: str, out: str) -> None:
    assert SYSTEMS[kind].read_end_records(out) == {}


@pytest.mark.parametrize("kind", ["slurm", "sge", "pbs", "lsf", "condor"])
def test_ids_are_quoted_in_the_question(kind: str) -> None:
    asked = SYSTEMS[kind].end_records(["1", "2_3", "4; touch x"])
    assert "'" in asked
    assert "; touch x'" in asked or "; touch x.0'" in asked
