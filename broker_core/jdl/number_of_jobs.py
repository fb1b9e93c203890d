"""For how many jobs a description stands, and of how many CPUs each."""

from __future__ import annotations

from broker_core.jdl import parametric
from broker_core.jdl.check import check
from broker_core.jdl.collection import children, is_collection, nodes
from broker_core.jdl.description import JobDescription


def number_of_jobs(description: JobDescription) -> int:
    """1, unless it is a sweep or a collection; a graph is one job with nodes."""
    if description.ad is None:
        return 1
    if parametric.is_parametric(description.ad):
        return len(parametric.sequence(description.ad) or ())
    return len(nodes(description.ad)) if is_collection(description.ad) else 1


def cpus_of_each(description: JobDescription) -> tuple[int, int]:
    """The fewest and the most CPUs of one of its jobs; nodes in files of their own are not looked at."""
    if description.ad is None or not is_collection(description.ad):
        return description.cpus, description.cpus
    texts = {text for _, text in children(description.ad) if text is not None}
    found = [checked.description.cpus for checked in map(check, sorted(texts)) if checked.description]
    return min(found, default=description.cpus), max(found, default=description.cpus)
