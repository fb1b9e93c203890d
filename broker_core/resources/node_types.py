"""Nodes of a site that are alike, and what a computing element publishes of them (GLUE names and our own).

The figures of the largest node say what a job may ask for at all; which of them go together is said by
`NodeTypes`, a list of records `[Count; CPUs; Memory; GPUs; GPUModel; GPUsFree; Features; ...]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NODE_TYPES = "NodeTypes"
CHANGING = frozenset((NODE_TYPES, "GPUsFree"))
"""Names among those of `node_attributes` whose values change while the nodes stay as they are."""


@dataclass(frozen=True, slots=True)
class NodeType:
    """Some nodes with equal equipment; with GPUs of several models they stand in one entry for each."""

    count: int
    cpus: int
    """Of each node, as the batch system gives them out."""
    memory: int = 0
    """MiB of each node; 0: not known."""
    gpus: int = 0
    """Of each node."""
    gpu_model: str = ""
    """As jobs name it there; empty: the site gives it no name."""
    gpus_free: int = 0
    """Of all these nodes together: neither given out nor on a node that takes no jobs."""
    features: tuple[str, ...] = ()
    """Words by which jobs choose such nodes."""
    machine: str = ""
    """Architecture, such as `x86_64`; empty: not known."""
    model: str = ""
    """Of the processor."""
    system: str = ""
    """Operating system."""


def joined_types(types: Iterable[NodeType]) -> list[NodeType]:
    """Equal nodes as one entry, the largest first."""
    found: dict[tuple[Any, ...], tuple[int, int, NodeType]] = {}
    for one in types:
        key = _equipment(one)
        count, free, _ = found.get(key, (0, 0, one))
        found[key] = count + one.count, free + one.gpus_free, one
    made = [_with(one, count, free) for count, free, one in found.values()]
    return sorted(made, key=lambda one: (-one.gpus, -one.cpus, -one.memory, one.gpu_model, one.features))


def node_attributes(types: Sequence[NodeType], *, with_gpus: bool = True) -> dict[str, Any]:
    """What a computing element with these nodes publishes; nothing where none is known.

    `with_gpus`: the source tells of GPUs and features, so that none means that there are none.
    """
    if not types:
        return {}
    most_cpus, most_memory = max(one.cpus for one in types), max(one.memory for one in types)
    found: dict[str, Any] = {NODE_TYPES: [_record(one, with_gpus) for one in types]}
    if with_gpus:
        found |= {
            "GPUModels": sorted({one.gpu_model for one in types if one.gpus and one.gpu_model}),
            "GPUsTotal": sum(one.count * one.gpus for one in types),
            "GPUsFree": sum(one.gpus_free for one in types),
            "GPUsPerNode": max(one.gpus for one in types),
            "Features": sorted({feature for one in types for feature in one.features}),
        }
    if most_cpus:
        found |= {"NodeCPUs": most_cpus, "GlueHostArchitectureSMPSize": most_cpus}
    if most_memory:
        found |= {"NodeMemory": most_memory, "GlueHostMainMemoryRAMSize": most_memory}
    return found | _common(types)


def node_types(records: object) -> list[NodeType]:
    """The entries of a published `NodeTypes`; what is no record of nodes is left out."""
    parts = records if isinstance(records, list | tuple) else ()
    return [_entry(one) for one in parts if isinstance(one, Mapping) and count_in(one, "Count")]


def _equipment(one: NodeType) -> tuple[Any, ...]:
    return one.cpus, one.memory, one.gpus, one.gpu_model, one.features, one.machine, one.model, one.system


def _with(one: NodeType, count: int, free: int) -> NodeType:
    return NodeType(count, one.cpus, one.memory, one.gpus, one.gpu_model, free, *_equipment(one)[4:])


def _common(types: Sequence[NodeType]) -> dict[str, str]:
    """What is the same for all nodes that tell it, under its GLUE name."""
    names = {
        "GlueHostArchitecturePlatformType": {one.machine for one in types if one.machine},
        "GlueHostProcessorModel": {one.model for one in types if one.model},
        "GlueHostOperatingSystemName": {one.system for one in types if one.system},
    }
    return {name: values.pop() for name, values in names.items() if len(values) == 1}


def _record(one: NodeType, with_gpus: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"Count": one.count, "CPUs": one.cpus}
    if one.memory:
        found["Memory"] = one.memory
    if with_gpus:
        found |= {"GPUs": one.gpus, "Features": list(one.features)}
    if one.gpus:
        found |= {"GPUModel": one.gpu_model, "GPUsFree": one.gpus_free}
    words = {"Machine": one.machine, "Model": one.model, "System": one.system}
    return found | {name: text for name, text in words.items() if text}


def _entry(record: Mapping[str, Any]) -> NodeType:
    features = record.get("Features", ())
    return NodeType(
        count=count_in(record, "Count"),
        cpus=count_in(record, "CPUs"),
        memory=count_in(record, "Memory"),
        gpus=count_in(record, "GPUs"),
        gpu_model=str(record.get("GPUModel", "")),
        gpus_free=count_in(record, "GPUsFree"),
        features=tuple(map(str, features)) if isinstance(features, list | tuple) else (),
        machine=str(record.get("Machine", "")),
        model=str(record.get("Model", "")),
        system=str(record.get("System", "")),
    )


def count_in(record: Mapping[str, Any], name: str) -> int:
    """A count of a published record; 0 where it is none."""
    value = record.get(name)
    return value if type(value) is int and value > 0 else 0
