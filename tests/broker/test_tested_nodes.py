"""What test jobs say of nodes counts more than the login host, and less than what the batch system tells."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.broker.site_management import node_facts
from broker_core.resources.facts import Facts

NODE = {
    "machine": "aarch64",
    "model": "Neoverse-N1",
    "named": "Rocky Linux",
    "release": "9.4",
    "version": "Blue Onyx",
}
LOGIN = {"GlueHostArchitecturePlatformType": "x86_64", "GlueHostOperatingSystemName": "Debian GNU/Linux"}


def published(**attributes: Any) -> dict[str, Any]:
    facts = Facts("vega:jobs", "vega", LOGIN | attributes, frozenset(LOGIN))
    return dict(node_facts.with_tested(facts, node_facts.TestedNodes(words=NODE)).attributes)


def test_the_node_is_published_and_not_the_login_host() -> None:
    found = published()
    assert found["GlueHostArchitecturePlatformType"] == "aarch64"
    assert found["GlueHostProcessorModel"] == "Neoverse-N1"
    assert found["GlueHostOperatingSystemName"] == "Rocky Linux"
    assert found["GlueHostOperatingSystemRelease"] == "9.4"


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (
            [{"Count": 2, "CPUs": 8}],
            [{"Count": 2, "CPUs": 8, "Machine": "aarch64", "Model": "Neoverse-N1", "System": "Rocky Linux"}],
        ),
        ([{"Count": 2}, {"Count": 1, "CPUs": 4}], [{"Count": 2}, {"Count": 1, "CPUs": 4}]),
        (
            [{"Count": 2, "Machine": "x86_64", "System": "AlmaLinux9"}],
            [{"Count": 2, "Machine": "x86_64", "System": "AlmaLinux9", "Model": "Neoverse-N1"}],
        ),
    ],
)
def test_nodes_that_are_all_alike_are_as_the_tested_one(types: list[Any], expected: list[Any]) -> None:
    assert published(NodeTypes=types)["NodeTypes"] == expected


def test_what_the_batch_system_tells_of_its_nodes_counts_more() -> None:
    told = {"NodeTypes": [{"Count": 1, "Machine": "x86_64", "System": "AlmaLinux9"}]}
    found = published(**told)
    assert found["GlueHostArchitecturePlatformType"] == "x86_64"
    assert found["GlueHostOperatingSystemName"] == "Debian GNU/Linux"
    assert "GlueHostOperatingSystemRelease" not in found


def test_nothing_is_said_before_a_test_job() -> None:
    facts = Facts("vega:jobs", "vega", LOGIN, frozenset(LOGIN))
    assert node_facts.with_tested(facts, node_facts.TestedNodes()) is facts
