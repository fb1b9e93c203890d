"""GLUE 1.3 entries of storage joined: what `other.storage.CloseSEs` shows of each storage element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.information.glue.entries import Entries, GlueEntry, by

StorageElements = dict[str, dict[str, Any]]
"""Storage element to its attributes by GLUE name."""
_LINKS = ("GlueForeignKey", "GlueChunkKey", "GlueSchemaVersionMajor", "GlueSchemaVersionMinor")
_FREE = ("GlueSAStateAvailableSpace", "GlueSAFreeOnlineSize")
_PROTOCOL = "GlueSEAccessProtocolType"


def storage_elements(entries: Entries) -> StorageElements:
    """All of an answer, each with the protocols by which it is read, and with the attributes of that of its
    areas which has the most space left: a description asks for an element where something fits."""
    areas = by(entries.of("area"), "GlueChunkKey")
    protocols = by(entries.of("protocol"), "GlueChunkKey")
    found: StorageElements = {}
    for element in entries.of("storage element"):
        name = element.text("GlueSEUniqueID")
        key = f"glueseuniqueid={name.lower()}"
        found[name] = _roomiest(areas.get(key, ())) | element.values | _protocols(protocols.get(key, ()))
        for link in _LINKS:
            found[name].pop(link, None)
    return found


def _roomiest(areas: Sequence[GlueEntry]) -> dict[str, Any]:
    return dict(max(areas, key=_space).values) if areas else {}


def _space(area: GlueEntry) -> int:
    free = [area.values[name] for name in _FREE if isinstance(area.values.get(name), int)]
    return free[0] if free else -1


def _protocols(entries: Sequence[GlueEntry]) -> dict[str, Any]:
    kinds = dict.fromkeys(kind for entry in entries for kind in entry.links(_PROTOCOL))
    return {_PROTOCOL: list(kinds)} if kinds else {}
