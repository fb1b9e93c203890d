"""What a description asks of a site: CPUs under any of their names, and all of it as a preset keeps it."""

from __future__ import annotations

from collections.abc import Mapping

from app.description.statements import Statement, statements
from app.description.values import string_of, strings_of
from broker_core.jdl.syntax.edit import set_attribute

NEEDS = "Needs"
"""Stands for all that a preset says where one attribute is expected."""
CPUS = "CpuNumber"
"""Attribute for the CPUs of a program; processes of a parallel job are counted by NodeNumber."""
_PROCESSES = "NodeNumber"
CPU_COUNTS = (_PROCESSES, CPUS, "MinNumCPU")
"""All names of the number of CPUs."""
SIZES = (
    *(CPUS, "SMPGranularity", "HostNumber", "WholeNodes", "MemoryPerNode", "MemoryPerCPU"),
    *("GPUNumber", "GPUModel", "ScratchSize", "WallTime"),
)
"""What a preset says as a whole: of these, one that it does not name is not asked for."""
NAMES = ("Account", "QOS", "QueueName", "Features", "Licenses", "Reservation")
"""What a preset changes where it names it, and leaves alone elsewhere."""


def cpus_source(text: str) -> str | None:
    """How the number of CPUs is written, under whichever of its names; None: not at all."""
    found = _cpus(statements(text))
    return found.value if found is not None and found.value else None


def with_cpus(text: str, source: str | None) -> str:
    """The text with so many CPUs, asked for under one name alone: for a program those of one node."""
    found = statements(text)
    parallel = _is_parallel(found)
    if not parallel and source == "1":
        source = None
    known = _cpus(found)
    usual = CPUS if known is None or not parallel else known.name
    name = _PROCESSES if parallel and known is None else usual
    for other in CPU_COUNTS:
        if other.lower() != name.lower() and other.lower() in found:
            if name.lower() not in statements(text) and source is not None:
                text = _renamed(text, other, name)
            else:
                text = set_attribute(text, other, None)
    return set_attribute(text, name, source)


def _renamed(text: str, old: str, new: str) -> str:
    """The text with an attribute under another name in its place."""
    statement = statements(text)[old.lower()]
    before = text[: statement.start]
    at = before.rindex(statement.name)
    return f"{before[:at]}{new}{before[at + len(statement.name) :]}{text[statement.start :]}"


def _cpus(found: Mapping[str, Statement]) -> Statement | None:
    return next((found[name.lower()] for name in CPU_COUNTS if name.lower() in found), None)


def _is_parallel(found: Mapping[str, Statement]) -> bool:
    kinds = strings_of(found["jobtype"].value) if "jobtype" in found else []
    words = {word.lower() for word in kinds or ()} - {"normal", "parametric", "interactive"}
    sub_type = string_of(found["subjobtype"].value) if "subjobtype" in found else ""
    return bool(words) or bool(sub_type)


def needs_of(text: str) -> str:
    """The statements by which a description says what it needs, one on a line: what a preset holds."""
    found = statements(text)
    lines = []
    for name in (*SIZES, *NAMES):
        value = cpus_source(text) if name == CPUS else _value(found, name)
        if value is not None:
            lines.append(f"{name} = {value};\n")
    return "".join(lines)


def with_needs(text: str, preset: str) -> str:
    """The description with what a preset asks for."""
    wanted = statements(preset)
    text = with_cpus(text, _value(wanted, CPUS))
    for name in (*SIZES, *NAMES):
        value = _value(wanted, name)
        if name != CPUS and (value is not None or name in SIZES):
            text = set_attribute(text, name, value)
    return text


def changes_of(preset: str) -> dict[str, str]:
    """The same for jobs that are run again: attribute to what is written for it, empty to take it out."""
    wanted = statements(preset)
    changes = {name: _value(wanted, name) or "" for name in (*SIZES, _PROCESSES, "MinNumCPU")}
    return changes | {name: value for name in NAMES if (value := _value(wanted, name)) is not None}


def _value(found: Mapping[str, Statement], name: str) -> str | None:
    statement = found.get(name.lower())
    return statement.value if statement is not None and statement.value else None
