"""What Slurm's commands print of jobs, partitions, nodes and accounts, read back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from statistics import median

from broker_core.resources.node_types import NodeType, joined_types
from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.batch.commands import count_in
from broker_core.sites.batch.system import (
    Association,
    Entitlements,
    License,
    Listed,
    NodeReport,
    QosLimits,
    Queue,
    QueueRules,
    sharing,
)

JOBS = "%T|%r|%N|%i|%j"
"""What squeue is asked for; the name comes last, as it may hold anything."""
_RUNNING = {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT", "RESIZING"}
_WAITING = {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"}
_HELD = ("JobHeldUser", "JobHeldAdmin")
_USUAL = {"None", "Priority", "Resources", "Cleaning", "Prolog", *_HELD}
"""Reasons of jobs that wait for their turn and nothing else."""
_NEVER = {
    "PartitionTimeLimit": "its wall time is above the limit of the partition",
    "PartitionNodeLimit": "it needs more nodes than the partition allows or has",
    "BadConstraints": "no node of the partition is what it asks for",
    "InvalidAccount": "its account is not valid there",
    "InvalidQOS": "its quality of service is not valid there",
    "QOSNotAllowed": "the partition does not allow its quality of service",
    "AccountNotAllowed": "the partition does not allow its account",
    "DependencyNeverSatisfied": "what it depends on can never be",
}
"""Reasons that do not pass by themselves; what is above a limit for one job is another one."""
_WAITS = {
    "PartitionDown": "the partition is down",
    "PartitionInactive": "the partition is inactive",
    "ReqNodeNotAvail": "nodes that it needs are not available now",
    "Reservation": "it waits for a reservation",
    "Licenses": "it waits for a licence",
    "BeginTime": "it may not begin yet",
    "AssocMaxJobsLimit": "the account has as many jobs there as it may",
    "AssocGrpJobsLimit": "the group has as many jobs there as it may",
    "QOSMaxJobsPerUserLimit": "the account has as many jobs of this quality of service as it may",
    "JobHeldAdmin": "the administrator of the cluster holds it",
}
_SEPARATOR = "@@@"
_OF_NODE = ("State", "CPUTot", "RealMemory", "Gres", "GresUsed", "AvailableFeatures", "Partitions", "Arch")
_AWK_COLUMNS = ' "|" '.join(f'v["{name}"]' for name in _OF_NODE)
# The first of equal names counts: words of the administrator come last in a line.
NODES = f"""
scontrol -o -d show node | awk '{{
    split("", v)
    for (i = 1; i <= NF; i++) {{
        p = index($i, "=")
        k = substr($i, 1, p - 1)
        if (p && !(k in v)) v[k] = substr($i, p + 1)
    }}
    print {_AWK_COLUMNS}
}}' | LC_ALL=C sort | uniq -c && echo {_SEPARATOR} && scontrol -o show licenses &&
    echo {_SEPARATOR} && date +%s &&
    ( export SLURM_TIME_FORMAT=%s; squeue -h --start -t PD -o "%P|%S" ) | grep -v N/A | head -n 2000
