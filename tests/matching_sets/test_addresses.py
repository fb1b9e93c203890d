"""Public and private addresses: a mixed pool, one job of each kind (CB-SET-13, SA-SEL-11)."""

from __future__ import annotations

import pytest

from broker_core.matching.conditions import has_public_addresses, needs_public_addresses
from tests.matching.made import job


@pytest.mark.parametrize(
    ("kind", "needed"), [("mpich-g2", True), ("pacx-mpi", False), ("mpich", False), ("openmpi", False)]
)
def test_only_mpich_g2_needs_public_addresses(kind: str, needed: bool) -> None:
    parallel = job(f'JobType = "Parallel"; SubJobType = "{kind}"; NodeNumber = 4;')
    assert needs_public_addresses(parallel) is needed


def test_a_resource_has_private_addresses_unless_it_says_otherwise() -> None:
    name = "gluehostnetworkadapterinboundip"
    found = [has_public_addresses(values) for values in ({}, {name: False}, {name: "yes"}, {name: True})]
    assert found == [False, False, False, True]
