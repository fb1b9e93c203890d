"""Kinds of nodes as a computing element publishes them in GLUE 2."""

from __future__ import annotations

import json
from typing import Any

from broker_core.sites.arc.information import facts_of_site
from broker_core.wire.sites import SiteSpec


def _environment(id: str, **more: object) -> dict[str, object]:
    return {"ID": id, "Name": id, "Platform": "x86_64", "OSName": "almalinux", **more}


def _document(*environments: dict[str, object]) -> bytes:
    share = {
        "ID": "share", "Name": "long", "MappingQueue": "long", "ServingState": "production",
        "Associations": {"ExecutionEnvironmentID": [one["ID"] for one in environments]},
    }  # fmt: skip
    manager = {"ID": "manager", "ProductName": "slurm", "ExecutionEnvironments": {
        "ExecutionEnvironment": list(environments)}}  # fmt: skip
    service = {"ID": "service", "ComputingShare": [share], "ComputingManager": [manager]}
    return json.dumps(
        {"Domains": {"AdminDomain": {"ID": "d", "Services": {"ComputingService": service}}}}
    ).encode()


def _published(*environments: dict[str, object]) -> dict[str, Any]:
    spec = SiteSpec(name="grid", kind="arc", url="https://grid.example.org")
    (facts,) = facts_of_site(_document(*environments), spec, 443)
    return dict(facts.attributes)


def test_each_kind_of_node_of_a_share_is_told_and_the_largest_stands_for_all() -> None:
    found = _published(
        _environment("thin", TotalInstances="200", LogicalCPUs="32", MainMemorySize="128000", CPUModel="E5"),
        _environment("fat", TotalInstances="4", LogicalCPUs="64", MainMemorySize="2000000", CPUModel="EPYC"),
    )
    kinds = [(one["Count"], one["CPUs"], one["Memory"], one["Model"]) for one in found["NodeTypes"]]
    assert kinds == [(4, 64, 2000000, "EPYC"), (200, 32, 128000, "E5")]
    assert (found["GlueHostArchitectureSMPSize"], found["NodeCPUs"]) == (64, 64)
    assert (found["GlueHostMainMemoryRAMSize"], found["NodeMemory"]) == (2000000, 2000000)
    assert not {"GPUsTotal", "Features"} & set(found)


def test_nodes_whose_number_is_not_published_are_not_invented() -> None:
    found = _published(_environment("some", LogicalCPUs="32", MainMemorySize="128000"))
    assert "NodeTypes" not in found
    assert found["GLUE2ExecutionEnvironmentLogicalCPUs"] == 32