"""
"""Prints how many nodes have which equipment, the licenses, and when waiting jobs are believed to start."""
_LIMITS_OF_ASSOCIATION = {
    "MaxWall": "{} for each job",
    "MaxTRES": "{} for each job",
    "MaxJobs": "{} jobs at the same time",
    "MaxSubmit": "{} jobs in the queue",
}
_LIMITS_OF_QOS = {
    "MaxWall": "{} for each job",
    "MaxTRES": "{} for each job",
    "MaxTRESPerUser": "{} for each user",
    "MaxJobsPerUser": "{} jobs of a user at the same time",
    "MaxSubmitJobsPerUser": "{} jobs of a user in the queue",
    "GrpTRES": "{} for all users together",
}
"""Column to its limit in words."""
_OF_TRES = {
    "cpu": "CPUs",
    "node": "nodes",
    "gres/gpu": "GPUs",
    "energy": "joules",
    "billing": "billing units",
}
_ASSOCIATION = ("Cluster", "Account", "Partition", "QOS", "DefaultQOS", *_LIMITS_OF_ASSOCIATION)
_QOS = ("Name", *_LIMITS_OF_QOS)
ACCOUNTS = f"""
scontrol show config | sed -n 's/^ClusterName *= *//p'
scontrol -o show partition && {{ scontrol -o show reservation 2>/dev/null || :; }} && echo {_SEPARATOR} && {{
    user=$(id -un)
    sacctmgr -n -P show user where name="$user" format=DefaultAccount && echo {_SEPARATOR} &&
        sacctmgr -n -P show assoc where user="$user" format={",".join(_ASSOCIATION)} &&
        echo {_SEPARATOR} && sacctmgr -n -P show qos format={",".join(_QOS)}
}} 2>/dev/null || :
"""
"""Prints the cluster's name, its partitions and reservations; then, where there is a database, the default
account of the user, his associations and all qualities of service, with separators."""
_UNUSABLE = re.compile(r"DOWN|DRAIN|FAIL|INVAL|FUTURE|UNKNOWN|ERROR|NOT_RESPONDING|\*")
_GPU = re.compile(r"gpu(?::([^:(,]+))?:(\d+)(?:\([^)]*\))?")
_GPU_WITHOUT_MODEL = re.compile(r"gpu:(\d+)(?:\([^)]*\))?")
_OUTSIDE_PARENTHESES = re.compile(r",(?![^(]*\))")
_NUMBER = re.compile(r"\d+([_+].+)?", re.ASCII)
_OF_ONE_JOB = re.compile(r"(Assoc|QOS)(Max|Min)\w+(PerJob(Limit)?|NotSatisfied)|MaxMemPerLimit")


def read_jobs(out: str) -> list[Listed]:
    """Lines `state|reason|nodes|id|name`; raises ValueError for others."""
    found: list[Listed] = []
    for line in out.removesuffix("\n").split("\n") if out else ():
        parts = line.split("|", 4)
        if len(parts) != 5 or not _NUMBER.fullmatch(parts[3]):
            if found:
                continue  # the name of a job before it goes on here
            raise ValueError(f"squeue printed something else than a list: {line[:200]!r}")
        state, reason, nodes, number, name = parts
        task = number.partition("_")[2]
        found.append(
            Listed(
                number,
                name,
                _seen(state, reason),
                _words(state, reason),
                nodes,
                int(task) if task.isdigit() else None,
                hopeless=state == "PENDING" and _is_for_good(reason),
            )
        )
    return found


def _is_for_good(reason: str) -> bool:
    return reason in _NEVER or _OF_ONE_JOB.fullmatch(reason) is not None


def _words(state: str, reason: str) -> str:
    """Why it waits or ended, for people; empty where it waits for its turn alone."""
    if state in _WAITING and reason in _USUAL:
        return ""
    told = _NEVER.get(reason) or _WAITS.get(reason)
    if told is None and _is_for_good(reason):
        told = "it asks for more than one job may have there"
    return f"{told} ({reason})" if told else "" if reason == "None" else reason


def read_queues(out: str) -> list[Queue]:
    """A line with settings of the cluster, lines `queue|up|limit|memory|cpus|state` of sinfo, an empty line,
    counted lines `queue|state`.
    """
    settings, _, rest = out.partition("\n")
    lines, _, counts = rest.partition("\n\n")
    jobs, most = _jobs(counts), _most_tasks(settings)
    rows: dict[str, list[list[str]]] = {}
    for line in lines.splitlines():
        parts = line.split("|")
        if len(parts) != 6:
            raise ValueError(f"sinfo printed something else than a list of queues: {line[:200]!r}")
        rows.setdefault(parts[0], []).append(parts)
    return [replace(_queue(name, found, jobs), most_tasks=most) for name, found in rows.items()]


def _queue(title: str, rows: list[list[str]], jobs: Counter[tuple[str, str]]) -> Queue:
    name = title.rstrip("*")
    cpus = [[int(count) for count in row[4].split("/")] for row in rows]
    memory = [int(found[0]) for row in rows if (found := re.match(r"\d+", row[3]))]
    return Queue(
        name,
        total=sum(row[3] for row in cpus),
        free=sum(row[1] for row in cpus),
        running_jobs=jobs[name, "R"],
        waiting_jobs=jobs[name, "PD"],
        wall_limit=_seconds(rows[0][2]),
        memory=min(memory, default=0),
        open=rows[0][1] == "up",
        default=title.endswith("*"),
    )


def _most_tasks(settings: str) -> int | None:
    """Of an array; Slurm has a limit of the highest task's number, 0 for no arrays, and one of the tasks."""
    limits = re.findall(r"\b(?:MaxArraySize *=|max_array_tasks=) *(\d+)", settings)
    return min((max(1, int(limit)) for limit in limits), default=None)


