"""Nodes, memory, GPUs, accounts and words for batch systems: values, ranges and contradictions."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from broker_core.jdl.batch_options import refusals
from broker_core.jdl.checks.kind import DescriptionKind
from broker_core.jdl.diagnostics import Fix
from broker_core.jdl.evaluation.constants import constant
from broker_core.jdl.reading import Reading
from broker_core.jdl.resource_request import BATCH_SYSTEMS, ResourceRequest, SiteChoice
from broker_core.jdl.spelling import closest
from broker_core.jdl.syntax.tree import Ad, Binary, Expression, ListOf, Literal, Reference, clauses_of

_LEAST = {"gpunumber": 0, "memorypernode": 1, "memorypercpu": 1, "scratchsize": 1}
_NAMES = {"account": "account", "qos": "qos", "reservation": "reservation", "queuename": "queue"}
"""Attribute to the field of the request that has its name."""
_KEYS = frozenset(
    {*_LEAST, *_NAMES, "gpumodel", "features", "licenses", "batchoptions", "ignoreunsupported", "namesof"}
    | {"hostnumber", "smpgranularity", "wholenodes"}
    | {"wholenode", "numberofprocessors", "cerequirements"}
)
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@/+-]*", re.ASCII)
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _.+-]*", re.ASCII)
_LICENSE = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.@/+-]*)(?::([1-9][0-9]{0,5}))?", re.ASCII)
_OF_ATTRIBUTES = {
    ("slurm", "features"): re.compile(r"-[kOs]*C|--cons\w*(=|$)"),
    ("slurm", "gpunumber"): re.compile(r"--gres?(=|$)"),
    ("condor", "gpumodel"): re.compile(r"\s*require_gpus\s*=", re.IGNORECASE),
}
"""Kind and attribute to the words that would take the effect from it."""
_ONE_HOST = ResourceRequest(hosts=1)
_SCATTERED = ResourceRequest(mpi=True)


def request(reading: Reading, kind: DescriptionKind) -> ResourceRequest:
    """What the job asks for; complains about what cannot be."""
    mpi = kind.sub_job_type not in ("", "plain")
    several = "inter-cluster" in kind.needs
    found = _SCATTERED if mpi or several else _ONE_HOST
    if _KEYS.isdisjoint(reading.ad.entries):
        return found
    for key, least in _LEAST.items():
        value = reading.integer(key)
        if value is not None and value < least:
            reading.error("count-too-small", f"{_name(reading, key)} must be {least} or more.", key)
    _contradictions(reading, kind)
    forwarded = 0 if reading.has("memorypercpu") else _memory_of_hosts(reading)
    return replace(
        found,
        mpi=mpi,
        hosts=_hosts(reading, kind, found.hosts),
        whole_nodes=reading.true("wholenodes") or reading.true("wholenode"),
        gpus=_gpus(reading),
        gpu_model=_matching(reading, "gpumodel", _MODEL),
        memory_per_node=reading.integer("memorypernode") or forwarded,
        memory_per_cpu=reading.integer("memorypercpu") or 0,
        scratch=reading.integer("scratchsize") or 0,
        features=_features(reading),
        licenses=_licenses(reading),
        options=_options(reading),
        ignore_unsupported=reading.true("ignoreunsupported"),
        names_of=_names_of(reading),
        **_named(reading),
    )


def choice(reading: Reading) -> SiteChoice:
    """Where the job may run by name; complains about what no resource could meet."""
    named = {key: _lower(reading, key) for key in ("site", "bannedsites", "gridce", "tags")}
    system = reading.string("batchsystem").lower()
    if system and system not in BATCH_SYSTEMS:
        message = f"BatchSystem {system!r} is not known; write one of {', '.join(BATCH_SYSTEMS)}."
        reading.error("unknown-batch-system", message, "batchsystem")
    if named["site"] and set(named["site"]) <= set(named["bannedsites"]):
        message = "BannedSites has all sites of Site, so no site is left; leave out one of both."
        reading.error("attributes-exclude", message, "bannedsites")
    return SiteChoice(named["site"], named["bannedsites"], named["gridce"], system, named["tags"])


def _lower(reading: Reading, key: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text.lower() for text, _ in reading.strings(key) if text))


def _memory_of_hosts(reading: Reading) -> int:
    """MB that CERequirements asks of a host by `other.GlueHostMainMemoryRAMSize >= N`; 0: nothing.

    The other clauses are matched as those of Requirements are, and no batch system is told of them.
    """
    found = 0
    for clause in clauses_of(reading.node("cerequirements")):
        if (
            isinstance(clause, Binary)
            and isinstance(clause.left, Reference)
            and clause.operator in (">=", ">")
        ):
            least = constant(clause.right, reading.ad, reading.findings.budget)
            if clause.left.name.lower() == "gluehostmainmemoryramsize" and type(least) is int:
                found = max(found, least + (clause.operator == ">"))
    return found


def _contradictions(reading: Reading, kind: DescriptionKind) -> None:
    if reading.has("memorypernode") and reading.has("memorypercpu"):
        message = "MemoryPerNode and MemoryPerCPU exclude each other; leave out one."
        reading.error("attributes-exclude", message, "memorypercpu")
    hosts, cores = reading.integer("hostnumber"), reading.integer("smpgranularity")
    if hosts and cores and hosts * cores > kind.cpus:
        message = (
            f"HostNumber times SMPGranularity is {hosts * cores} CPUs, but the job has {kind.cpus}; make them"
            " equal by CpuNumber."
        )
        reading.error("counts-differ", message, "smpgranularity")
    counted = next((key for key in ("gpunumber", "memorypernode") if reading.integer(key)), "")
    if counted and kind.sub_job_type not in ("", "plain") and hosts is None and not cores:
        message = (
            f"{_name(reading, counted)} counts for each node, so all {kind.cpus} CPUs are those of one node;"
            " for more nodes write HostNumber."
        )
        reading.hint("one-node", message, counted)


def _hosts(reading: Reading, kind: DescriptionKind, usual: int) -> int:
    """Nodes over which the CPUs are spread."""
    if (hosts := reading.integer("hostnumber")) is not None:
        return max(0, min(hosts, kind.cpus)) if kind.cpus > 1 else 1
    if (cores := reading.integer("smpgranularity")) and cores > 0:
        return -(-kind.cpus // cores)
    counted = reading.integer("gpunumber") or reading.integer("memorypernode")
    counted = counted or reading.has("numberofprocessors")
    return 1 if counted and "inter-cluster" not in kind.needs else usual


def _gpus(reading: Reading) -> int:
    if reading.has("gpumodel") and not reading.has("gpunumber"):
        entry = reading.ad.entries["gpumodel"]
        fix = Fix("Add GPUNumber = 1", entry.start, entry.start, "GPUNumber = 1; ")
        message = "GPUNumber is missing, so one GPU of this model is asked for."
        reading.warning("gpu-number-implied", message, "gpumodel", None, [fix])
        return 1
    count = max(reading.integer("gpunumber") or 0, 0)
    if reading.has("gpumodel") and not count:
        message = "GPUModel names a model, but GPUNumber is 0; leave out GPUModel."
        reading.error("attributes-exclude", message, "gpumodel")
    return count


def _named(reading: Reading) -> dict[str, Any]:
    return {field: _matching(reading, key, _WORD) for key, field in _NAMES.items()}


def _matching(reading: Reading, key: str, pattern: re.Pattern[str]) -> str:
    value = reading.string(key)
    if reading.has(key) and isinstance(reading.value(key), str) and not pattern.fullmatch(value):
        _unnamed(reading, key, value)
    return value


def _unnamed(reading: Reading, key: str, value: str, at: Expression | None = None) -> None:
    message = (
        f"{value!r} in {_name(reading, key)} is no name; write letters, digits, and any of _ . @ / + - behind"
        " the first."
    )
    reading.error("resource-name", message, key, at)


def _features(reading: Reading) -> tuple[str, ...]:
    found = reading.strings("features")
    for value, at in found:
        if not _WORD.fullmatch(value):
            _unnamed(reading, "features", value, at)
    return tuple(dict.fromkeys(value for value, _ in found))


def _licenses(reading: Reading) -> tuple[tuple[str, int], ...]:
    found: dict[str, int] = {}
    for value, at in reading.strings("licenses"):
        license = _LICENSE.fullmatch(value)
        if license is None:
            message = f'{value!r} in Licenses is no license; write "name", or "name:2" for two of them.'
            reading.error("resource-name", message, "licenses", at)
        elif license[1] in found:
            reading.error("attributes-exclude", f"{license[1]} is named twice in Licenses.", "licenses", at)
        else:
            found[license[1]] = int(license[2] or 1)
    return tuple(found.items())


def _options(reading: Reading) -> tuple[tuple[str, tuple[str, ...]], ...]:
    node = reading.node("batchoptions")
    found = []
    for entry in node if isinstance(node, Ad) else ():
        kind = entry.name.lower()
        if kind not in BATCH_SYSTEMS:
            _no_batch_system(reading, entry.name, "batchoptions", entry.value)
            continue
        items: list[Expression] = entry.value.items if isinstance(entry.value, ListOf) else [entry.value]
        found.append((kind, _checked_words(reading, kind, items)))
    return tuple(found)


def _names_of(reading: Reading) -> str:
    kind = reading.string("namesof").lower()
    if kind and kind not in BATCH_SYSTEMS:
        _no_batch_system(reading, reading.string("namesof"), "namesof")
    return kind


def _no_batch_system(reading: Reading, name: str, key: str, at: Expression | None = None) -> None:
    meant = closest(name.lower(), BATCH_SYSTEMS)
    more = f"did you mean {meant}?" if meant else f"write one of {', '.join(BATCH_SYSTEMS)}."
    reading.error("batch-option", f"{name} in {_name(reading, key)} is no batch system; {more}", key, at)


def _checked_words(reading: Reading, kind: str, items: list[Expression]) -> tuple[str, ...]:
    words = [item.value for item in items if isinstance(item, Literal) and isinstance(item.value, str)]
    if len(words) != len(items):
        message = f'The words for {kind} in BatchOptions must be strings such as {{"--nice=5"}}.'
        reading.error("batch-option", message, "batchoptions", items[0] if items else None)
        return ()
    for at, reason in refusals(kind, words):
        message = f"{words[at]!r} in BatchOptions is not passed on to {kind}: {reason}."
        reading.error("batch-option", message, "batchoptions", items[at])
    patterns = {key: pattern for (of, key), pattern in _OF_ATTRIBUTES.items() if of == kind}
    for key, pattern in patterns.items():
        for word, item in zip(words, items, strict=True):
            if reading.has(key) and pattern.match(word):
                message = (
                    f"{word!r} in BatchOptions and {_name(reading, key)} exclude each other; leave out one."
                )
                reading.error("attributes-exclude", message, "batchoptions", item)
    return tuple(words)


def _name(reading: Reading, key: str) -> str:
    return reading.ad.entries[key].name
