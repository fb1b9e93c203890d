"""The scheduler, first come first served, against an independent model of the same system in SimPy."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from broker_core.client.package_data import folder
from broker_core.simulation.swf import read_swf
from broker_core.simulation.trace import WorkloadTrace
from tests.simulation.fcfs_model import modelled
from tests.simulation.made import replayed, sites, workload

ONE = {"one": 20}
SEVERAL = {"ape": 4, "bee": 8, "cat": 16, "dog": 8}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cpus", [ONE, SEVERAL], ids=["one site", "several sites"])
def test_every_job_starts_and_ends_where_and_when_simpy_says(cpus: Mapping[str, int], seed: int) -> None:
    _agree(workload(seed, load=0.5 + seed / 4), cpus)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cpus", [ONE, SEVERAL], ids=["one site", "several sites"])
def test_they_agree_when_much_happens_at_the_same_moment(cpus: Mapping[str, int], seed: int) -> None:
    _agree(workload(seed, whole=True, load=1.5), cpus)


def test_they_agree_on_the_log_of_a_real_grid_on_too_few_processors() -> None:
    cut = read_swf(folder("traces/lcg-2005.swf.gz")).first(3000)
    _agree(cut, {"lancs.ac.uk": 60, "rl.ac.uk": 90, "usc.cesga.es": 30, "ciemat.es": 20})


def _agree(trace: WorkloadTrace, cpus: Mapping[str, int]) -> None:
    ours = replayed(trace, sites(cpus))
    theirs = modelled(cpus, trace.submit, trace.run, trace.cpus)
    jobs = range(len(trace))
    names = list(cpus)
    assert [theirs.start[job] for job in jobs] == ours.start.tolist()
    assert [theirs.end[job] for job in jobs] == ours.end.tolist()
    assert [theirs.place[job] for job in jobs] == [names[at] for at in ours.place]
    assert ours.waits.max() > 0, "nobody ever waited: nothing was compared"
