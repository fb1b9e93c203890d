"""What a resource says of itself in run-time tags (CB-TAG-01 to CB-TAG-04)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

ABILITIES = "CrossDeskAbilities"
"""Attribute with the abilities that a site adapter offers, in the words of `JobDescription.needs`."""
TAGS = "gluehostapplicationsoftwareruntimeenvironment"
"""Lower-case name of the attribute that holds the tags."""
MPI_TAGS: Mapping[str, str] = {
    "openmpi": "OPENMPI",
    "mpich": "MPICH",
    "pacx-mpi": "PACX-MPI",
    "mpich-g2": "MPICH-G2",
}
"""SubJobType to the tag that a site must show (CB-TAG-02)."""
MODULE, CONTAINER, PYTHON = "MODULE:", "CONTAINER:", "PYTHON:"
"""Beginnings of tags that name an environment module, a container runtime, and what makes Python environments
(a version of python3, uv, conda). A site with no such tag has not told; one that is bare says that it has
none."""
MORE = "..."
"""Stands behind the last name of a list that is longer than what is published."""
SLOTS_TAG = r"PolicyMaxSlotsPerJobs_(?P<queue>[^=]+)=(?P<count>.*)"
"""Pattern of the tag with the most CPUs that one job may have in a queue (CB-TAG-03)."""
_COUNT = re.compile(r"[1-9][0-9]{0,8}")


def listed(value: Any) -> tuple[str, ...]:
    """The strings of an attribute that holds one or several."""
    if isinstance(value, str):
        return (value,)
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list | tuple) else ()


def named(tags: Any, kind: str) -> tuple[str, ...] | None:
    """Names of a kind of software (MODULE, CONTAINER or PYTHON), MORE too; None where they are not known."""
    found = [tag[len(kind) :] for tag in listed(tags) if tag.startswith(kind)]
    return tuple(filter(None, found)) if found else None


def shows(tags: Any, tag: str) -> bool:
    """True if a tag is among the tags, alone or with a version behind it, whatever the case."""
    wanted = tag.lower()
    return any(
        one.lower() == wanted or (one.lower().startswith(f"{wanted}-") and one[len(tag) + 1 :][:1].isdigit())
        for one in listed(tags)
    )


def slots(tags: Any, pattern: str = SLOTS_TAG) -> Iterator[tuple[str, str]]:
    """Queue and count, as written, of each tag that limits the CPUs of one job."""
    matched = re.compile(pattern).fullmatch
    for tag in listed(tags):
        if found := matched(tag):
            yield found["queue"], found["count"]


def is_count(text: str) -> bool:
    """True for a positive whole number; a tag with anything else counts as absent (CB-TAG-04)."""
    return _COUNT.fullmatch(text) is not None


def queue_name(value_of: Callable[[str], Any]) -> str:
    """The queue of a computing element, by its name or the end of its id; reads values by lower-case name."""
    name = value_of("gluecename")
    return name if isinstance(name, str) and name else str(value_of("glueceuniqueid")).rpartition("-")[2]


def slots_limit(value_of: Callable[[str], Any], pattern: str = SLOTS_TAG) -> int | None:
    """Most CPUs that one job may have there by tag or published limit (CB-TAG-03); None: all."""
    queue = queue_name(value_of)
    for name, count in slots(value_of(TAGS), pattern):
        if name == queue and is_count(count):
            return int(count)
    limit = value_of("gluecepolicymaxslotsperjob")
    return limit if type(limit) is int and limit > 0 else None
