"""CPUs, memory and GPUs by node: what fits on no node of a site, or on too few of them, is not matched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from broker_core.jdl.resource_request import ResourceRequest, same_model
from broker_core.matching.columnar.by_value import ByValue
from broker_core.matching.columnar.view import View
from broker_core.matching.condition import Condition, Holds
from broker_core.matching.cpu_conditions import counted
from broker_core.matching.published import SYSTEM, published, text_of
from broker_core.resources.node_types import NODE_TYPES, NodeType, node_types
from broker_core.resources.tags import listed

_RAM = "gluehostmainmemoryramsize"
_SHOWN = 4


def of_nodes(request: ResourceRequest, cpus: int) -> Iterator[tuple[str, Condition]]:
    """What nodes must have, and how many of them there must be; each with the attribute that asks so."""
    each, memory = request.cpus_on_host(cpus), request.memory_on_host(cpus)
    if request.scattered and cpus > 1:
        yield "", _together(request, cpus)
    if each > 1:
        yield "", _at_most("nodecpus", each, "CPU")
    if memory:
        yield "", _memory(memory)
    if request.gpus:
        yield "GPUNumber", _gpus_of_a_node(request.gpus)
    if request.gpu_model:
        yield "GPUModel", _model(request.gpu_model)
    if sum(map(bool, (each > 1, memory, request.gpus, request.features))) > 1 or request.gpu_model:
        yield "GPUNumber" if request.gpus else "", _one_node(request, each, memory)
    if request.hosts > 1:
        yield "HostNumber", _enough_nodes(request, cpus // request.hosts)


def _at_most(attribute: str, wanted: int, noun: str, unknown: bool = True) -> Condition:
    """A node has so many; `unknown`: whether the condition holds where nothing is published."""

    def words(site: str, most: Any) -> str:
        if type(most) is not int:
            return f"{site} says nothing of {noun}s"
        if not most:
            return f"{site} has no {noun}"
        return f"no node of {site} has {counted(wanted, noun)} (at most {most})"

    return published(
        f"a node with {counted(wanted, noun)}",
        attribute,
        lambda most: unknown if type(most) is not int else most >= wanted,
        words,
    )


def free_gpus(view: View, row: int) -> str:
    """How many GPUs of a resource are free of how many; empty where it does not tell."""
    free, total = view.pool.value(row, "gpusfree"), view.pool.value(row, "gpustotal")
    return f"{free} of {counted(total, 'GPU')} free" if type(free) is int and type(total) is int else ""


def _gpus_of_a_node(wanted: int) -> Condition:
    """A node has so many, whether or not they are free now: a batch job waits for them."""
    usual = _at_most("gpuspernode", wanted, "GPU", unknown=False)

    def words(view: View, row: int, held: bool) -> str:
        return free_gpus(view, row) if held else usual.words(view, row, held)

    return replace(usual, words=words)


def _together(request: ResourceRequest, cpus: int) -> Condition:
    """A node has all CPUs, where the batch system spreads those of no job."""
    usual = _at_most("nodecpus", cpus, "CPU")
    spread = ByValue(SYSTEM, lambda kind: not request.gathers_at(text_of(kind)))
    return replace(usual, holds=lambda view: np.logical_or(usual.holds(view), spread.rows(view)))


def _memory(wanted: int) -> Condition:
    """By the largest node, or where none is told by the memory of hosts in general."""
    largest = ByValue("nodememory", lambda size: size if type(size) is int else 0)
    usual = ByValue(_RAM, lambda size: size if type(size) is int else 0)

    def holds(view: View) -> Holds:
        known = largest.rows(view)
        here = np.where(known == 0, usual.rows(view), known)
        held: Holds = (here == 0) | (here >= wanted)
        return held

    def words(view: View, row: int, held: bool) -> str:
        here = largest.at(view, row) or usual.at(view, row)
        site = view.pool.columns.sites[row]
        return "" if held else f"no node of {site} has {wanted} MB of memory (at most {here})"

    return Condition(f"a node with {wanted} MB", "nodes", holds, words)


def _model(wanted: str) -> Condition:
    def words(site: str, models: Any) -> str:
        known = ", ".join(listed(models)[:_SHOWN])
        return f"{site} has no GPU of model {wanted}" + (f" (there: {known})" if known else "")

    return published(
        f"GPU model {wanted}",
        "gpumodels",
        lambda models: any(same_model(wanted, one) for one in listed(models)),
        words,
    )


def _one_node(request: ResourceRequest, cpus: int, memory: int) -> Condition:
    """One kind of node has it all, where the site tells its kinds of nodes (`NodeTypes`)."""

    def fitting(types: Any) -> list[NodeType]:
        return _fitting(request, types, cpus, memory)

    def words(site: str, types: Any) -> str:
        most = max((one.gpus for one in fitting(types)), default=0)
        if most:
            return f"no node of {site} has {_gpus(request)} (at most {most})"
        return f"no node of {site} has all at once: {', '.join(_equipment(request, cpus, memory))}"

    return published(
        "one node with all of it",
        NODE_TYPES.lower(),
        lambda types: not node_types(types) or any(one.gpus >= request.gpus for one in fitting(types)),
        words,
    )


def _enough_nodes(request: ResourceRequest, cpus: int) -> Condition:
    """As many nodes have it as the CPUs are spread over; `cpus`: on those with fewer of them."""
    memory = request.memory_per_node or request.memory_per_cpu * cpus

    def count(types: Any) -> int:
        fitting = _fitting(request, types, cpus, memory)
        return sum(one.count for one in fitting if one.gpus >= request.gpus)

    def words(site: str, types: Any) -> str:
        parts = ", ".join(_equipment(request, cpus, memory))
        return f"{count(types)} of the nodes of {site} have {parts}; {request.hosts} wanted"

    return published(
        f"{counted(request.hosts, 'node')} with their share",
        NODE_TYPES.lower(),
        lambda types: not node_types(types) or count(types) >= request.hosts,
        words,
    )


def _fitting(request: ResourceRequest, types: Any, cpus: int, memory: int) -> list[NodeType]:
    """Nodes that have what is asked for, GPUs not counted."""
    return [
        one
        for one in node_types(types)
        if one.cpus >= cpus
        and not 0 < one.memory < memory
        and set(request.features) <= set(one.features)
        and (not request.gpu_model or not one.gpu_model or same_model(request.gpu_model, one.gpu_model))
    ]


def _equipment(request: ResourceRequest, cpus: int, memory: int) -> list[str]:
    parts = [counted(cpus, "CPU"), f"{memory} MB" if memory else "", _gpus(request), *request.features]
    return [part for part in parts if part]


def _gpus(request: ResourceRequest) -> str:
    model = f" of model {request.gpu_model}" if request.gpu_model else ""
    return counted(request.gpus, "GPU") + model if request.gpus else ""