def _jobs(text: str) -> Counter[tuple[str, str]]:
    """Jobs by queue and state; one that waits for several queues counts in each."""
    found: Counter[tuple[str, str]] = Counter()
    for line in text.splitlines():
        count, _, rest = line.strip().partition(" ")
        queues, _, state = rest.partition("|")
        for queue in queues.split(","):
            found[queue, state] += int(count)
    return found


def _seen(state: str, reason: str) -> AttemptStatus:
    if state in _WAITING:
        return AttemptStatus.HELD if reason in _HELD else AttemptStatus.QUEUED
    return AttemptStatus.RUNNING if state in _RUNNING else AttemptStatus.ENDED


def _seconds(limit: str) -> float | None:
    """`days-hours:minutes:seconds` and its shorter forms; None for no limit."""
    found = re.fullmatch(r"(?:(\d+)-)?(?:(?:(\d+):)?(\d+):)?(\d+)", limit)
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def read_nodes(out: str) -> NodeReport:
    """From NODES; raises ValueError."""
    parts = out.split(f"{_SEPARATOR}\n")
    if len(parts) != 3:
        raise ValueError(f"scontrol did not describe all nodes: {out[-200:]!r}")
    nodes, licenses, starts = parts
    found: dict[str, list[NodeType]] = {}
    queues = list[list[str]]()
    for line in nodes.splitlines():
        count, _, rest = line.strip().partition(" ")
        parts = rest.split("|")
        if not count.isdigit() or len(parts) != len(_OF_NODE):
            raise ValueError(f"scontrol printed something else than nodes: {line[:200]!r}")
        values = dict(zip(_OF_NODE, parts, strict=True))
        queues.append(list(_listed(values["Partitions"])))
        for queue in queues[-1]:
            found.setdefault(queue, []).extend(_types(int(count), values))
    types = {queue: joined_types(some) for queue, some in found.items()}
    return NodeReport(types, _licenses(licenses), _waits(starts), sharing(queues))


def _waits(starts: str) -> dict[str, float]:
    """Queue to the median of the times until its waiting jobs start; the first line is the site's clock."""
    now, *lines = starts.splitlines() or [""]
    found: dict[str, list[float]] = {}
    for line in lines:
        queues, _, start = line.partition("|")
        if start.isdigit() and now.isdigit():
            for queue in queues.split(","):
                found.setdefault(queue, []).append(max(0.0, float(start) - float(now)))
    return {queue: median(waits) for queue, waits in found.items()}


def _types(count: int, values: Mapping[str, str]) -> Iterator[NodeType]:
    """One for each model of GPUs on these nodes, or one without."""
    cpus, memory = count_in(values["CPUTot"]), count_in(values["RealMemory"])
    have, used = _gpus(values["Gres"]), _gpus(values["GresUsed"])
    usable = not _UNUSABLE.search(values["State"])
    features = tuple(sorted(_listed(values["AvailableFeatures"])))
    for model, gpus in have.items() or (("", 0),):
        free = count * max(0, gpus - used.get(model, 0)) if usable else 0
        yield NodeType(count, cpus, memory, gpus, model, free, features, values["Arch"])


def _gpus(gres: str) -> dict[str, int]:
    """Model to number in `gpu:a100:4(S:0-1),gpu:2,shard:8`; the model is empty where none is named."""
    found: dict[str, int] = {}
    for part in _OUTSIDE_PARENTHESES.split(gres):
        plain = _GPU_WITHOUT_MODEL.fullmatch(part)
        named = _GPU.fullmatch(part)
        if plain or named:
            model, number = ("", plain[1]) if plain else (named[1], named[2]) if named else ("", "0")
            # What is in use is called `(null)` where it has no model.
            found[model] = found.get(model, 0) + int(number)
    return found


