"""Reading what condor_q and condor_status print."""

from __future__ import annotations

import re
from collections import Counter

from broker_core.resources.node_types import NodeType, joined_types
from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.batch.commands import count_in
from broker_core.sites.batch.system import Listed, NodeReport, Queue

QUEUE = "default"
"""HTCondor has no queues: all slots of the pool count as one."""
SEPARATOR = "@@@"
NAME = "CrossDeskName"
"""Attribute of a job with its unique name: by it a job is found again, whatever its batch is called."""
JOBS = (
    *("ClusterId", "ProcId", "TotalSubmitProcs", "JobStatus", "HoldReasonCode"),
    *(NAME, "RemoteHost", "HoldReason"),
)
"""What is asked of each job; the reason of a hold comes last, as it may hold anything."""
SLOTS = ("SlotType", "State", "Cpus", "TotalSlotCpus", "TotalSlotMemory")
NODES = (
    *("SlotType", "State", "TotalSlotCpus", "TotalSlotMemory", "TotalSlotGPUs", "GPUs"),
    *("GPUs_DeviceName", "CUDADeviceName", "Arch", "OpSysAndVer"),
)
"""What is asked of each slot; the name of its GPUs has changed between versions."""
_SUBMITTED_ON_HOLD = "15"
_SEEN = {
    "1": AttemptStatus.QUEUED,
    "2": AttemptStatus.RUNNING,
    "3": AttemptStatus.RUNNING,
    "4": AttemptStatus.ENDED,
    "6": AttemptStatus.RUNNING,
    "7": AttemptStatus.RUNNING,
}
"""JobStatus; a removed job (3) is there until its processes are gone."""


def begins(mark: str) -> str:
    """Constraint for jobs whose names begin with `mark`."""
    return f"substr({NAME}, 0, {len(mark)}) == {literal(mark)}"


def literal(text: str) -> str:
    """A string of the ClassAd language."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def read_jobs(out: str) -> list[Listed]:
    """Lines of JOBS with tabs between them, and a dot at the end; raises ValueError."""
    lines = out.splitlines()
    if not lines or lines[-1] != ".":
        raise ValueError(f"condor_q printed no whole list: {out[:200]!r}")
    return [_job(line) for line in lines[:-1]]


def _job(line: str) -> Listed:
    parts = line.split("\t", len(JOBS) - 1)
    if len(parts) != len(JOBS) or not all(re.fullmatch(r"[0-9]+", part) for part in parts[:2]):
        raise ValueError(f"not a line of condor_q: {line[:200]!r}")
    cluster, process, total, state, code, name, host, reason = parts
    if state != "5" and state not in _SEEN:
        raise ValueError(f"condor_q lists a state that is none: {state[:80]!r}")
    many = total not in ("1", "undefined")
    held = AttemptStatus.HELD if code == _SUBMITTED_ON_HOLD else AttemptStatus.ENDED
    seen = held if state == "5" else _SEEN[state]
    told = seen is AttemptStatus.ENDED and reason != "undefined"
    return Listed(
        id=f"{cluster}_{process}" if many else cluster,
        name=name,
        seen=seen,
        reason=f"{'held' if state == '5' else 'ended'} by HTCondor: {reason}" if told else "",
        node="" if host == "undefined" else host.partition("@")[2] or host,
        task=int(process) if many else None,
    )


def read_queues(out: str) -> list[Queue]:
    """Lines of SLOTS, a separator, a JobStatus for each job of the schedd, a dot; raises ValueError."""
    slots, _, jobs = out.partition(f"{SEPARATOR}\n")
    statuses = jobs.split()
    if not statuses or statuses[-1] != "." or not all(word.isdigit() for word in statuses[:-1]):
        raise ValueError(f"HTCondor described no slots and jobs: {out[:200]!r}")
    counts = Counter(statuses[:-1])
    total = free = 0
    memory: list[int] = []
    for line in slots.splitlines():
        kind, state, cpus, of, size = _slot(line)
        # What is cut from a slot that can be divided is counted with that slot.
        if kind == "Dynamic":
            continue
        total += of
        memory.append(size)
        if kind == "Partitionable" or state == "Unclaimed":
            free += cpus
    return [
        Queue(
            name=QUEUE,
            total=total,
            free=free,
            running_jobs=counts["2"],
            waiting_jobs=counts["1"],
            memory=min(memory, default=0),
            default=True,
        )
    ]


def _slot(line: str) -> tuple[str, str, int, int, int]:
    parts = line.split("\t")
    if len(parts) != len(SLOTS) or not all(re.fullmatch(r"[0-9]+", part) for part in parts[2:]):
        raise ValueError(f"not a line of condor_status: {line[:200]!r}")
    return parts[0], parts[1], int(parts[2]), int(parts[3]), int(parts[4])


def read_nodes(out: str) -> NodeReport:
    """Lines of NODES with tabs between them, and a dot; a job fits into one slot. Raises ValueError."""
    lines = out.splitlines()
    if not lines or lines[-1] != ".":
        raise ValueError(f"condor_status printed no whole list: {out[:200]!r}")
    rows = [line.split("\t") for line in lines[:-1]]
    if any(len(row) != len(NODES) for row in rows):
        raise ValueError(f"not lines of condor_status: {out[:200]!r}")
    slots = [dict(zip(NODES, row, strict=True)) for row in rows]
    # What is cut from a slot that can be divided is counted with that slot.
    return NodeReport({"": joined_types(_node(slot) for slot in slots if slot["SlotType"] != "Dynamic")})


def _node(slot: dict[str, str]) -> NodeType:
    divided = slot["SlotType"] == "Partitionable"
    gpus, left = count_in(slot["TotalSlotGPUs"]), count_in(slot["GPUs"])
    usable = slot["State"] == "Unclaimed" or (divided and slot["State"] not in ("Owner", "Drained"))
    names = (slot["GPUs_DeviceName"], slot["CUDADeviceName"])
    gpus = gpus or left
    return NodeType(
        count=1,
        cpus=count_in(slot["TotalSlotCpus"]),
        memory=count_in(slot["TotalSlotMemory"]),
        gpus=gpus,
        gpu_model=next((name for name in names if name != "undefined"), "") if gpus else "",
        gpus_free=min(left, gpus) if usable else 0,
        machine=slot["Arch"].lower().replace("undefined", ""),
        system=slot["OpSysAndVer"].replace("undefined", ""),
    )
