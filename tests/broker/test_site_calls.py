"""What the scheduler wants done goes to the site whose it is."""

from __future__ import annotations

from broker_core.broker.engine.failpoints import FailPoints
from broker_core.broker.site_management.site_dispatcher import SiteDispatcher
from broker_core.jobs.attempt_events import AttemptEnded, AttemptRefused
from broker_core.jobs.placement import Component, shared
from broker_core.jobs.record import JobRecord
from broker_core.scheduling.effects import Cancel, Submit, of_components
from tests.broker.ready_sites import ready
from tests.broker.stand_in_site import Heard, Orders, StandIn
from tests.waiting import eventually

A, B = "a:22/jobmanager-slurm-q", "b:22/jobmanager-slurm-q"


async def started(*records: JobRecord) -> tuple[SiteDispatcher, Heard, dict[str, StandIn]]:
    """Sites `a` and `b`, both at work."""
    heard, sites = Heard({record.id: record for record in records}), {}
    calls = SiteDispatcher(heard, Orders(), FailPoints())  # type: ignore[arg-type]
    for name in "ab":
        sites[name] = StandIn()
        sites[name].name = name
        calls.add(sites[name])  # type: ignore[arg-type]
    await calls.start([])
    return calls, heard, sites


async def test_a_job_goes_to_the_site_of_its_computing_element() -> None:
    record = ready("j", placements=shared((B,), 1))
    calls, heard, sites = await started(record)
    for effect in of_components(Submit, record):
        calls.submit(effect)
    await eventually(lambda: heard.posted)
    assert (sites["a"].asked, sites["b"].asked) == ([], ["j.1"])
    for cancel in of_components(Cancel, record):
        calls.cancel(cancel)
    await eventually(lambda: sites["b"].canceled)
    assert (sites["a"].canceled, sites["b"].canceled) == ([], ["j.1"])
    await calls.close()


async def test_of_a_job_over_two_sites_each_gets_its_component() -> None:
    both = ready("both", placements=shared((A, B), 2), cpus=2)
    calls, heard, sites = await started(both)
    for effect in of_components(Submit, both):
        calls.submit(effect)
    await eventually(lambda: len(heard.posted) == 2)
    assert {one.component for one in heard.posted} == {Component("both", 1), Component("both", 1, 1)}
    assert (sites["a"].asked, sites["b"].asked) == (["both.1"], ["both.1.1"])
    for cancel in of_components(Cancel, both):
        calls.cancel(cancel)
    await eventually(lambda: sites["a"].canceled and sites["b"].canceled)
    assert (sites["a"].canceled, sites["b"].canceled) == (["both.1"], ["both.1.1"])
    await calls.close()


async def test_a_component_that_no_site_has_yet_is_not_handed_over_once_another_one_failed() -> None:
    both = ready("both", placements=shared((A, B), 2), cpus=2)
    calls, heard, sites = await started(both)
    heard.leaving.add("both")
    for effect in of_components(Submit, both):
        calls.submit(effect)
    for cancel in of_components(Cancel, both):
        calls.cancel(cancel)
    await eventually(lambda: len(heard.posted) == 2)
    why = "Canceled before the site had it"
    assert heard.posted == [
        AttemptRefused(Component("both", 1, index), why, counts=False) for index in (0, 1)
    ]
    assert (sites["a"].asked, sites["a"].canceled, sites["b"].canceled) == ([], [], [])
    await calls.close()


async def test_what_is_canceled_at_a_site_that_is_not_known_any_more_is_over() -> None:
    record = ready("j", placements=shared(("gone:22/jobmanager-slurm-q",), 1))
    calls, heard, _ = await started(record)
    for effect in of_components(Cancel, record):
        calls.cancel(effect)
    [ended] = heard.posted
    assert isinstance(ended, AttemptEnded)
    assert (ended.component, ended.failure) == (Component("j", 1), "killed")
    assert "gone is not among the sites any more" in ended.reason
    await calls.close()
