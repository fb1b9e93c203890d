"""The `[[sources]]` and `[replicas]` tables of the settings.

[[sources]]
name = "grid"
kind = "ldap"
address = "ldap://bdii.example.org:2170"
interval = 120
deadline = 60

[sources.options]
schemas = ["1.3", "2.0"]

[replicas]
kind = "ldap"
address = "ldap://rls.example.org:39281/rc=data,o=grid"
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from broker_core.errors import BadRequest
from broker_core.information.kinds import DISABLED
from broker_core.information.updater import DEADLINE, INTERVAL, SourceSettings

SHORTEST = 1.0
"""Seconds: a source is not asked more often than this."""
LONGEST = 86_400.0
RESERVED = frozenset({"local"})
"""Names of sources that the broker makes itself."""
REPLICA_KINDS = ("embedded", "http", "ldap")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,62}")
_SOURCE_KEYS = {"name", "kind", "address", "path", "interval", "deadline", "enabled", "options"}
_REPLICA_KEYS = {"kind", "address", "deadline", "options", "described"}


@dataclass(frozen=True, slots=True)
class ReplicaSettings:
    """The `[replicas]` table: which catalogue knows where files are (CB-UPD-06)."""

    kind: str = "embedded"
    """One of `REPLICA_KINDS`."""
    address: str = ""
    """URL of the catalogue; for the embedded one the path of its document, or empty for the usual place."""
    deadline: float = 10.0
    """Seconds after which an answer is given up."""
    options: Mapping[str, Any] = field(default_factory=dict)
    described: tuple[str, ...] = ()
    """Further catalogues that descriptions may name on a shared broker; an embedded one asks any."""


def sources(table: object, place: str) -> tuple[SourceSettings, ...]:
    """The sources of a parsed `[[sources]]` table. `place`: the file it is in.

    Raises BadRequest that names the file, the source and the setting.
    """
    if not isinstance(table, Sequence) or isinstance(table, str | bytes):
        raise BadRequest("sources must be tables.", place=place, remedy="Write [[sources]] above each.")
    found: dict[str, SourceSettings] = {}
    for number, one in enumerate(table, 1):
        source = _source(one, number, place)
        if source.name in found:
            raise _wrong(place, source.name, "is there twice", "Give each source its own name.")
        found[source.name] = source
    return tuple(found.values())


def replicas(table: object, place: str) -> ReplicaSettings:
    """The parsed `[replicas]` table; raises BadRequest that names the file and the setting."""
    where = "replicas"
    given = _table(table, _REPLICA_KEYS, place, where)
    kind = _text(given, "kind", "embedded", place, where)
    if kind not in REPLICA_KINDS:
        raise _wrong(place, where, f"has an unknown kind {kind!r}", f"Use {', '.join(REPLICA_KINDS)}.")
    address = _text(given, "address", "", place, where)
    schemes = {"http": ("http://", "https://"), "ldap": ("ldap://", "ldaps://"), "embedded": ("",)}[kind]
    if not address.startswith(schemes):
        raise _wrong(place, where, "needs an address", f"Write one that starts with {schemes[0]}.")
    deadline = _seconds(given, "deadline", 10.0, place, where)
    described = given.get("described", [])
    if not isinstance(described, list) or not all(isinstance(one, str) for one in described):
        raise _wrong(place, where, "needs a list of addresses as its described", 'Write ["ldap://..."].')
    return ReplicaSettings(kind, address, deadline, _options(given, place, where), tuple(described))


def _source(table: object, number: int, place: str) -> SourceSettings:
    where = f"source {number}"
    given = _table(table, _SOURCE_KEYS, place, where)
    name = _text(given, "name", "", place, where)
    if not _NAME.fullmatch(name) or name in RESERVED:
        raise _wrong(place, where, f"cannot have the name {name!r}", "Use letters, digits, - _ and dots.")
    kind = _text(given, "kind", "", place, name)
    if not kind:
        raise _wrong(place, name, "has no kind", 'Write kind = "ldap" or kind = "file".')
    if "address" in given and "path" in given:
        raise _wrong(place, name, "has an address and a path", "Keep the one that its kind needs.")
    enabled = given.get("enabled", kind not in DISABLED)
    if not isinstance(enabled, bool):
        raise _wrong(place, name, "must be enabled = true or false", "Write it without quotes.")
    interval = _seconds(given, "interval", INTERVAL, place, name)
    return SourceSettings(
        name=name,
        kind=kind,
        address=_text(given, "path" if "path" in given else "address", "", place, name),
        interval=interval,
        deadline=_seconds(given, "deadline", min(DEADLINE, max(interval, SHORTEST)), place, name),
        enabled=enabled,
        options=_options(given, place, name),
    )


def _table(table: object, keys: set[str], place: str, where: str) -> Mapping[str, Any]:
    if not isinstance(table, Mapping):
        raise _wrong(place, where, "is no table", "Write its settings as name = value.")
    if unknown := sorted(str(key) for key in table if key not in keys):
        known = ", ".join(sorted(keys))
        raise _wrong(place, where, f"has an unknown setting {unknown[0]}", f"Known are {known}.")
    return table


def _text(given: Mapping[str, Any], key: str, default: str, place: str, where: str) -> str:
    value = given.get(key, default)
    if not isinstance(value, str):
        raise _wrong(place, where, f"needs a text as its {key}", "Put it into quotes.")
    return value


def _seconds(given: Mapping[str, Any], key: str, default: float, place: str, where: str) -> float:
    value = given.get(key, default)
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not SHORTEST <= value <= LONGEST:
        remedy = f"Write a number of seconds from {SHORTEST:g} to {LONGEST:g}."
        raise _wrong(place, where, f"has an {key} that cannot be".replace("an d", "a d"), remedy)
    return float(value)


def _options(given: Mapping[str, Any], place: str, where: str) -> Mapping[str, Any]:
    options = given.get("options", {})
    if not isinstance(options, Mapping):
        raise _wrong(place, where, "has options that are no table", "Write [sources.options] above them.")
    return dict(options)


def _wrong(place: str, where: str, what: str, remedy: str) -> BadRequest:
    subject = where if where.startswith("source ") or where == "replicas" else f"source {where}"
    return BadRequest(f"The {subject} {what}.", place=place, remedy=remedy)
