"""Reads the Standard Workload Format, version 2.2: 18 numbers a line, comments behind `;`, gzip or plain.

Taken as they come: blank lines, more than 18 fields (the extended form of the Alea simulator), times that
count from the epoch, numbers with a fraction, jobs out of order, headers that are missing.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from broker_core.errors import BadRequest
from broker_core.simulation.trace import WorkloadTrace
from broker_core.system.file_errors import unusable

_FIELDS = 18
_HEADER = re.compile(r";\s*([A-Za-z]\w*)\s*:\s*(.*?)\s*$")
_PARTITION = re.compile(r"(\d+)\s+(\S.*)")
_EPOCH = 10**8
"""Submit times beyond this are moments, not seconds of the trace: three years would be a long trace."""


class _Job(NamedTuple):
    submit: float
    run: float
    cpus: int
    limit: float
    partition: int
    waited: float


def read_swf(path: Path) -> WorkloadTrace:
    """Read a trace; raises BadRequest with the line that is wrong, or if no job can be replayed."""
    try:
        with _opened(path) as lines:
            return _trace(path.name, lines)
    except (OSError, EOFError, zlib.error) as problem:
        remedy = "Give an SWF file, gzip or plain."
        raise unusable("The trace cannot be read", path, problem, remedy) from None


def _opened(path: Path):  # type: ignore[no-untyped-def]
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rt", errors="replace") if packed else path.open(errors="replace")


def _trace(name: str, lines: Iterable[str]) -> WorkloadTrace:
    header: dict[str, str] = {}
    partitions: dict[int, str] = {}
    jobs: list[_Job] = []
    left_out = 0
    for number, line in enumerate(lines, 1):
        if line.startswith(";"):
            _head(line, header, partitions)
        elif line.strip():
            job = _job(line, name, number)
            if job.run < 0 or job.cpus < 1:
                left_out += 1
            else:
                jobs.append(job)
    if not jobs:
        raise BadRequest(
            "The trace has no job that could be replayed.",
            place=name,
            remedy="A job needs a run time and a number of processors (fields 4 and 5, or 8).",
        )
    return _columns(name, jobs, header, partitions, left_out)


def _head(line: str, header: dict[str, str], partitions: dict[int, str]) -> None:
    found = _HEADER.match(line)
    if not found:
        return
    if found[1] == "Partition":
        if named := _PARTITION.match(found[2]):
            partitions[int(named[1])] = named[2]
    else:
        header.setdefault(found[1], found[2])


def _job(line: str, name: str, number: int) -> _Job:
    fields = line.split(None, _FIELDS)
    try:
        cpus = int(float(fields[4]))
        if cpus < 1:
            cpus = int(float(fields[7]))
        return _Job(
            float(fields[1]), float(fields[3]), cpus, float(fields[8]), int(fields[15]), float(fields[2])
        )
    except (ValueError, IndexError, OverflowError):
        raise BadRequest(
            f"This is no job of the Standard Workload Format: {line.strip()[:60]!r}.",
            place=f"{name}:{number}",
            remedy=f"A line has {_FIELDS} numbers, -1 where one is unknown; comments begin with a semicolon.",
        ) from None


def _columns(
    name: str, jobs: list[_Job], header: dict[str, str], partitions: dict[int, str], left_out: int
) -> WorkloadTrace:
    jobs.sort(key=lambda job: job.submit)
    origin = jobs[0].submit
    start = _whole(header.get("UnixStartTime", ""))
    return WorkloadTrace(
        name=name,
        submit=[job.submit - origin for job in jobs],
        run=[job.run for job in jobs],
        cpus=[job.cpus for job in jobs],
        limit=[job.limit for job in jobs],
        partition=[job.partition for job in jobs],
        waited=[job.waited for job in jobs],
        begin=origin if origin > _EPOCH else start + origin,
        processors=_whole(header.get("MaxProcs", "")) or _whole(header.get("MaxNodes", "")),
        partitions=partitions,
        header=header,
        left_out=left_out,
    )


def _whole(text: str) -> int:
    """The number that a header's text begins with; 0 without one."""
    return next((int(digits) for digits in _numbers(text)), 0)


def _numbers(text: str) -> Iterator[str]:
    if found := re.match(r"\d{1,12}", text):
        yield found[0]
