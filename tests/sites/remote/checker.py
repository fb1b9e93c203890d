"""Compares what a site reported with what the batch system itself recorded."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from broker_core.jobs.placement import Component
from tests.sites.remote.far_site import Far
from tests.testbed.slurm import Cluster


def check(sites: Iterable[Far], cluster: Cluster, attempts: Iterable[Component], ran: Path) -> None:
    """Every attempt ended exactly once well, ran exactly once, and nothing of it is left in the batch system.

    `ran`: file to which each program adds its tag.
    """
    attempts = list(attempts)
    tags = sorted(one.tag for one in attempts)
    sites = list(sites)
    for attempt in attempts:
        ends = [end for far in sites for end in far.ends(attempt)]
        assert [(end.exit_code, end.failure) for end in ends] == [(0, "")], (attempt.tag, ends)
    assert sorted(ran.read_text().split()) == tags
    names = [job.name.partition(".")[2] for job in cluster.all_completed() if job.started]
    started = [name for name in names if name in tags]
    assert sorted(started) == sorted(set(started)), "a batch job of each attempt started once"
