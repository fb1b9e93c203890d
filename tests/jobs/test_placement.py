"""Computing elements, placements and components: their text forms are read as they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.jobs.placement import (
    NOWHERE,
    Component,
    Placement,
    column,
    component,
    computing_element,
    ids_in,
    shared,
)

LONG, HERE = "ce.Example.org:2119/jobmanager-pbs-very-long", "localhost:2119/jobmanager-fork-local"


def test_an_id_names_host_site_batch_system_and_queue() -> None:
    far, here = computing_element(LONG), computing_element(HERE)
    assert (far.host, far.site, far.system, far.queue) == ("ce.Example.org",) * 2 + ("pbs", "very-long")
    assert (here.host, here.site, here.system, here.queue) == ("localhost", "local", "fork", "local")
    assert (far.here, here.here) == (False, True)


def test_an_id_of_another_form_is_a_computing_element_too() -> None:
    odd = computing_element("plain")
    assert (odd.site, odd.system, odd.queue, odd.here) == ("plain", "", "", False)
    assert (NOWHERE.id, NOWHERE.site) == ("", "")


def test_the_case_of_a_host_tells_no_computing_elements_apart() -> None:
    assert computing_element(LONG).identity == computing_element(LONG.replace("Example", "example")).identity
    assert computing_element(LONG).identity != computing_element(LONG.replace("pbs", "PBS")).identity


@given(st.text("abc-_", min_size=1), st.integers(1, 99), st.integers(0, 9))
def test_a_component_is_read_from_its_tag(job: str, attempt: int, index: int) -> None:
    one = Component(job, attempt, index)
    assert component(one.tag) == one
    assert index or one.tag == f"{job}.{attempt}", "as versions before this one named it"


@pytest.mark.parametrize("text", ["", "job", ".1", "job.", "job.x", "job.1.", "job.1.2.3", "job.-1"])
def test_other_texts_are_no_tags(text: str) -> None:
    assert component(text) is None


@given(st.lists(st.sampled_from((LONG, HERE, "a:1/x", "plain")), unique=True), st.integers(0, 50))
def test_placements_are_read_from_their_column(ids: list[str], cpus: int) -> None:
    placements = shared(tuple(ids), cpus)
    assert shared(ids_in(column(placements)), cpus) == placements
    assert sum(one.cpus for one in placements) == (cpus if ids else 0)


def test_processors_are_shared_as_equally_as_can_be() -> None:
    a, b = computing_element("a:1/x"), computing_element("b:1/x")
    assert shared(("a:1/x", "b:1/x"), 5) == (Placement(a, 3), Placement(b, 2))
