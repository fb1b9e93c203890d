"""GLUE 1.3 and 2.0 are both understood, whichever a site publishes."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.jdl.glue.attributes import GLUE
from broker_core.jdl.glue.glue2 import SAME
from broker_core.matching.match import match
from tests.matching.made import job, resource


@pytest.mark.parametrize(
    ("published", "wanted"),
    [
        ({"GlueCEPolicyMaxWallClockTime": 120}, "other.GLUE2ComputingShareMaxWallTime == 7200"),
        ({"GLUE2ComputingShareMaxWallTime": 7200}, "other.GlueCEPolicyMaxWallClockTime == 120"),
        ({"GlueHostNetworkAdapterOutboundIP": True},
         'other.GLUE2ExecutionEnvironmentConnectivityOut == "TRUE"'),
        ({"GLUE2ExecutionEnvironmentConnectivityOut": "true"}, "other.GlueHostNetworkAdapterOutboundIP"),
        ({"GLUE2ApplicationEnvironmentAppName": ["ROOT"]},
         'Member("root", other.GlueHostApplicationSoftwareRunTimeEnvironment)'),
        ({}, "other.GLUE2ComputingShareFreeSlots == 4"),
    ],
)  # fmt: skip
def test_a_requirement_may_use_either_vocabulary(published: dict[str, Any], wanted: str) -> None:
    found = match(job(f"Requirements = {wanted};"), [resource(**published)])
    assert len(found.candidates) == 1, found.rejected


def test_both_vocabularies_are_in_the_table() -> None:
    assert {name for older, newer, _ in SAME for name in (older, newer)} <= GLUE.keys()
    assert GLUE["glue2computingsharefreeslots"].type == "integer"
    assert GLUE["gluevoinfopath"].name == "GlueVOInfoPath"
