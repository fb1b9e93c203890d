"""Reading what LSF's bjobs, bqueues, bhosts and lshosts print."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from broker_core.resources.node_types import NodeType, joined_types
from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.batch.system import Listed, NodeReport, Queue, sharing

FIELDS = "jobid jobindex stat exec_host job_name"
"""What bjobs is asked for; the name comes last."""
SEPARATOR = "@@@"
_SEEN = {
    "PSUSP": AttemptStatus.HELD,
    "PEND": AttemptStatus.QUEUED,
    "PROV": AttemptStatus.QUEUED,
    "WAIT": AttemptStatus.QUEUED,
    "RUN": AttemptStatus.RUNNING,
    "USUSP": AttemptStatus.RUNNING,
    "SSUSP": AttemptStatus.RUNNING,
    "UNKWN": AttemptStatus.RUNNING,
    "DONE": AttemptStatus.ENDED,
    "EXIT": AttemptStatus.ENDED,
    "ZOMBI": AttemptStatus.ENDED,
}
_REASONS = {
    "USUSP": "suspended by its owner or an administrator",
    "SSUSP": "suspended by LSF",
    "UNKWN": "its host has not been heard of lately",
}
_ALIVE = ("ok", "closed_Full", "closed_Excl", "closed_Busy")
_UNITS = {"K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0 * 1024}


def read_jobs(out: str) -> list[Listed]:
    """Lines of FIELDS with bars between them, and a dot at the end; raises ValueError."""
    lines = out.splitlines()
    if not lines or lines[-1] != ".":
        raise ValueError(f"bjobs printed no whole list: {out[:200]!r}")
    return [_job(line) for line in lines[:-1]]


def _job(line: str) -> Listed:
    parts = [part.strip() for part in line.split("|", 4)]
    if len(parts) != 5 or not re.fullmatch(r"[0-9]+", parts[0]) or not re.fullmatch(r"[0-9]+", parts[1]):
        raise ValueError(f"not a line of bjobs: {line[:200]!r}")
    number, index, state, host, name = parts
    if state not in _SEEN:
        raise ValueError(f"bjobs lists a state that is none: {state[:80]!r}")
    task = int(index) or None
    return Listed(
        id=number if task is None else f"{number}_{task}",
        name=re.sub(r"\[[^]]*\]$", "", name),
        seen=_SEEN[state],
        reason=_REASONS.get(state, ""),
        node="" if host == "-" else re.sub(r"^\d+\*", "", host.partition(":")[0]),
        task=task,
    )


def read_queues(out: str) -> list[Queue]:
    """From bqueues -w, bqueues -l, bhosts -w and lshosts -w; raises ValueError."""
    parts = out.split(f"{SEPARATOR}\n")
    if len(parts) != 4:
        raise ValueError(f"LSF described no queues, hosts and memory: {out[:200]!r}")
    queues = _table(parts[0], "QUEUE_NAME", "STATUS", "PEND", "RUN")
    hosts = _table(parts[2], "HOST_NAME", "STATUS", "MAX", "NJOBS")
    memory = _table(parts[3], "HOST_NAME", "maxmem")
    details = _details(parts[1])
    megabytes = {row["HOST_NAME"]: _megabytes(row.get("maxmem", "-")) for row in memory}
    return [_queue(row, details.get(row["QUEUE_NAME"], ""), hosts, megabytes) for row in queues]


def _table(text: str, *columns: str) -> list[dict[str, str]]:
    """Rows below a line of headings, `columns` among them; a last column may hold blanks."""
    lines = [line for line in text.splitlines() if line.strip()]
    keys = lines[0].split() if lines else []
    if not set(columns) <= set(keys):
        raise ValueError(f"LSF printed no table with {', '.join(columns)}: {text[:200]!r}")
    rows = []
    for line in lines[1:]:
        row = dict(zip(keys, line.split(None, len(keys) - 1), strict=False))
        if not set(columns) <= set(row):
            raise ValueError(f"not a row of LSF's table: {line[:200]!r}")
        rows.append(row)
    return rows


def _details(text: str) -> dict[str, str]:
    """Queue to its long description."""
    parts = re.split(r"^QUEUE: (\S+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _queue(
    row: Mapping[str, str], details: str, hosts: list[dict[str, str]], megabytes: Mapping[str, int]
) -> Queue:
    live = [host for host in _hosts_of(details, hosts) if host["STATUS"] in _ALIVE]
    limit = re.search(r"^\s*RUNLIMIT\s*\n\s*([\d.]+) min", details, re.MULTILINE)
    return Queue(
        name=row["QUEUE_NAME"],
        total=sum(_count(host["MAX"]) for host in live),
        free=sum(max(0, _count(host["MAX"]) - _count(host["NJOBS"])) for host in live if _takes(host)),
        running_jobs=_count(row["RUN"]),
        waiting_jobs=_count(row["PEND"]),
        wall_limit=60 * float(limit[1]) if limit else None,
        memory=min((size for host in live if (size := megabytes.get(host["HOST_NAME"], 0))), default=0),
        open=row["STATUS"].startswith("Open"),
        default="This is the default queue" in details,
    )


def _hosts_of(details: str, hosts: list[dict[str, str]]) -> list[dict[str, str]]:
    """Hosts of a queue by its long description: all, where it names groups of hosts."""
    named = re.search(r"^HOSTS: *(.*)$", details, re.MULTILINE)
    wanted = {re.sub(r"\+\d+$", "", name) for name in named[1].split()} if named else set()
    known = {host["HOST_NAME"] for host in hosts}
    return [host for host in hosts if not (wanted and wanted <= known) or host["HOST_NAME"] in wanted]


def _takes(host: Mapping[str, str]) -> bool:
    return host["STATUS"] == "ok"


def _count(text: str) -> int:
    """A number of slots or jobs; a dash means that there is no limit, which counts as none."""
    if text == "-":
        return 0
    if not re.fullmatch(r"[0-9]+", text):
        raise ValueError(f"LSF printed no count: {text[:80]!r}")
    return int(text)


def _megabytes(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT])?", text)
    return int(float(found[1]) * _UNITS[found[2] or "M"]) if found else 0


def read_nodes(out: str) -> NodeReport:
    """From bqueues -l, bhosts -w, lshosts -w and bhosts -gpu -w, which may be empty; raises ValueError."""
    parts = out.split(f"{SEPARATOR}\n")
    if len(parts) != 4:
        raise ValueError(f"LSF described no queues, hosts and machines: {out[:200]!r}")
    hosts = _table(parts[1], "HOST_NAME", "STATUS", "MAX")
    machines = {row["HOST_NAME"]: row for row in _table(parts[2], "HOST_NAME", "ncpus", "maxmem")}
    gpus = _gpus(parts[3])
    found: dict[str, list[NodeType]] = {}
    queues: dict[str, set[str]] = {}
    for queue, details in _details(parts[0]).items():
        live = [host for host in _hosts_of(details, hosts) if host["STATUS"] in _ALIVE]
        found[queue] = joined_types(
            one for host in live for one in _types(host, machines.get(host["HOST_NAME"], {}), gpus)
        )
        for host in live:
            queues.setdefault(host["HOST_NAME"], set()).add(queue)
    return NodeReport(found, shared=sharing(queues.values()))


def _types(
    host: Mapping[str, str], machine: Mapping[str, str], gpus: Mapping[str, dict[str, tuple[int, int]]]
) -> Iterator[NodeType]:
    cpus = _count(host["MAX"]) or _count(machine.get("ncpus", "-"))
    features = tuple(sorted(machine.get("RESOURCES", "").strip("()").split()))
    memory, model = _megabytes(machine.get("maxmem", "-")), machine.get("model", "")
    for gpu, (count, free) in (gpus.get(host["HOST_NAME"]) or {"": (0, 0)}).items():
        yield NodeType(
            count=1,
            cpus=cpus,
            memory=memory,
            gpus=count,
            gpu_model=gpu,
            gpus_free=free if _takes(host) else 0,
            features=features,
            model="" if model.startswith("UNKNOWN") else model,
        )


def _gpus(text: str) -> dict[str, dict[str, tuple[int, int]]]:
    """Host to the models of its GPUs: how many, and how many without jobs; a host is named once."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or not {"GPU_ID", "MODEL", "NJOBS"} <= set(keys := lines[0].split()):
        return {}
    found: dict[str, dict[str, tuple[int, int]]] = {}
    host = ""
    for line in lines[1:]:
        values = line.split()
        if not line[0].isspace():
            host, *values = values
        row = dict(zip(keys[1:], values, strict=False))
        if row.get("NJOBS", "").isdigit():
            models = found.setdefault(host, {})
            count, free = models.get(row["MODEL"], (0, 0))
            models[row["MODEL"]] = count + 1, free + (row["NJOBS"] == "0")
    return found
