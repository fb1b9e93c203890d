"""What a job of PSI/J asks for, in the attributes of its description."""

from __future__ import annotations

from typing import Any

import pytest
from crossdesk_psij.translation import description_of
from psij import JobAttributes, JobSpec, ResourceSpecV1

from broker_core.jdl.check import check
from broker_core.jdl.description import JobDescription

GIB = 1 << 30


def described(**fields: Any) -> JobDescription:
    found = check(description_of(JobSpec(executable="/bin/date", **fields), "/w/psij_launch.sh"))
    assert found.description is not None, [one.message for one in found.errors]
    return found.description


@pytest.mark.parametrize(
    ("resources", "fields"),
    [
        ({"memory": 4 * GIB}, {"memory_per_node": 4096}),
        ({"node_count": 2, "memory": 5 * GIB}, {"hosts": 2, "memory_per_node": 2560}),
        ({"node_count": 2, "processes_per_node": 4, "gpu_cores_per_process": 1}, {"hosts": 2, "gpus": 4}),
        ({"process_count": 3, "gpu_cores_per_process": 2}, {"gpus": 6}),
        ({"process_count": 2, "exclusive_node_use": True}, {"whole_nodes": True}),
    ],
)
def test_gpus_and_memory_count_for_each_node(resources: dict[str, Any], fields: dict[str, Any]) -> None:
    found = described(resources=ResourceSpecV1(**resources)).request
    assert {name: getattr(found, name) for name in fields} == fields


def test_names_of_the_site_are_asked_for_as_such() -> None:
    found = described(attributes=JobAttributes(queue_name="long", account="phys", reservation_id="r1"))
    request = found.request
    assert (request.queue, request.account, request.reservation) == ("long", "phys", "r1")
