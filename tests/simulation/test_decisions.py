"""Any change of the production scheduler's decisions shows up here."""

from __future__ import annotations

import json

import pytest

from broker_core.jobs.events import JobEvent
from broker_core.scheduling.config import SchedulerConfig
from broker_core.simulation import production
from broker_core.simulation.replay import TraceReplay
from tests.simulation.made import replayed, sites, workload
from tests.simulation.recorded import RECORD, SCENARIOS

_TOLD = (
    "The scheduler decides otherwise than it did. If that is meant, look at the figures, record them anew"
    " with `python -m tests.simulation.recorded`, and say in the commit why they changed."
)


@pytest.mark.parametrize("name", SCENARIOS)
def test_decisions_are_those_recorded(name: str) -> None:
    assert SCENARIOS[name]() == json.loads(RECORD.read_text())[name], _TOLD


def test_the_record_tells_policies_and_circumstances_apart() -> None:
    digests = [decided["digest"] for decided in json.loads(RECORD.read_text()).values()]
    assert len(digests) == len(set(digests)) == len(SCENARIOS)


def test_the_same_workload_is_decided_alike_each_time() -> None:
    runs = [replayed(workload(5, load=1.5), sites({"a": 8, "b": 12})) for _ in range(2)]
    assert runs[0].start.tolist() == runs[1].start.tolist()
    assert runs[0].place.tolist() == runs[1].place.tolist()


def test_every_job_ends_with_the_row_that_its_events_add_up_to() -> None:
    trace = workload(2, jobs=100)
    stories: dict[str, list[JobEvent]] = {}
    run = TraceReplay(
        trace,
        sites({"a": 8}),
        production.core(),
        lambda event: stories.setdefault(event.job, []).append(event),
    )
    run.run()
    assert len(stories) == len(trace)
    for index, story in ((int(job), story) for job, story in stories.items()):
        types = [event.type.value.removeprefix("job.") for event in story]
        assert types[:2] == ["accepted", types[1]]
        assert types[-4:] == ["matched", "scheduled", "running", "done"]
        assert [event.seq for event in story] == list(range(2, len(story) + 2))
        assert story[-1].time == trace.begin + run.end[index]


def test_without_a_cache_every_selection_waits_for_the_answers_of_all_sites() -> None:
    trace = workload(4, jobs=60, load=0.2, widest=1)
    places = tuple(
        type(site)(site.name, site.cpus, answer_delay=delay)
        for site, delay in zip(sites({"a": 8, "b": 8}), (0.5, 3.0), strict=True)
    )
    cached = TraceReplay(trace, places, production.core())
    asking = TraceReplay(trace, places, production.core(rules=SchedulerConfig(cache=False)))
    for run in (cached, asking):
        run.run()
    waits = [start - submit for start, submit in zip(asking.start, trace.submit, strict=True)]
    assert max(start - submit for start, submit in zip(cached.start, trace.submit, strict=True)) == 0
    assert min(waits) >= 0.5, "nothing is known before the first site has answered"
