"""What is known of the resources, as it is shown (CB-UI-09)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_core.errors import NotFound
from broker_core.resources.record import Resource
from broker_core.resources.tags import run_time_tags
from broker_core.resources.values import values
from broker_core.wire.resources import RESOURCE_COLUMNS, AttributeView, ResourceDetail

LOCAL = "local"
"""Name of the source that tells of the broker's own sites."""


def rows_of(resources: Sequence[Resource]) -> dict[str, list[Any]]:
    """The columns of a resources page for these resources."""
    rows = [_row(resource) for resource in resources]
    return {name: [row[place] for row in rows] for place, name in enumerate(RESOURCE_COLUMNS)}


def _row(resource: Resource) -> tuple[Any, ...]:
    met = values(resource)
    return (
        resource.ce,
        resource.site,
        str(met.get("gluesitecountry", "")),
        _degrees(met.get("gluesitelatitude")),
        _degrees(met.get("gluesitelongitude")),
        str(met.get("glueceinfolrmstype", "")),
        resource.total_cpus,
        resource.free_cpus,
        0,
        resource.running,
        resource.waiting,
        resource.updated,
        LOCAL,
        "",
        "",
        None,
        len(run_time_tags(met)),
        True,
    )


def _degrees(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def detail_of(resources: Sequence[Resource], name: str) -> ResourceDetail:
    """Everything known of one computing element, which may be named by its site; raises NotFound."""
    for resource in resources:
        if name in (resource.ce, resource.site):
            return ResourceDetail(
                ce=resource.ce,
                site=resource.site,
                attributes=[
                    AttributeView(name=key, value=value, source=LOCAL, heard=resource.updated)
                    for key, value in sorted(resource.attributes.items())
                ],
                times=[resource.updated],
                free=[resource.free_cpus],
                waiting=[resource.waiting],
            )
    raise NotFound(
        "No such resource is known.", place=name, remedy="`crossdesk site list --all` shows those that are."
    )
