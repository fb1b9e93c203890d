"""The cluster behind SSH that the broker's own tests use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.broker.sites.conftest import broker, cluster, home, slurm, spec, sshd, trusting

__all__ = ["broker", "cluster", "home", "slurm", "spec", "sshd", "trusting"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.cluster)
