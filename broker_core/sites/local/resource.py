"""The local site as a record for the Resource Cache."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from broker_core.information.this_machine import changing_facts, machine_facts, memory_mb
from broker_core.resources.facts import START_ESTIMATE
from broker_core.resources.node_types import node_attributes
from broker_core.resources.record import Resource
from broker_core.resources.tags import ABILITIES
from broker_core.sites.gpus import gpu_nodes
from broker_core.sites.local.capacity import Capacity

PORT = 2119
_SOFTWARE = "GlueHostApplicationRunTimeEnvironment"
_ALL = (
    *("GlueCEInfoTotalCPUs", "GlueSubClusterLogicalCPUs", "GlueCEPolicyMaxRunningJobs"),
    *("GlueCEPolicyAssignedJobSlots", "GlueCEPolicyMaxSlotsPerJob"),
)
_FREE = ("GlueCEStateFreeCPUs", "GlueHostFreeCPUs", "GlueCEStateFreeJobSlots")
_NO_LIMIT = 999_999_999
"""Minutes that stand for no limit, as sites publish it."""


def local_resource(
    name: str, directory: str, capacity: Capacity, present: int, waiting: int, software: Sequence[str] = ()
) -> Resource:
    """GLUE attributes of this machine as one computing element with all its processors and GPUs.

    `present`: attempts at the site, `waiting` of them in its queue; `software`: tags of what it has besides.
    """
    cpus, free, running = capacity.cpus, capacity.free, present - waiting
    ce = f"localhost:{PORT}/jobmanager-fork-{name}"
    counts = {
        **dict.fromkeys(_ALL, cpus),
        **dict.fromkeys(_FREE, free),
        "GlueCEUniqueID": ce,
        "GlueCEName": name,
        "GlueCEInfoHostName": "localhost",
        "GlueSiteName": name,
        "GlueSiteUniqueID": name,
        "GlueCEInfoGatekeeperPort": str(PORT),
        "GlueCEInfoJobManager": "fork",
        "GlueCEInfoLRMSType": "fork",
        "GlueCEStateStatus": "Production",
        "GlueCEStateRunningJobs": running,
        "GlueCEStateWaitingJobs": waiting,
        "GlueCEStateTotalJobs": present,
        "GlueCEStateEstimatedResponseTime": 0 if free and not waiting else 60 * (1 + waiting // cpus),
        START_ESTIMATE: "guess",
        "GlueCEStateWorstResponseTime": 0 if free and not waiting else 3600 * (1 + waiting // cpus),
        "GlueCEPolicyMaxWallClockTime": _NO_LIMIT,
        "GlueCEPolicyMaxCPUTime": _NO_LIMIT,
        "GlueClusterUniqueID": "localhost",
        ABILITIES: ["interactive"],
    }
    return Resource(
        ce=ce,
        site=name,
        total_cpus=cpus,
        free_cpus=free,
        running=running,
        waiting=waiting,
        updated=time.time(),
        attributes=_facts(directory, software) | _gpus(capacity) | counts,
    )


def _gpus(capacity: Capacity) -> dict[str, Any]:
    """GPUs, once they are known, and that this is one node where there are any."""
    gpus = capacity.gpus()
    if gpus is None:
        return {}
    found = node_attributes(gpu_nodes(gpus, capacity.cpus, memory_mb()))
    return found if gpus else {name: value for name, value in found.items() if name.startswith("GPU")}


def _facts(directory: str, software: Sequence[str]) -> dict[str, Any]:
    found = machine_facts() | changing_facts(directory)
    return found | {_SOFTWARE: [*found[_SOFTWARE], *software]}
