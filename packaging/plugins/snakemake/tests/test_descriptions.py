"""What a rule asks for, in the attributes of its description."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_executor_plugin_crossdesk import description_of

from broker_core.jdl.check import check
from broker_core.jdl.resource_request import ResourceRequest


def asked(threads: int = 1, **resources: Any) -> ResourceRequest:
    job: Any = SimpleNamespace(threads=threads, resources=resources)
    found = check(description_of(job, Path("/w/rule.sh")))
    assert found.description is not None, [one.message for one in found.errors]
    return found.description.request


@pytest.mark.parametrize(
    ("resources", "fields"),
    [
        ({"mem_mb": 4000}, {"memory_per_node": 4000}),
        ({"mem_mb": 1000, "mem_mb_per_cpu": 500}, {"memory_per_cpu": 500, "memory_per_node": 0}),
        ({"gpu": 2, "gpu_model": "a100"}, {"gpus": 2, "gpu_model": "a100"}),
        ({"slurm_account": "phys", "slurm_partition": "long"}, {"account": "phys", "queue": "long"}),
        ({"qos": "high", "reservation": "course"}, {"qos": "high", "names_of": "slurm"}),
        ({"scratch_mb": 100, "disk_mb": 7}, {"scratch": 100}),
        ({"mem_mb": "<TBD>", "slurm_account": "<TBD>"}, {"memory_per_node": 0, "names_of": ""}),
    ],
)
def test_resources_are_asked_for_in_words_that_batch_systems_are_told(
    resources: dict[str, Any], fields: dict[str, Any]
) -> None:
    found = asked(threads=4, **resources)
    assert {name: getattr(found, name) for name in fields} == fields
