"""Jobs near to where their files are and where their output goes."""

from __future__ import annotations

from broker_core.matching.context import Context
from broker_core.matching.match import match
from broker_core.resources.closeness import Replica, close_files
from broker_core.resources.pool import Pool
from tests.matching.made import job, resource

CLOSE = "GlueCESEBindGroupSEUniqueID"
THREE = [
    resource("near", total=8, **{CLOSE: ["se1.example.org", "se2.example.org"]}),
    resource("default", GlueCEInfoDefaultSE="se1.example.org"),
    resource("far", **{CLOSE: ["se9.example.org"]}),
]


def test_a_job_runs_only_close_to_the_storage_of_its_output() -> None:
    matches = match(job('OutputSE = "SE1.example.org"; '), THREE)
    assert sorted(one.resource.site for one in matches.candidates) == ["default", "near"]
    (away,) = matches.rejected
    assert away.reason == "OutputSE SE1.example.org is not close; se9.example.org is"
    assert not match(job('OutputSE = "nowhere"; '), THREE).candidates


def test_the_element_with_most_input_files_close_by_comes_first_even_before_rank() -> None:
    pool = Pool.of(THREE)
    files = [Replica("lfn:/a", (("se9.example.org", ""),)), Replica("lfn:/b", (("se9.example.org", ""),))]
    close = close_files([*files, Replica("lfn:/c", (("se1.example.org", ""),))], pool.columns)
    matches = match(job("Rank = other.GlueCEInfoTotalCPUs; "), pool, context=Context(close=close))
    assert [one.resource.site for one in matches.candidates] == ["far", "near", "default"]
