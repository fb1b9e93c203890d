"""Reading what qstat and pbsnodes of PBS print in their full forms: heads, and attributes below them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from broker_core.resources.node_types import NodeType, joined_types
from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.batch.system import Listed, NodeReport, Queue, sharing

NAME_VARIABLE = "CROSSDESK_NAME"
"""Variable of a job with its whole name."""
SEPARATOR = "@@@"
_ATTRIBUTE = re.compile(r" +([A-Za-z][\w.]*) = ?(.*)")
_HEAD, _JOB_HEAD = re.compile(r"\S"), re.compile(r"Job Id: |.*nknown Job")
_ID = re.compile(r"(\d+)(\[(\d*)\])?(?:\..+)?")
_RUNNING = frozenset("RESUBT")
_ENDED = frozenset("CFX")
_AWAY = re.compile(r"down|offline|unknown|stale|provisioning|maintenance|sleep")
_HAS, _GIVEN = "resources_available.", "resources_assigned."
_GPU_MODEL = re.compile(r"resources_available\.(gpu_?(model|type)|accelerator_model)", re.IGNORECASE)
"""PBS has no such resource of its own: these are the usual names."""
_TORQUE_GPU = re.compile(r"gpu\[\d+\]=(.*?)(?=,gpu\[\d+\]=|$)")
_UNITS = {"b": 1 / 1024 / 1024, "kb": 1 / 1024, "mb": 1.0, "gb": 1024.0, "tb": 1024.0 * 1024}


@dataclass(frozen=True, slots=True)
class Block:
    """One head with its attributes."""

    head: str
    values: dict[str, str] = field(default_factory=dict)


def read_blocks(text: str, heads: re.Pattern[str] = _HEAD) -> list[Block]:
    """Heads without indentation, attributes with some, continued lines behind a tab; raises ValueError.

    Values may have lines of their own, e.g. functions of a shell among a job's variables.
    """
    blocks: list[Block] = []
    last = ""
    for line in text.split("\n"):
        attribute = _ATTRIBUTE.fullmatch(line)
        if heads.match(line):
            blocks.append(Block(line.strip()))
            last = ""
        elif attribute and blocks:
            last = attribute[1]
            blocks[-1].values[last] = attribute[2]
        elif blocks and last:
            blocks[-1].values[last] += line.removeprefix("\t")
        elif line.strip():
            raise ValueError(f"PBS printed something else than attributes: {line[:200]!r}")
    return blocks


def read_jobs(out: str) -> list[Listed]:
    """Jobs whose names begin with the mark in the first line, from `qstat -f -t`; raises ValueError."""
    head, _, text = out.partition("\n")
    if not head.startswith("mark "):
        raise ValueError(f"qstat's list has no mark ahead of it: {out[:200]!r}")
    mark = head.removeprefix("mark ")
    blocks = read_blocks(text, _JOB_HEAD)
    found = [_job(block) for block in blocks if _is_job(block)]
    tasked = {job.id.partition("_")[0] for job in found if job.task is not None}
    held = {job.id for job in found if job.seen is AttemptStatus.HELD}
    # An array is listed beside its tasks; its hold is theirs.
    return [
        _with_hold(job, job.id.partition("_")[0] in held)
        for job in found
        if job.name.startswith(mark) and (job.task is not None or job.id not in tasked)
    ]


def read_entries(text: str) -> list[tuple[Mapping[str, str], Listed]]:
    """All jobs and tasks of `qstat -f -t`, each with its attributes; raises ValueError."""
    found = [(block.values, _job(block)) for block in read_blocks(text, _JOB_HEAD) if _is_job(block)]
    tasked = {job.id.partition("_")[0] for _, job in found if job.task is not None}
    return [(values, job) for values, job in found if job.task is not None or job.id not in tasked]


def _is_job(block: Block) -> bool:
    return block.head.startswith("Job Id: ")


def _with_hold(job: Listed, held: bool) -> Listed:
    if held and job.seen is AttemptStatus.QUEUED:
        return Listed(job.id, job.name, AttemptStatus.HELD, job.reason, job.node, job.task)
    return job


def _job(block: Block) -> Listed:
    id = _ID.fullmatch(block.head.removeprefix("Job Id: "))
    state = block.values.get("job_state", "")
    if id is None or not re.fullmatch(r"[A-Z]", state):
        raise ValueError(f"qstat lists a job without id or state: {block.head[:200]!r}")
    task = int(id[3]) if id[3] else None
    return Listed(
        id=id[1] if task is None else f"{id[1]}_{task}",
        name=_name(block.values),
        seen=_seen(state, array=id[2] == "[]"),
        reason=block.values.get("comment", ""),
        node=re.split(r"[/+:]", block.values.get("exec_host", "").lstrip("("))[0],
        task=task,
    )


def _name(values: Mapping[str, str]) -> str:
    whole = re.search(rf"(?:^|,){NAME_VARIABLE}=([^,]*)", values.get("Variable_List", ""))
    if whole:
        return whole[1]
    # Torque adds the number of the task to an array's name.
    return re.sub(r"-\d+$|\[\d*\]$", "", values.get("Job_Name", ""))


def _seen(state: str, *, array: bool) -> AttemptStatus:
    if state in _ENDED:
        return AttemptStatus.ENDED
    if state == "H":
        return AttemptStatus.HELD
    if state in _RUNNING and not (array and state == "B"):
        return AttemptStatus.QUEUED if state == "T" else AttemptStatus.RUNNING
    if state in "QWMB":
        return AttemptStatus.QUEUED
    raise ValueError(f"qstat lists a state that is none: {state!r}")


def read_queues(out: str) -> list[Queue]:
    """From `qstat -B -f`, `qstat -Q -f` and `pbsnodes -a`; raises ValueError."""
    parts = out.split(f"{SEPARATOR}\n")
    if len(parts) != 3:
        raise ValueError(f"PBS described no server, queues and nodes: {out[:200]!r}")
    servers, queues, nodes = (read_blocks(part) for part in parts)
    server = servers[0].values if servers else {}
    found = []
    for block in queues:
        if not block.head.startswith("Queue: "):
            raise ValueError(f"qstat lists something else than queues: {block.head[:200]!r}")
        if block.values.get("queue_type", "").startswith("E"):
            name = block.head.removeprefix("Queue: ")
            found.append(_queue(name, block.values, nodes, server))
    return found


def _queue(name: str, values: Mapping[str, str], nodes: list[Block], server: Mapping[str, str]) -> Queue:
    mine = [node.values for node in nodes if _belongs(node.values, name)]
    live = [node for node in mine if not _AWAY.search(node.get("state", ""))]
    counts = dict(re.findall(r"(\w+):(\d+)", values.get("state_count", "")))
    limit = values.get("resources_max.walltime")
    most = values.get("max_array_size") or server.get("max_array_size") or server.get("max_job_array_size")
    return Queue(
        name=name,
        total=sum(_cpus(node) for node in live),
        free=sum(max(0, _cpus(node) - _taken(node)) for node in live),
        running_jobs=int(counts.get("Running", 0)),
        waiting_jobs=int(counts.get("Queued", 0)),
        wall_limit=None if limit is None else _seconds(limit),
        memory=min((_memory(node) for node in live), default=0),
        open=values.get("enabled") == "True" and values.get("started") == "True",
        default=name == server.get("default_queue"),
        most_tasks=None if most is None else max(1, _count(most)),
    )


def _belongs(node: Mapping[str, str], queue: str) -> bool:
    return node.get("queue", queue) == queue


def _cpus(node: Mapping[str, str]) -> int:
    return _count(node.get("resources_available.ncpus", node.get("np", "0")))


def _taken(node: Mapping[str, str]) -> int:
    """PBS Professional tells processors, Torque lists a job for each of them."""
    if "resources_assigned.ncpus" in node:
        return _count(node["resources_assigned.ncpus"])
    jobs = node.get("jobs", "")
    taken = 0
    for job in filter(None, re.split(r", ?(?=[\d,-]+/)", jobs)):
        for part in job.partition("/")[0].split(","):
            first, _, last = part.strip().partition("-")
            taken += _count(last or first) - _count(first) + 1
    return taken


def _memory(node: Mapping[str, str]) -> int:
    """MiB."""
    text = node.get("resources_available.mem", "")
    if not text:
        found = re.search(r"physmem=(\d+\w*)", node.get("status", ""))
        text = found[1] if found else "0b"
    parts = re.fullmatch(r"(\d+)([kmgt]?b)?", text)
    return int(int(parts[1]) * _UNITS[parts[2] or "b"]) if parts else 0


def _count(text: str) -> int:
    if not re.fullmatch(r"[0-9]+", text.strip()):
        raise ValueError(f"PBS printed no count: {text[:80]!r}")
    return int(text)


def _seconds(text: str) -> float:
    seconds = 0
    for part in text.split(":"):
        seconds = 60 * seconds + _count(part)
    return float(seconds)


def read_nodes(out: str) -> NodeReport:
    """From `pbsnodes -a`; nodes of no queue belong to all. Raises ValueError."""
    nodes = [block.values for block in read_blocks(out)]
    live = [node for node in nodes if not _AWAY.search(node.get("state", ""))]
    owners = {node["queue"] for node in live if "queue" in node}
    found = {name: [node for node in live if _belongs(node, name)] for name in owners}
    found[""] = [node for node in live if "queue" not in node]
    types = {name: joined_types(one for node in some for one in _types(node)) for name, some in found.items()}
    return NodeReport(
        types, shared=sharing([[node["queue"]] if "queue" in node else [*owners, ""] for node in live])
    )


def _types(node: Mapping[str, str]) -> Iterator[NodeType]:
    cpus, memory, features = _cpus(node), _memory(node), _features(node)
    for model, (gpus, free) in (_gpus(node) or {"": (0, 0)}).items():
        yield NodeType(1, cpus, memory, gpus, model, free, features)


def _gpus(node: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """Model to GPUs in all, and free ones."""
    gpus = _count(node.get(f"{_HAS}ngpus", node.get("gpus", "0")))
    if not gpus:
        return {}
    reports = _TORQUE_GPU.findall(node.get("gpu_status", ""))
    if not reports:
        model = next((value for name, value in node.items() if _GPU_MODEL.fullmatch(name)), "")
        return {model: (gpus, max(0, gpus - _count(node.get(f"{_GIVEN}ngpus", "0"))))}
    found: dict[str, tuple[int, int]] = {}
    for one in reports:
        name = re.search(r"gpu_product_name=([^;,]*)", one)
        count, free = found.get(model := name[1] if name else "", (0, 0))
        found[model] = count + 1, free + ("gpu_state=Unallocated" in one)
    return found


def _features(node: Mapping[str, str]) -> tuple[str, ...]:
    """Torque's properties, and what is true of a node of PBS Professional."""
    properties = node.get("properties", "")
    true = (
        name.removeprefix(_HAS) for name, value in node.items() if name.startswith(_HAS) and value == "True"
    )
    return tuple(sorted({*filter(None, properties.split(",")), *true}))
