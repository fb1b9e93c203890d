"""A resource as expressions see it: values by lower-case GLUE name (CB-ENV-04)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from broker_core.jdl.glue import ALIASES
from broker_core.jdl.glue2 import SAME
from broker_core.resources.record import Resource


def values(resource: Resource) -> dict[str, Any]:
    """All values of a resource; the counts of the record have precedence over published ones."""
    found = {name.lower(): _value(value) for name, value in resource.attributes.items()}
    found["glueceuniqueid"] = resource.ce
    found["glueceinfototalcpus"] = resource.total_cpus
    found["gluecestatefreecpus"] = resource.free_cpus
    found["gluecestatefreejobslots"] = resource.free_cpus
    found["gluecestaterunningjobs"] = resource.running
    found["gluecestatewaitingjobs"] = resource.waiting
    found["gluecestatetotaljobs"] = resource.running + resource.waiting
    found.setdefault("gluesitename", resource.site)
    for one, other in ALIASES:
        if one in found:
            found[other] = found[one]
        elif other in found:
            found[one] = found[other]
    for older, newer, factor in SAME:
        if older in found and newer not in found:
            found[newer] = _newer(found[older], factor)
        elif newer in found and older not in found:
            found[older] = _older(found[newer], factor)
    return found


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


_IDLE = {"gluecestateestimatedresponsetime": 0, "gluecestateworstresponsetime": 0}
_STATUS = ("gluecestatestatus", "glue2computingshareservingstate")


def idle(resource: Resource) -> Resource:
    """The resource as it would be with nothing running and nobody waiting."""
    quiet = {
        name: _IDLE.get(name.lower(), "Production" if name.lower() in _STATUS else value)
        for name, value in resource.attributes.items()
    }
    return replace(resource, free_cpus=resource.total_cpus, running=0, waiting=0, attributes=quiet)
