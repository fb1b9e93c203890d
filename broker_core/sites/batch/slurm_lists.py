"""What squeue and sinfo print, read back."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.batch.system import Listed, Queue

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
