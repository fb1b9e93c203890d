"""What a job asks of a resource: equal demands are matched once (autoclusters)."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.jdl.description import JobDescription
from broker_core.jdl.syntax.tree import Ad, Reference, walk
from broker_core.matching.own_requirements import FOR_THE_JOB_ALONE

PARAMETER = "_PARAM_"
"""What the parameter value of a job replaces in its description."""


@dataclass(frozen=True, slots=True)
class Demand:
    """A class of jobs that every resource treats alike."""

    key: str
    """Equal for jobs that match the same resources."""
    description: JobDescription
    """The description of one of them."""
    site: str = ""
    """The only site allowed; empty: any."""

    @property
    def inter_cluster(self) -> bool:
        """True for a job that may use several computing elements."""
        return "inter-cluster" in self.description.needs


def demand_of(description: JobDescription, text: str, parameter: str = "", site: str = "") -> Demand:
    """The demand of a job: the attributes that matching may read, as they were written in `text`."""
    key = significant(description.ad, text)
    if PARAMETER in key:
        key += f"\n{parameter}"
    return Demand("\n".join((site, str(description.cpus), *description.needs, key)), description, site)


def significant(ad: Ad, text: str) -> str:
    """The part of a description that matching may read; all of it where an expression names the rest."""
    parts = []
    for entry in ad:
        if entry.name.lower() in FOR_THE_JOB_ALONE:
            continue
        if any(_names_the_job_alone(node) for node in walk(entry.value)):
            return text
        parts.append(text[entry.start : entry.end])
    return "\n".join(parts)


def _names_the_job_alone(node: object) -> bool:
    return isinstance(node, Reference) and node.name.lower() in FOR_THE_JOB_ALONE
