"""The reference descriptions of the requirements (section 4.3)."""

from __future__ import annotations

import pytest

from broker_core.jdl.check import check
from tests.jdl.fixtures import F1, F3, F4, F6, FIXTURES


@pytest.mark.parametrize("name", FIXTURES)
def test_every_reference_description_is_accepted_with_its_warnings(name: str) -> None:
    text, warnings = FIXTURES[name]
    checked = check(text)
    assert checked.description is not None, checked.diagnostics
    assert {item.code for item in checked.diagnostics} == warnings


def test_the_simple_job_is_read_as_written() -> None:
    job = check(F1).description
    assert job is not None
    assert (job.name, job.structure, job.cpus, job.arguments) == ("my_app", "Normal", 1, "-n 356 -p 4")
    assert (job.stdout, job.stderr, job.input_sandbox) == ("std.out", "std.err", ("my_app",))
    assert job.output_sandbox == ("std.out", "std.err")
    assert job.needs == ()


def test_components_add_up_and_need_several_sites() -> None:
    job = check(F3).description
    assert job is not None
    assert job.cpus == 10
    assert job.needs == ("mpi:pacx-mpi", "inter-cluster")


def test_an_agent_makes_the_job_interactive() -> None:
    job = check(F4).description
    assert job is not None
    assert job.interactive
    assert job.needs == ("mpi:openmpi", "interactive")


def test_a_trailing_blank_in_agent_arguments_is_kept() -> None:
    job = check(F6).description
    assert job is not None
    assert job.ad.get("InteractiveAgentArguments").value.endswith("-c ")
    assert job.environment == (("POSIXLY_CORRECT", "1"),)


def test_a_graph_needs_a_broker_that_runs_graphs() -> None:
    job = check(FIXTURES["F5"][0]).description
    assert job is not None
    assert (job.structure, job.needs) == ("Workflow", ("workflow",))
