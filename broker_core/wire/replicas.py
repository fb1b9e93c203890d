"""Where files in grid storage are, as the embedded catalogue keeps it."""

from __future__ import annotations

from pydantic import Field

from broker_core.wire.submission import Wire


class ReplicaView(Wire):
    """A file with the addresses of its copies."""

    name: str = Field(min_length=1, max_length=4096)
    """`lfn:/path`, `guid:identifier`, or a plain logical name."""
    addresses: list[str] = Field(max_length=1000)
    """Storage elements, or `protocol://host/path`."""


class ReplicaList(Wire):
    """Part of the catalogue, by name."""

    files: list[ReplicaView]
    more: bool = False
    """There are further ones."""
