"""The ads of SubJobs: the parts of a job that fixes itself how it lies over several sites (CB-JDL-10)."""

from __future__ import annotations

from broker_core.jdl.attributes.crossbroker import COMPONENT
from broker_core.jdl.checks import terms
from broker_core.jdl.diagnostics import Fix
from broker_core.jdl.reading import Reading
from broker_core.jdl.spelling import closest
from broker_core.jdl.syntax.tree import Ad, Entry, ListOf

COMPONENTS_MAX = 1000
"""A job cannot have more."""
_READ = {one.name.lower(): one.name for one in COMPONENT}


def ads(reading: Reading) -> list[Ad]:
    """Those of SubJobs; none for a flexible job."""
    node = reading.node("subjobs")
    if not isinstance(node, ListOf):
        return []
    return [item for item in node.items if isinstance(item, Ad)]


def total(reading: Reading) -> int:
    """CPUs of all components together; 1 if there is none."""
    counts = (Reading(one, reading.findings).integer("nodenumber") for one in ads(reading))
    return max(sum(count for count in counts if count), 1)


def check(reading: Reading, sub_job_type: str) -> None:
    """Complain about components that cannot be, or do not fit the job."""
    _calls(reading, sub_job_type)
    if not reading.has("subjobs"):
        if reading.has("applicationlauncher") and sub_job_type not in ("plain", ""):
            message = f"ApplicationLauncher goes with SubJobType plain, not with {sub_job_type}."
            reading.error("launcher-not-plain", message, "applicationlauncher")
        return
    if sub_job_type in ("openmpi", "mpich"):
        message = (
            f"SubJobs cannot be used with {sub_job_type}, which runs on one cluster only; use mpich-g2 or"
            " pacx-mpi."
        )
        reading.error("sub-jobs-one-cluster", message, "subjobs")
    elif sub_job_type == "plain" and not reading.has("applicationlauncher"):
        message = "SubJobs with SubJobType plain need an ApplicationLauncher; name one, or use mpich-g2."
        reading.error("sub-jobs-need-launcher", message, "subjobs")
    elif not sub_job_type:
        reading.error(
            "sub-jobs-of-normal", "SubJobs belong to a parallel job; add JobType and SubJobType.", "subjobs"
        )
    _sizes(reading)
    for number, one in enumerate(ads(reading)[:COMPONENTS_MAX], 1):
        _attributes(reading, number, one)
        _terms(reading, one)


def _calls(reading: Reading, sub_job_type: str) -> None:
    """What runs beside the program, where the processes of a parallel job are started by others."""
    if reading.has("jobstarter") and sub_job_type in ("mpich-g2", "pacx-mpi"):
        message = f"The broker's launcher starts the processes of {sub_job_type}; leave JobStarter out."
        reading.error("starter-over-sites", message, "jobstarter")
    for key, hook in (("prologue", "PRE"), ("epilogue", "POST")):
        if reading.has(key) and sub_job_type not in ("", "plain") and not reading.has("jobstarter"):
            message = (
                f"Beside each process of {sub_job_type} would run one; set I2G_MPI_{hook}_RUN_HOOK in"
                " Environment instead, which runs once."
            )
            reading.error("hook-of-processes", message, key)


def _sizes(reading: Reading) -> None:
    found = ads(reading)
    if not found or len(found) > COMPONENTS_MAX:
        reading.error("sub-jobs-count", f"SubJobs needs 1 to {COMPONENTS_MAX} components.", "subjobs")
        return
    counts = [Reading(one, reading.findings).integer("nodenumber") for one in found]
    for number, (one, count) in enumerate(zip(found, counts, strict=True), 1):
        if count is None or count < 1:
            message = f"Component {number} of SubJobs needs NodeNumber, 1 or more."
            reading.error("sub-job-node-number", message, "subjobs", one)
    given = reading.integer("nodenumber")
    if given is not None and all(counts) and given != sum(count or 0 for count in counts):
        summed = total(reading)
        message = f"NodeNumber is {given}, but the components have {summed} CPUs together; make them equal."
        fix = Fix(f"Write {summed}", *_value_span(reading.ad.entries["nodenumber"]), str(summed))
        reading.error("sub-jobs-sum", message, "nodenumber", fixes=[fix])


def _value_span(entry: Entry) -> tuple[int, int]:
    return entry.value.start, entry.value.end


def _attributes(reading: Reading, number: int, one: Ad) -> None:
    """A component says its size and where it may be; all else is of the whole job."""
    for key, entry in one.entries.items():
        if key in _READ:
            continue
        meant = closest(key, tuple(_READ))
        fixes = []
        if meant is not None and meant not in one.entries:
            message = f"{entry.name} is not known in a component of SubJobs; did you mean {_READ[meant]}?"
            fixes = [Fix(f"Write {_READ[meant]}", entry.start, entry.name_end, _READ[meant])]
        else:
            message = (
                f"{entry.name} has no effect in component {number} of SubJobs, which has"
                f" {', '.join(_READ.values())} alone; write it in the description itself."
            )
        reading.findings.warning(
            "sub-job-attribute",
            message,
            start=entry.start,
            end=entry.name_end,
            attribute=entry.name,
            fixes=fixes,
        )


def _terms(reading: Reading, one: Ad) -> None:
    """Its Requirements and Rank, which may read what the job says."""
    inherited = reading.ad.entries.keys() - one.entries.keys()
    whole = Ad({**reading.ad.entries, **one.entries}, start=one.start, end=one.end)
    terms.check(
        Reading(whole, reading.findings, reading.files, reading.limits, reading.inside, frozenset(inherited))
    )
