"""Reading the lists that Grid Engine's qstat prints as XML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from broker_core.resources.node_types import NodeType, joined_types
from broker_core.sites.adapter import AttemptStatus
from broker_core.sites.batch.commands import count_in
from broker_core.sites.batch.system import (
    Association,
    Entitlements,
    License,
    Listed,
    NodeReport,
    Queue,
    sharing,
)

SEPARATOR = "@@@"
GPUS = "(n|num_)?gpus?"
"""Names of the complex that counts GPUs, as an extended expression: Grid Engine has none of its own."""
_GPU_MODEL = re.compile(r"gpu_?(model|type|arch)", re.IGNORECASE)
_LINE = re.compile(
    r'<(name|qtype|slots_total|state|arch)>([^<]*)<|<resource name="([^"]*)" type="(..)">([^<]*)<'
)
_TASKS = re.compile(r"(\d+)(?:-(\d+)(?::(\d+))?)?")
_MOST_TASKS = 1_000_000
_UNITS = {"K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0 * 1024}
_CLOSED = frozenset("dDuEoCc")
"""States in which a queue instance takes no jobs: disabled, unknown, error, orphaned, calendar, ambiguous."""


def read_jobs(text: str, mark: str) -> list[Listed]:
    """Jobs that have `mark` at the beginning of their names, or behind a title there, from `qstat -xml`.

    Raises ValueError.
    """
    return [
        job
        for entry in _document(text).iter("job_list")
        if _bears(_text(entry, "JB_name"), mark)
        for job in _jobs(entry)
    ]


def read_entries(text: str) -> Iterator[tuple[dict[str, str], Listed]]:
    """All jobs and tasks of `qstat -xml`, each with the texts of its entry by tag; raises ValueError."""
    for entry in _document(text).iter("job_list"):
        values = {one.tag: (one.text or "").strip() for one in entry}
        for job in _jobs(entry):
            yield values, job


def _bears(name: str, mark: str) -> bool:
    return name.startswith(mark) or name.partition(".")[2].startswith(mark)


def read_queues(text: str) -> list[Queue]:
    """Queues for batch jobs, from `qstat -f -r -u '*' -F h_rt,mem_total -xml`; raises ValueError."""
    document = _document(text)
    instances: dict[str, list[_Instance]] = {}
    for entry in document.iter("Queue-List"):
        name = _text(entry, "name").partition("@")[0]
        if "B" in _text(entry, "qtype"):
            instances.setdefault(name, []).append(_instance(entry))
    waiting: Counter[str] = Counter()
    for entry in document.iter("job_list"):
        if entry.get("state") == "pending" and "h" not in _text(entry, "state"):
            wanted = [(one.text or "").partition("@")[0] for one in entry.iter("hard_req_queue")]
            waiting.update(dict.fromkeys(wanted or instances, len(list(_tasks(entry)))))
    return [_queue(name, parts, waiting[name]) for name, parts in instances.items()]


@dataclass(frozen=True, slots=True)
class _Instance:
    """One queue at one host."""

    total: int
    used: int
    jobs: int
    memory: int
    limit: float | None
    state: str


def _queue(name: str, parts: list[_Instance], waiting: int) -> Queue:
    limits = [part.limit for part in parts if part.limit is not None]
    memory = [part.memory for part in parts if part.memory]
    return Queue(
        name=name,
        total=sum(part.total for part in parts),
        free=sum(max(0, part.total - part.used) for part in parts if not part.state),
        running_jobs=sum(part.jobs for part in parts),
        waiting_jobs=waiting,
        wall_limit=min(limits) if len(limits) == len(parts) else None,
        memory=min(memory, default=0),
        open=any(_CLOSED.isdisjoint(part.state) for part in parts),
    )


def _instance(entry: Element) -> _Instance:
    values = {one.get("name"): (one.text or "").strip() for one in entry.iter("resource")}
    return _Instance(
        total=_number(entry, "slots_total"),
        used=_number(entry, "slots_used") + _number(entry, "slots_resv", "0"),
        jobs=sum(1 for _ in entry.iter("job_list")),
        memory=_megabytes(values.get("mem_total", "")),
        limit=_seconds(values.get("h_rt", "infinity")),
        state=_text(entry, "state", ""),
    )


def _jobs(entry: Element) -> Iterator[Listed]:
    """One for each task of the entry."""
    number, state = _text(entry, "JB_job_number"), _text(entry, "state")
    if not number.isascii() or not number.isdigit():
        raise ValueError(f"qstat lists a job without a number: {number[:80]!r}")
    node = _text(entry, "queue_name", "").partition("@")[2]
    for task in _tasks(entry):
        yield Listed(
            id=number if task is None else f"{number}_{task}",
            name=_text(entry, "JB_name"),
            seen=_seen(state),
            reason=_reason(state),
            node=node,
            task=task,
        )


def _tasks(entry: Element) -> Iterator[int | None]:
    """Numbers in `1,3-9:2`; None once where the job is no array."""
    ranges = _text(entry, "tasks", "")
    if not ranges:
        yield None
        return
    for part in ranges.split(","):
        found = _TASKS.fullmatch(part.strip())
        if found is None:
            raise ValueError(f"qstat lists tasks that are no numbers: {part[:80]!r}")
        first, last, step = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
        if not step or last < first or last - first > _MOST_TASKS:
            raise ValueError(f"qstat lists tasks that are no range: {part[:80]!r}")
        yield from range(first, last + 1, step)


def _seen(state: str) -> AttemptStatus:
    """An `E` is for good until the site's administrator clears it: the job will not run."""
    if not state or set(state) - set("hqwrtRsSTdEzP"):
        raise ValueError(f"qstat lists a state that is none: {state[:80]!r}")
    if "E" in state or state == "z":
        return AttemptStatus.ENDED
    if "r" in state or "t" in state or set("sST") & set(state):
        return AttemptStatus.RUNNING
    return AttemptStatus.HELD if "h" in state else AttemptStatus.QUEUED


