"""Clusters whose administrators limit arrays, or switched them off."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from broker_core.sites.contract import LaunchOrder
from tests.leaks import lasting
from tests.sites.remote.far_site import Far, script, spec_for
from tests.testbed.slurm import Cluster, Slurm

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """Cluster `none` has no arrays, `few` has arrays of three tasks."""
    with lasting():
        bed = Slurm(tmp_path_factory.mktemp("slurm") / "bed", ("none", "few"), nodes=1, cpus=8)
    bed.clusters["none"].most_tasks = 0
    bed.clusters["few"].most_tasks = 3
    try:
        yield bed.start()
    finally:
        bed.close()


async def _run(cluster: Cluster, folder: Path, orders: Sequence[LaunchOrder]) -> list[str]:
    """Ids of jobs that were handed over together, all run to their ends."""
    far = await Far(spec_for(cluster, folder / "site"), folder / "here").start()
    try:
        ids = await asyncio.gather(*map(far.site.submit, orders))
        for one in orders:
            await far.site.confirm(one.attempt)
        for one in orders:
            assert (await far.ended(one.attempt)).exit_code == 0
    finally:
        await far.site.close()
    return ids


async def test_a_cluster_without_arrays_gets_single_jobs(limited: Slurm, tmp_path: Path) -> None:
    ids = await _run(limited.clusters["none"], tmp_path, [script("exit 0") for _ in range(4)])
    assert len(set(ids)) == 4
    assert all(id.isdigit() for id in ids)


async def test_an_array_is_no_longer_than_the_cluster_takes(limited: Slurm, tmp_path: Path) -> None:
    ids = await _run(limited.clusters["few"], tmp_path, [script("exit 0") for _ in range(7)])
    assert sorted(Counter(id.partition("_")[0] for id in ids).values()) == [1, 3, 3]


async def test_wall_limits_that_are_the_same_to_the_cluster_are_equal_needs(
    limited: Slurm, tmp_path: Path
) -> None:
    orders = [script("exit 0", wall_limit=seconds) for seconds in (600.0, 599.5, 700.0)]
    first, second, other = await _run(limited.clusters["few"], tmp_path, orders)
    assert first.partition("_")[0] == second.partition("_")[0] != other
