"""What a computing element publishes about itself (GLUE 2 in JSON), as facts for the Resource Cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from broker_core.information.glue.entries import Entries
from broker_core.information.glue.join import joined
from broker_core.information.updater import SourceFailed
from broker_core.jdl.glue.attributes import GLUE
from broker_core.resources.facts import Facts
from broker_core.wire.sites import SiteSpec

_CLASSES = {
    "ComputingService": ("GLUE2ServiceID", ("ComputingService", "Service", "Entity")),
    "ComputingEndpoint": ("GLUE2EndpointID", ("ComputingEndpoint", "Endpoint", "Entity")),
    "ComputingShare": ("GLUE2ShareID", ("ComputingShare", "Share", "Entity")),
    "ComputingManager": ("GLUE2ManagerID", ("ComputingManager", "Manager", "Entity")),
    "ExecutionEnvironment": ("GLUE2ResourceID", ("ExecutionEnvironment", "Resource", "Entity")),
    "ApplicationEnvironment": ("GLUE2ApplicationEnvironmentID", ("ApplicationEnvironment", "Entity")),
}
"""Class to the name of its identifier, and to the classes whose attributes it has."""
_OWNERS = {
    "ComputingEndpoint": "GLUE2EndpointServiceForeignKey",
    "ComputingShare": "GLUE2ShareServiceForeignKey",
    "ComputingManager": "GLUE2ManagerServiceForeignKey",
    "ExecutionEnvironment": "GLUE2ResourceManagerForeignKey",
    "ApplicationEnvironment": "GLUE2ApplicationEnvironmentComputingManagerForeignKey",
}
"""Class to the attribute that names what it belongs to: the object around it."""
_ASSOCIATED = {"ExecutionEnvironmentID": "GLUE2ShareResourceForeignKey"}
_NOTHING = ("UNDEFINEDVALUE", "undefined", "999999999", "")
"""What A-REX publishes where it knows nothing."""


def facts_of_site(document: bytes, spec: SiteSpec, port: int) -> tuple[Facts, ...]:
    """One computing element for each queue to be used, called after the site; raises SourceFailed."""
    found = []
    for one in published(document):
        queue = str(one.attributes.get("GLUE2ComputingShareMappingQueue", ""))
        if queue and (not spec.queues or queue in spec.queues):
            ce = f"{spec.name}:{port}/jobmanager-arc-{queue}"
            found.append(Facts(ce, spec.name, one.attributes, one.static))
    if not found:
        raise SourceFailed(
            "The site publishes no queue that is to be used.",
            place=spec.name,
            remedy="Look at the queues in the settings of the site.",
        )
    return tuple(found)


def published(document: bytes) -> list[Facts]:
    """The computing elements of a document, called as it calls them; raises SourceFailed."""
    try:
        tree = orjson.loads(document)
    except orjson.JSONDecodeError as error:
        raise SourceFailed(f"What the site publishes cannot be read: {error}.") from error
    entries = Entries()
    for kind, owner, values in _objects(tree, ""):
        identifier = str(values.get("ID", ""))
        name = f"{_CLASSES[kind][0]}={identifier}".encode()
        entries.add(name, _attributes(kind, owner, values))
    return joined(entries)


def _objects(tree: Any, owner: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Class, identifier of the object around, and attributes of each object."""
    if not isinstance(tree, dict):
        return
    for key, below in tree.items():
        for one in below if isinstance(below, list) else [below]:
            if not isinstance(one, dict):
                continue
            if key in _CLASSES:
                yield key, owner, one
            yield from _objects(one, str(one.get("ID", owner)))


def _attributes(kind: str, owner: str, values: Mapping[str, Any]) -> dict[bytes, list[bytes]]:
    identifier, classes = _CLASSES[kind]
    found = {identifier.encode(): [str(values.get("ID", "")).encode()]}
    if kind in _OWNERS:
        found[_OWNERS[kind].encode()] = [owner.encode()]
    for name, value in {**values, **_associations(values)}.items():
        texts = [str(one) for one in (value if isinstance(value, list) else [value])]
        texts = [text for text in texts if text not in _NOTHING and not isinstance(value, dict)]
        usual = _ASSOCIATED.get(name) or next(
            (f"GLUE2{one}{name}" for one in classes if f"glue2{one}{name}".lower() in GLUE), ""
        )
        if texts and usual:
            found[usual.encode()] = [text.encode() for text in texts]
    return found


def _associations(values: Mapping[str, Any]) -> Mapping[str, Any]:
    found = values.get("Associations")
    return {name: found[name] for name in _ASSOCIATED if name in found} if isinstance(found, dict) else {}