def _reason(state: str) -> str:
    if "E" in state:
        return (
            f"Grid Engine could not start it and set its error state ({state}); `qstat -explain E` says why."
        )
    if set("sST") & set(state):
        return f"suspended ({state})"
    return f"being deleted ({state})" if "d" in state else ""


def _document(text: str) -> Element:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("qstat's list has a document type, which it never has")
    try:
        root = ElementTree.fromstring(text.strip())  # noqa: S314 - entities cannot be declared, see above
    except ElementTree.ParseError as error:
        raise ValueError(f"qstat printed no whole XML: {error}") from None
    if root.tag != "job_info":
        raise ValueError(f"qstat printed another document: {root.tag[:80]!r}")
    return root


def _text(entry: Element, tag: str, default: str | None = None) -> str:
    found = entry.findtext(tag, default)
    if found is None:
        raise ValueError(f"qstat's list lacks {tag}")
    return found.strip()


def _number(entry: Element, tag: str, default: str | None = None) -> int:
    value = _text(entry, tag, default)
    if not value.isascii() or not value.isdigit():
        raise ValueError(f"{tag} is no count: {value[:80]!r}")
    return int(value)


def _seconds(value: str) -> float | None:
    """Seconds in `infinity`, `600` or `0:10:0`."""
    if value.lower() == "infinity":
        return None
    parts = value.split(":")
    if len(parts) > 3 or not all(part.isascii() and part.isdigit() for part in parts):
        raise ValueError(f"h_rt is no time: {value[:80]!r}")
    seconds = 0
    for part in parts:
        seconds = 60 * seconds + int(part)
    return float(seconds)


