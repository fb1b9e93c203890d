"""A job over several sites in the production scheduler."""

from __future__ import annotations

from broker_core.resources.record import Resource
from broker_core.scheduling.config import SchedulerConfig
from tests.scheduling.stage import Stage

A, B, C = (f"{name}:22/jobmanager-slurm-x" for name in "abc")
JOB = 'JobType = "Parallel"; SubJobType = "mpich-g2"; NodeNumber = 6; Executable = "/bin/true";'
ABLE = {
    "CrossDeskAbilities": ["inter-cluster", "mpi:mpich-g2"],
    "GlueHostNetworkAdapterInboundIP": True,
}


def sites(*names: str) -> list[Resource]:
    """Of four processors, the first: none has room for all."""
    return [Resource(name, name[0], 4, 4, 0, 0, 0.0, ABLE) for name in names]


def begun(*names: str, rules: SchedulerConfig | None = None) -> tuple[Stage, str]:
    stage = Stage(sites(*names), rules)
    (job,) = stage.submit(JOB)
    return stage, job


def fixed(*parts: tuple[int, str]) -> str:
    """A job that fixes its components: the CPUs of each, and its Requirements."""
    ads = ", ".join(f"[ NodeNumber = {cpus}; Requirements = {where}; ]" for cpus, where in parts)
    kind = 'JobType = "Parallel"; SubJobType = "mpich-g2"; Executable = "/bin/true";'
    return f"{kind} SubJobs = {{ {ads} }};"
