"""The replica catalogue: where files are, asked on demand with a list of names (CB-UPD-06)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol
from urllib.parse import urlsplit

from broker_core.errors import BadRequest
from broker_core.resources.closeness import Replica

SCHEMES = ("lfn:", "guid:", "si-lfn:", "si-guid:")
"""How names of files in grid storage begin; a name without any of these is a logical one."""
MOST_NAMES = 10_000
"""Files of one question."""


class ReplicaCatalog(Protocol):
    """Knows where the copies of files are."""

    async def locations(self, names: Sequence[str]) -> Mapping[str, Replica]:
        """The files of `names` that the catalogue knows, by name as given; the others are left out.

        Raises SourceFailed if the catalogue does not answer: matching then goes on without it.
        """
        ...

    async def close(self) -> None:
        """Give back connections."""
        ...


def is_name(text: str) -> bool:
    """True for `lfn:/path`, `guid:identifier` and their like, and for a plain logical name."""
    if text.lower().startswith(SCHEMES):
        return bool(text.partition(":")[2])
    return bool(text) and ":" not in text and text.isprintable()


def checked(names: Iterable[str]) -> tuple[str, ...]:
    """The names, each once; raises BadRequest for what is none, or too many."""
    found = tuple(dict.fromkeys(names))
    if len(found) > MOST_NAMES:
        raise BadRequest(
            f"{len(found):,} files are more than {MOST_NAMES:,}.",
            place="InputData",
            remedy="Ask for fewer at a time.",
        )
    for name in found:
        if not is_name(name):
            raise BadRequest(
                "That is no name of a file in grid storage.",
                place=name[:200],
                remedy="Write lfn:/path or guid:identifier.",
            )
    return found


def replica(name: str, addresses: Iterable[str]) -> Replica:
    """A file with the addresses of its copies: `protocol://host[:port]/path`, or a storage element alone."""
    copies = dict.fromkeys(_copy(address) for address in addresses)
    return Replica(name, tuple(copy for copy in copies if copy[0]))


def _copy(address: str) -> tuple[str, str]:
    """Storage element and protocol."""
    if "://" not in address:
        return address.strip(), ""
    try:
        parts = urlsplit(address.strip())
        return parts.hostname or "", parts.scheme.lower()
    except ValueError:
        return "", ""