def _megabytes(value: str) -> int:
    """MiB in `23.541G`; 0 where it is not told."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)", value)
    if found is None:
        return 0
    return int(float(found[1]) * _UNITS.get(found[2], 1 / 1024 / 1024))


def read_nodes(out: str) -> NodeReport:
    """Chosen lines of `qstat -f -F -xml`, names of complexes that are true or not, `host complex=value,...`.

    Raises ValueError.
    """
    parts = out.split(f"{SEPARATOR}\n")
    if len(parts) != 3:
        raise ValueError(f"Grid Engine described no hosts: {out[:200]!r}")
    truths = set(parts[1].split())
    capacity = {
        host: _values(values) for host, _, values in (line.partition(" ") for line in parts[2].splitlines())
    }
    found: dict[str, list[NodeType]] = {}
    queues: dict[str, set[str]] = {}
    free: dict[str, str] = {}
    for instance in _instances(parts[0]):
        if "B" in instance.facts.get("qtype", ""):
            queue, _, host = instance.name.partition("@")
            found.setdefault(queue, []).append(_node(instance, capacity.get(host, {}), truths))
            # Without slots of the host those of its queues are there side by side.
            if "slots" in capacity.get(host, {}):
                queues.setdefault(host, set()).add(queue)
            free |= instance.of("gc")
    licenses = [
        License(name, _whole(total), min(_whole(total), _whole(free.get(name, "0"))))
        for name, total in capacity.get("global", {}).items()
    ]
    types = {queue: joined_types(some) for queue, some in found.items()}
    return NodeReport(types, licenses, shared=sharing(queues.values()))


@dataclass(frozen=True, slots=True)
class _Described:
    """One queue at one host in chosen lines."""

    name: str
    facts: dict[str, str] = field(default_factory=dict)
    resources: dict[tuple[str, str], str] = field(default_factory=dict)
    """Name and kind (`hc`: what is left of what the host has) to its value."""

    def of(self, kind: str) -> dict[str, str]:
        """Values of one kind."""
        return {name: value for (name, one), value in self.resources.items() if one == kind}


def _instances(text: str) -> list[_Described]:
    found: list[_Described] = []
    among_jobs = True
    for line in text.splitlines():
        parts = _LINE.search(line)
        tag, fact, resource, kind, value = parts.groups() if parts else ("", "", "", "", "")
        if tag == "name":
            found.append(_Described(fact))
        among_jobs = tag != "name" and (among_jobs or "<job_list" in line)
        if among_jobs or not parts:
            continue  # jobs have states too
        if tag:
            found[-1].facts[tag] = fact
        else:
            found[-1].resources[resource, kind] = value
    return found


def _node(instance: _Described, capacity: Mapping[str, str], truths: Collection[str]) -> NodeType:
    left, fixed = instance.of("hc"), instance.of("hf") | instance.of("qf")
    gpus = next((_whole(value) for name, value in capacity.items() if re.fullmatch(GPUS, name)), 0)
    free = next((_whole(value) for name, value in left.items() if re.fullmatch(GPUS, name)), 0)
    usable = not instance.facts.get("state", "")
    machine = instance.facts.get("arch", "").rpartition("-")[2]
    return NodeType(
        count=1,
        cpus=count_in(instance.facts.get("slots_total", "")),
        memory=_megabytes(instance.resources.get(("mem_total", "hl"), "")),
        gpus=gpus,
        gpu_model=next((value for name, value in fixed.items() if _GPU_MODEL.fullmatch(name)), "")
        if gpus
        else "",
        gpus_free=min(gpus, free) if usable else 0,
        features=tuple(sorted(name for name, value in fixed.items() if name in truths and _whole(value))),
        machine={"amd64": "x86_64"}.get(machine, machine),
    )


def _values(text: str) -> dict[str, str]:
    return dict(part.partition("=")[::2] for part in text.split(",") if "=" in part)


def _whole(text: str) -> int:
    """The number in `2.000000`, and of what is true."""
    return 1 if text.upper() == "TRUE" else count_in(text.partition(".")[0])


def read_projects(out: str) -> Entitlements:
    """Names of projects, a separator, and the user's own; raises ValueError."""
    projects, separator, default = out.partition(f"{SEPARATOR}\n")
    if not separator:
        raise ValueError(f"qconf did not list all projects: {out[:200]!r}")
    return Entitlements([Association(name) for name in projects.split()], default.strip())
