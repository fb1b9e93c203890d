"""What a comparison knows of its jobs, and how it calls them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from broker_core.wire.views import JobDetail

if TYPE_CHECKING:
    from broker_core.client.client import BrokerClient

_PART = 1 << 20
_ID = 6
"""Characters of an id that tell jobs of one name apart."""


@dataclass(frozen=True, slots=True)
class ComparedJob:
    """One column of the comparison."""

    id: str
    row: dict[str, Any]
    """As last known; empty if it never was."""
    detail: JobDetail | None = None
    """None: it is not known yet, or cannot be had."""
    problem: str = ""
    """Why the detail cannot be had."""

    @property
    def parameter(self) -> str:
        """The value that replaces `_PARAM_`, or an empty text."""
        return str(self.row.get("parameter") or "")


@dataclass(frozen=True, slots=True)
class FileHead:
    """The beginning of a file."""

    content: bytes
    size: int
    """Bytes of the whole file."""

    @property
    def cut(self) -> bool:
        """True if there is more than was read."""
        return self.size > len(self.content)


def titles(jobs: Sequence[ComparedJob]) -> list[str]:
    """Names by which the jobs can be told apart: with the value, or else the beginning of the id."""
    names = [str(job.row.get("name") or job.id) for job in jobs]
    if len(set(names)) == len(names):
        return names
    valued = [
        f"{name} · {job.parameter}" if job.parameter and job.parameter not in name else name
        for name, job in zip(names, jobs, strict=True)
    ]
    known = Counter(valued)
    return [
        name if known[name] == 1 else f"{name} · {job.id[:_ID]}"
        for name, job in zip(valued, jobs, strict=True)
    ]


async def read_head(client: BrokerClient, job: str, path: str, most: int) -> FileHead:
    """Read at most `most` bytes of a file in parts; raises what the client raises."""
    content = bytearray()
    size = 0
    while len(content) < most:
        part = await client.read_file(job, path, len(content), min(_PART, most - len(content)))
        size = max(part.size, len(content))
        content += part.content
        if not part.content or len(content) >= part.size:
            break
    return FileHead(bytes(content), max(size, len(content)))
