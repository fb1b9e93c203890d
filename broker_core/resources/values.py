"""A resource as expressions see it: values by lower-case GLUE name (CB-ENV-04)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from broker_core.jdl.glue.attributes import ALIASES, GLUE
from broker_core.jdl.glue.glue2 import SAME
from broker_core.resources.record import Resource

COUNTS: Mapping[str, str] = {
    "glueceinfototalcpus": "total",
    "gluecestatefreecpus": "free",
    "gluecestatefreejobslots": "free",
    "gluehostfreecpus": "free",
    "glue2computingsharefreeslots": "free",
    "gluecestaterunningjobs": "running",
    "glue2computingsharerunningjobs": "running",
    "gluecestatewaitingjobs": "waiting",
    "glue2computingsharewaitingjobs": "waiting",
    "gluecestatetotaljobs": "jobs",
    "glue2computingsharetotaljobs": "jobs",
}
"""Names whose value is a count of the record whatever was published: it knows what was given out since."""
TOTALS = frozenset(newer for older, newer, _ in SAME if older == "glueceinfototalcpus")
"""Names that mean the total too, but keep the value that a site publishes for them."""
ANSWERS: Mapping[str, Any] = {
    "gluecestateestimatedresponsetime": 0,
    "gluecestateworstresponsetime": 0,
    "glue2computingshareestimatedaveragewaitingtime": 0,
    "glue2computingshareestimatedworstwaitingtime": 0,
    "gluecestatestatus": "Production",
    "glue2computingshareservingstate": "Production",
}
"""What an idle resource would say where it says anything."""


def values(resource: Resource) -> dict[str, Any]:
    """All values of a resource; the counts of the record have precedence over published ones."""
    found = facts(resource.attributes, resource.ce, resource.site)
    total, free = resource.total_cpus, resource.free_cpus
    found |= counts(total, free, resource.running, resource.waiting)
    for name in TOTALS:
        found.setdefault(name, total)
    return found


def facts(attributes: Mapping[str, Any], ce: str, site: str) -> dict[str, Any]:
    """The values of a resource but for its counts, in both vocabularies."""
    found = {name.lower(): _value(value) for name, value in attributes.items()}
    found["glueceuniqueid"] = ce
    found.setdefault("gluesitename", site)
    _share(found)
    for older, newer, factor in SAME:
        if older in COUNTS:
            continue
        if older in found and newer not in found:
            found[newer] = _newer(found[older], factor)
        elif newer in found and older not in found:
            found[older] = _older(found[newer], factor)
    _share(found)
    for name in COUNTS:
        found.pop(name, None)
    return found


def _share(found: dict[str, Any]) -> None:
    """Names with one meaning get one value."""
    for one, other in ALIASES:
        if one in found:
            found[other] = found[one]
        elif other in found:
            found[one] = found[other]


def counts(total: int, free: int, running: int, waiting: int) -> dict[str, int]:
    """The values of the counts under all their names."""
    by_count = {"total": total, "free": free, "running": running, "waiting": waiting}
    by_count["jobs"] = running + waiting
    return {name: by_count[count] for name, count in COUNTS.items()}


def cased(found: Mapping[str, Any]) -> dict[str, Any]:
    """The values under the names as the schemas write them."""
    return {GLUE[name].name if name in GLUE else name: value for name, value in found.items()}


def _newer(value: Any, factor: int) -> Any:
    """The value in the newer schema, whose truth values are words."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value * factor if factor != 1 and isinstance(value, int) else value


def _older(value: Any, factor: int) -> Any:
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    return value // factor if factor != 1 and isinstance(value, int) else value


def _value(value: Any) -> Any:
    return list(value) if isinstance(value, tuple | set | frozenset) else value


def idle(resource: Resource) -> Resource:
    """The resource as it would be with nothing running and nobody waiting."""
    quiet = {name: ANSWERS.get(name.lower(), value) for name, value in resource.attributes.items()}
    return replace(resource, free_cpus=resource.total_cpus, running=0, waiting=0, attributes=quiet)
