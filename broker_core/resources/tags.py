"""What a resource says of itself in run-time tags (CB-TAG-01 to CB-TAG-04)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

ABILITIES = "CrossDeskAbilities"
"""Attribute with the abilities that a site adapter offers, in the words of `JobDescription.needs`."""
MPI_TAGS: Mapping[str, str] = {
    "openmpi": "OPENMPI",
    "mpich": "MPICH",
    "pacx-mpi": "PACX-MPI",
    "mpich-g2": "MPICH-G2",
}
"""SubJobType to the tag that a site must show (CB-TAG-02)."""
_SLOTS = re.compile(r"PolicyMaxSlotsPerJobs_(?P<queue>[^=]+)=(?P<count>[1-9][0-9]{0,8})")
_TAGS = "gluehostapplicationsoftwareruntimeenvironment"


def run_time_tags(values: Mapping[str, Any]) -> tuple[str, ...]:
    """The tags of a resource, from its values by lower-case name."""
    tags = values.get(_TAGS, ())
    return (tags,) if isinstance(tags, str) else tuple(tag for tag in tags if isinstance(tag, str))


def abilities(values: Mapping[str, Any]) -> frozenset[str]:
    """What the resource can do for a job beyond running one program."""
    published = values.get(ABILITIES.lower(), ())
    return frozenset({published} if isinstance(published, str) else published)


def has_tag(values: Mapping[str, Any], tag: str) -> bool:
    """True if the tag is shown, alone or with a version behind it, whatever the case."""
    wanted = tag.lower()
    return any(
        one.lower() == wanted or (one.lower().startswith(f"{wanted}-") and one[len(tag) + 1 :][:1].isdigit())
        for one in run_time_tags(values)
    )


def most_cpus(values: Mapping[str, Any], total: int) -> int:
    """Most CPUs that one job may have there (CB-TAG-03); a malformed tag counts as absent (CB-TAG-04)."""
    queue = str(values.get("gluecename", "")) or str(values.get("glueceuniqueid", "")).rpartition("-")[2]
    for tag in run_time_tags(values):
        found = _SLOTS.fullmatch(tag)
        if found and found["queue"] == queue:
            return min(total, int(found["count"]))
    limit = values.get("gluecepolicymaxslotsperjob")
    return min(total, limit) if type(limit) is int and limit > 0 else total
