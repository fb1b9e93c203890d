"""What users paste from manuals works unchanged."""

from __future__ import annotations

import pytest

from broker_core.jdl.check import check
from broker_core.jdl.collection import children
from broker_core.jdl.limits import Limits
from broker_core.jdl.syntax.parse import parse
from broker_core.jdl.syntax.write import write
from tests.jdl.glite_manual import EXAMPLES

EXPECTED = {
    "hello": {"not-carried-out"},
    "collection": {"not-carried-out"},
    "near the data": {"data-not-sent"},
    "several catalogues": {"data-not-sent"},
    "MPI": {"job-type-mapped"},
    "interactive": {"job-type-mapped"},
    "looked at": {"not-carried-out"},
}
"""What is worth a word; nothing else is said."""


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("dialect", ["crossdesk", "glite"])
def test_an_example_of_a_manual_is_accepted_unchanged(name: str, dialect: str) -> None:
    checked = check(EXAMPLES[name], limits=Limits(dialect=dialect))
    assert checked.description is not None, checked.errors
    assert {item.code for item in checked.diagnostics} == EXPECTED.get(name, set())


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_that_is_written_back_means_the_same(name: str) -> None:
    ad = parse(EXAMPLES[name]).ad
    assert ad is not None
    assert parse(write(ad)).ad == ad


def test_nodes_of_a_collection_have_what_they_inherit() -> None:
    checked = check(EXAMPLES["collection"])
    assert checked.description is not None
    jobs = {name: check(text or "").description for name, text in children(checked.description.ad)}
    inputs = {name: job.input_sandbox for name, job in jobs.items() if job is not None}
    assert inputs == {
        "first": ("common.sh", "settings.ini", "one.dat"),
        "Node_1": ("common.sh", "settings.ini"),
        "Node_2": ("common.sh", "settings.ini"),
    }
    for job in jobs.values():
        assert job is not None
        assert job.ad.get("retrycount").value == 2
        assert job.ad.get("virtualorganisation").value == "dteam"


def test_a_node_keeps_its_own_values_but_not_its_own_organisation() -> None:
    text = (
        'Type = "Collection"; VirtualOrganisation = "a"; Rank = 1; Nodes = '
        '{[ Executable = "/x"; VirtualOrganisation = "b"; Rank = 2 ]};'
    )
    (_, child), *_ = children(parse(text).ad)
    job = check(child or "").description
    assert job is not None
    assert (job.ad.get("rank").value, job.ad.get("virtualorganisation").value) == (2, "a")
