"""How the jobs of a batch are called."""

from __future__ import annotations

import pytest

from broker_core.jobs.batch_names import job_name


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("scan", "35", "scan (35)"),
        ("scan-35", "35", "scan-35"),
        ("scan_35_b", "35", "scan_35_b"),
        ("scan 0.5", "0.5", "scan 0.5"),
        ("phase2", "2", "phase2 (2)"),
        ("scan", "", "scan"),
        ("fit", "a b", "fit (a b)"),
    ],
)
def test_a_job_has_its_value_where_its_name_does_not_tell_it(name: str, value: str, shown: str) -> None:
    assert job_name(name, value) == shown
