"""SubJobs: the components of a parallel job over several sites (CB-JOB-05, CB-JOB-08, CB-JDL-10)."""

from __future__ import annotations

from broker_core.jdl.reading import Reading
from broker_core.jdl.syntax.tree import Ad, ListOf

COMPONENTS_MAX = 1000


def components(reading: Reading) -> list[Ad]:
    """The ads of SubJobs; empty for a flexible job."""
    node = reading.node("subjobs")
    if not isinstance(node, ListOf):
        return []
    return [item for item in node.items if isinstance(item, Ad)]


def total(reading: Reading) -> int:
    """CPUs of all components together; 1 if there is none."""
    counts = (Reading(one, reading.findings).integer("nodenumber") for one in components(reading))
    return max(sum(count for count in counts if count), 1)


def check(reading: Reading, sub_job_type: str) -> None:
    """Complain about components that cannot be, or do not fit the job."""
    if not reading.has("subjobs"):
        if reading.has("applicationlauncher") and sub_job_type not in ("plain", ""):
            message = f"ApplicationLauncher goes with SubJobType plain, not with {sub_job_type}."
            reading.error("launcher-not-plain", message, "applicationlauncher")
        return
    if sub_job_type in ("openmpi", "mpich"):
        message = f"SubJobs cannot be used with {sub_job_type}, which runs on one cluster only; use pacx-mpi."
        reading.error("sub-jobs-one-cluster", message, "subjobs")
    elif sub_job_type == "plain" and not reading.has("applicationlauncher"):
        message = "SubJobs with SubJobType plain need an ApplicationLauncher; name one, or use pacx-mpi."
        reading.error("sub-jobs-need-launcher", message, "subjobs")
    elif not sub_job_type:
        reading.error(
            "sub-jobs-of-normal", "SubJobs belong to a parallel job; add JobType and SubJobType.", "subjobs"
        )
    _sizes(reading)


def _sizes(reading: Reading) -> None:
    ads = components(reading)
    if not ads or len(ads) > COMPONENTS_MAX:
        reading.error("sub-jobs-count", f"SubJobs needs 1 to {COMPONENTS_MAX} components.", "subjobs")
        return
    counts = [Reading(one, reading.findings).integer("nodenumber") for one in ads]
    for one, count in zip(ads, counts, strict=True):
        if count is None or count < 1:
            message = "Each component of SubJobs needs NodeNumber, 1 or more."
            reading.error("sub-job-node-number", message, "subjobs", one)
    given = reading.integer("nodenumber")
    if given is not None and all(counts) and given != sum(count or 0 for count in counts):
        message = (
            f"NodeNumber is {given}, but the components have {total(reading)} CPUs together; make them equal."
        )
        reading.error("sub-jobs-sum", message, "nodenumber")
