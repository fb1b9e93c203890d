"""Structure, CPUs and kind of a job (CB-JOB-01, CB-JOB-07, CB-JOB-08, CB-JDL-05 to CB-JDL-10)."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.jdl.checks import components
from broker_core.jdl.diagnostics import Fix
from broker_core.jdl.reading import Reading
from broker_core.jdl.syntax.tree import Expression

SUB_JOB_TYPES = ("openmpi", "mpich", "pacx-mpi", "mpich-g2", "plain")
INTER_CLUSTER = frozenset({"pacx-mpi", "mpich-g2"})
_EARLIER = {"mpich2": "mpich"}
"""Kinds of MPI that are one of today under another name."""
_GONE = {"lam": "openmpi", "lam-mpi": "openmpi", "lammpi": "openmpi"}
"""Kinds of MPI that nobody keeps any more, and what to write."""
_COUNTS = ("nodenumber", "cpunumber", "minnumcpu", "numberofprocessors")
_DEPRECATED = frozenset({"checkpointable", "partitionable"})


@dataclass(slots=True)
class DescriptionKind:
    """What a description asks for as a whole."""

    structure: str = "Normal"
    sub_job_type: str = ""
    interactive: bool = False
    cpus: int = 1
    needs: tuple[str, ...] = ()


def kind(reading: Reading) -> DescriptionKind:
    """Derive the kind of the job from its description by the table of CB-JOB-07."""
    found = DescriptionKind()
    if _is_compound(reading):
        found.structure = "Workflow"
        found.needs = ("workflow",)
        _interactive(reading, found)
        return found
    _job_types(reading, found)
    _sub_job_type(reading, found)
    _interactive(reading, found)
    _cpus(reading, found)
    components.check(reading, found.sub_job_type)
    found.needs = _needs(reading, found)
    return found


def _is_compound(reading: Reading) -> bool:
    type_ = reading.string("type").lower() or "job"
    if type_ not in ("job", "dag", "collection"):
        message = f"Type {reading.string('type')!r} is not known; write Job, DAG or Collection."
        reading.error("unknown-type", message, "type")
    if type_ in ("dag", "collection") and reading.inside:
        message = "A node is one job; put the jobs of this graph or collection into the whole one."
        reading.error("nested-workflow", message, "type")
    return type_ in ("dag", "collection")


def _job_types(reading: Reading, found: DescriptionKind) -> None:
    for value, place in reading.strings("jobtype"):
        word = value.lower()
        if word == "parallel":
            found.structure = "Parallel"
        elif word != "normal":
            _mapped(reading, found, value, place)


def _mapped(reading: Reading, found: DescriptionKind, value: str, place: Expression) -> None:
    """A value of another dialect: carried over with a warning (SA-JDL-02, CB-JDL-05), or refused."""
    word = value.lower()
    if word in _DEPRECATED:
        reading.error(
            "job-type-deprecated", f"{value} jobs are no longer run; leave JobType out.", "jobtype", place
        )
    elif word in _GONE:
        found.structure, found.sub_job_type = "Parallel", _GONE[word]
        fix = Fix("Write Parallel", place.start, place.end, f'"Parallel"; SubJobType = "{_GONE[word]}"')
        reading.error(
            "unknown-job-type", _no_longer(value), "jobtype", place, [fix] if _single(reading) else []
        )
    elif _EARLIER.get(word, word) in SUB_JOB_TYPES and word != "plain":
        word = _EARLIER.get(word, word)
        found.structure, found.sub_job_type = "Parallel", word
        fix = Fix("Write Parallel", place.start, place.end, f'"Parallel"; SubJobType = "{word}"')
        message = f"JobType {value} is taken as Parallel with SubJobType {word}."
        reading.warning("job-type-mapped", message, "jobtype", place, [fix] if _single(reading) else [])
    elif word == "interactive":
        found.interactive = True
        fix = Fix("Write Interactive = true", place.start, place.end, '"Normal"; Interactive = true')
        message = "JobType Interactive is taken as Interactive = true."
        reading.warning("job-type-mapped", message, "jobtype", place, [fix] if _single(reading) else [])
    elif word == "parametric":
        if reading.inside:
            message = "A node cannot stand for several jobs; write one node for each value."
            reading.error("parametric-node", message, "jobtype", place)
        if not reading.has("parameters"):
            reading.error(
                "missing-parameters",
                "A parametric job needs Parameters: a list of values, or a number.",
                "jobtype",
                place,
            )
    else:
        message = f"JobType {value!r} is not known; write Normal or Parallel."
        reading.error("unknown-job-type", message, "jobtype", place)


def _single(reading: Reading) -> bool:
    """JobType is one string, so that a fix may put a second statement behind it."""
    return isinstance(reading.value("jobtype"), str) and not reading.has("subjobtype")


def _sub_job_type(reading: Reading, found: DescriptionKind) -> None:
    written = reading.string("subjobtype")
    if written:
        found.sub_job_type = _sub_type(reading, written)
        if found.sub_job_type not in SUB_JOB_TYPES:
            message = f"SubJobType {written!r} is not known; write one of {', '.join(SUB_JOB_TYPES)}."
            if found.sub_job_type in _GONE:
                message = _no_longer(written)
            reading.error("unknown-sub-job-type", message, "subjobtype")
        elif found.structure == "Normal":
            _parallel_by_sub_type(reading, found)
    elif found.structure == "Parallel" and not found.sub_job_type:
        message = f"A parallel job needs SubJobType: one of {', '.join(SUB_JOB_TYPES)}."
        reading.error("missing-sub-job-type", message, "SubJobType", reading.node("jobtype"))


def _no_longer(written: str) -> str:
    instead = _GONE[written.lower()]
    return f'{written} is not run; write SubJobType = "{instead}", and compile the program with it.'


def _sub_type(reading: Reading, written: str) -> str:
    """The sub-type by its name of today."""
    word = written.lower()
    if word in _EARLIER:
        node = reading.node("subjobtype")
        fix = Fix(f"Write {_EARLIER[word]}", node.start, node.end, f'"{_EARLIER[word]}"') if node else None
        message = f"SubJobType {written} is taken as {_EARLIER[word]}, which has its place."
        reading.warning("job-type-mapped", message, "subjobtype", None, [fix] if fix else [])
    return _EARLIER.get(word, word)


def _parallel_by_sub_type(reading: Reading, found: DescriptionKind) -> None:
    if reading.has("jobtype"):
        message = "SubJobType has no meaning for a job whose JobType is Normal."
        reading.warning("sub-type-of-normal", message, "subjobtype")
        found.sub_job_type = ""
        return
    found.structure = "Parallel"
    entry = reading.ad.entries["subjobtype"]
    fix = Fix('Add JobType = "Parallel"', entry.start, entry.start, 'JobType = "Parallel"; ')
    message = "JobType is missing; SubJobType makes it Parallel."
    reading.warning("parallel-implied", message, "subjobtype", None, [fix])


def _interactive(reading: Reading, found: DescriptionKind) -> None:
    if reading.has("interactive"):
        found.interactive = found.interactive or reading.true("interactive")
    elif reading.has("interactiveagent") and not found.interactive:
        found.interactive = True
        entry = reading.ad.entries["interactiveagent"]
        fix = Fix("Add Interactive = true", entry.start, entry.start, "Interactive = true; ")
        message = "InteractiveAgent is given, so the job counts as interactive."
        reading.warning("interactive-implied", message, "interactiveagent", None, [fix])
    if found.interactive and (found.structure == "Workflow" or reading.inside):
        key = "interactive" if reading.has("interactive") else "interactiveagent"
        key = key if reading.has(key) else "jobtype"
        reading.error(
            "interactive-workflow", "A workflow and its nodes cannot be interactive; leave it out here.", key
        )


def _cpus(reading: Reading, found: DescriptionKind) -> None:
    given = [(key, count) for key in _COUNTS if (count := reading.integer(key)) is not None]
    for key, count in given:
        if count < 1:
            reading.error("count-too-small", f"{reading.ad.entries[key].name} must be 1 or more.", key)
    if len({count for _, count in given}) > 1:
        names = " and ".join(reading.ad.entries[key].name for key, _ in given)
        reading.error(
            "counts-differ", f"{names} give different numbers of CPUs; leave out all but one.", given[1][0]
        )
    if given:
        found.cpus = max(given[0][1], 1)
        _count_of_normal(reading, found, given[0][0])
    elif found.structure == "Parallel":
        found.cpus = components.total(reading)
        if not reading.has("subjobs") and not any(reading.has(key) for key in _COUNTS):
            message = "A parallel job needs NodeNumber, its number of CPUs."
            reading.error("missing-node-number", message, "NodeNumber", reading.node("jobtype"))


def _count_of_normal(reading: Reading, found: DescriptionKind, key: str) -> None:
    if found.structure != "Normal" or found.cpus == 1:
        return
    if key in ("cpunumber", "numberofprocessors"):
        found.structure, found.sub_job_type = "Parallel", "plain"
        if reading.has("jobtype"):
            message = f"A job with {found.cpus} CPUs is taken as Parallel with SubJobType plain."
            reading.warning("cpus-make-parallel", message, key)
        return
    node, entry = reading.node("jobtype"), reading.ad.entries[key]
    parallel = 'JobType = "Parallel"; SubJobType = "plain"; '
    one_program = Fix("Write CpuNumber", entry.start, entry.name_end, "CpuNumber")
    processes = Fix("Make it a parallel job", entry.start, entry.start, parallel)
    message = (
        f"A Normal job has one CPU, but {entry.name} asks for {found.cpus} processes; write CpuNumber for one"
        ' program on several CPUs, or make it a job of JobType "Parallel" with SubJobType.'
    )
    fixes = [one_program] if node else [one_program, processes]
    reading.error("normal-with-nodes", message, key, None, fixes)


def _needs(reading: Reading, found: DescriptionKind) -> tuple[str, ...]:
    needs = []
    if found.sub_job_type not in ("", "plain"):
        needs.append(f"mpi:{found.sub_job_type}")
    if found.sub_job_type in INTER_CLUSTER or reading.has("subjobs"):
        needs.append("inter-cluster")
    if launcher := reading.string("applicationlauncher"):
        needs.append(f"launcher:{launcher}")
    if found.interactive:
        needs.append("interactive")
    return tuple(needs)