def _licenses(text: str) -> list[License]:
    found = []
    for line in text.splitlines():
        values = _values(line)
        if "LicenseName" in values:
            total, free = count_in(values.get("Total", "")), count_in(values.get("Free", ""))
            found.append(License(values["LicenseName"], total, min(total, free)))
    return found


def read_accounts(out: str) -> Entitlements:
    """From ACCOUNTS; raises ValueError."""
    parts = out.split(f"{_SEPARATOR}\n")
    cluster, _, partitions = parts[0].partition("\n")
    if len(parts) < 2:
        raise ValueError(f"scontrol did not describe the partitions: {out[:200]!r}")
    rules, reservations = dict(_rules(partitions)), tuple(_reservations(partitions))
    if len(parts) != 4:
        return Entitlements(rules=rules, reservations=reservations)  # it keeps no accounts
    default, associations, qos = parts[1:]
    rows = _rows(associations, *_ASSOCIATION)
    mine = [_association(row) for row in rows if row["Cluster"] == cluster]
    known = [
        QosLimits(row["Name"], _seconds(row["MaxWall"]), _limits(row, _LIMITS_OF_QOS))
        for row in _rows(qos, *_QOS)
    ]
    return Entitlements(mine, default.strip().partition("\n")[0], known, rules, reservations)


def _reservations(text: str) -> Iterator[str]:
    """Names that jobs can use; nodes under maintenance are kept from all of them."""
    for line in text.splitlines():
        values = _values(line)
        if "ReservationName" in values and "MAINT" not in values.get("Flags", "").split(","):
            yield values["ReservationName"]


def _rules(partitions: str) -> Iterator[tuple[str, QueueRules]]:
    for line in partitions.splitlines():
        values = _values(line)
        if "PartitionName" in values and "ReservationName" not in values:
            yield (
                values["PartitionName"],
                QueueRules(
                    accounts=_allowed(values.get("AllowAccounts", "ALL")),
                    denied_accounts=frozenset(_listed(values.get("DenyAccounts", ""))),
                    qos=_allowed(values.get("AllowQos", "ALL")),
                    denied_qos=frozenset(_listed(values.get("DenyQos", ""))),
                ),
            )


def _allowed(names: str) -> frozenset[str] | None:
    return None if names == "ALL" else frozenset(_listed(names))


def _rows(text: str, *names: str) -> Iterator[dict[str, str]]:
    for line in text.splitlines():
        parts = line.split("|")
        if len(parts) != len(names):
            raise ValueError(f"sacctmgr printed something else than its table: {line[:200]!r}")
        yield dict(zip(names, parts, strict=True))


def _association(row: Mapping[str, str]) -> Association:
    qos, limits = tuple(_listed(row["QOS"])), _limits(row, _LIMITS_OF_ASSOCIATION)
    return Association(row["Account"], row["Partition"], qos, row["DefaultQOS"], limits)


def _limits(row: Mapping[str, str], words: Mapping[str, str]) -> str:
    """The limits of a row that are set, for people."""
    found = []
    for name, text in words.items():
        value = _duration(row[name]) if name == "MaxWall" else _resources(row[name])
        if value:
            found.append(text.format(value))
    return "; ".join(found)


def _resources(tres: str) -> str:
    """`4 GPUs, 64 CPUs` in `gres/gpu=4,cpu=64`; a number stands for itself."""
    found = []
    for part in _listed(tres):
        name, separator, amount = part.partition("=")
        what = _OF_TRES.get(name, name.removeprefix("gres/").removeprefix("license/"))
        if not separator:
            found.append(name)
        elif name == "mem":
            found.append(f"{amount}iB of memory")
        else:
            found.append(f"{amount} {what if amount != '1' else what.removesuffix('s')}")
    return ", ".join(found)


def _duration(limit: str) -> str:
    """`2 days` and `90 minutes` in what Slurm calls `2-00:00:00` and `01:30:00`."""
    found = _seconds(limit)
    if not found:
        return ""
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if found % size == 0:
            return f"{found / size:.0f} {unit}{'' if found == size else 's'}"
    return f"{found:.0f} seconds"


def _values(line: str) -> dict[str, str]:
    return dict(part.partition("=")[::2] for part in line.split() if "=" in part)


def _listed(names: str) -> list[str]:
    return [name for name in names.split(",") if name and name != "(null)"]
