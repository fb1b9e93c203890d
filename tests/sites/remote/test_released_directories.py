"""A cluster's directory of every released version is taken over: each attempt ends once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from broker_core.jobs.placement import Component
from broker_core.sites.contract import LaunchOrder
from tests.released.trees import unpack
from tests.released.versions import RELEASED, ids
from tests.sites.remote.far_site import MARK, Far, script, spec_for
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("version", RELEASED, ids=ids)
async def test_each_attempt_of_a_released_directory_goes_on(
    version: Path, cluster: Cluster, tmp_path: Path
) -> None:
    names = {"@ROOT@": str(tmp_path), "@SLURM_CONF@": cluster.environment["SLURM_CONF"]}
    for part in ("site", "here"):
        (tmp_path / part).mkdir()
        unpack(version / f"slurm_{part}.json", tmp_path / part, names)
    tags = json.loads((version / "slurm_tags.json").read_text())
    orders = {name: _order(tag) for name, tag in tags.items()}
    attempts = {name: order.attempt for name, order in orders.items()}
    spec = spec_for(cluster, tmp_path / "site", lease=3600.0)
    known = [(order.attempt, order if name == "cut" else None) for name, order in orders.items()]
    far = await Far(spec, tmp_path / "here").start(known)
    try:
        # Its group lies there as the old version made it, and is handed over now.
        id = await eventually(lambda: _id(cluster, attempts["cut"]))
        await far.site.confirm(attempts["cut"])
        ends = {name: await far.ended(attempt) for name, attempt in attempts.items()}
        assert {name: (one.exit_code, one.failure) for name, one in ends.items()} == {
            "home": (7, ""),
            "ended": (3, ""),
            "runs": (None, "lost"),  # the cluster on which it ran is gone
            "held": (None, "lost"),
            "cut": (5, ""),
        }
        assert {name for name, attempt in attempts.items() if len(far.ends(attempt)) != 1} == set()
        assert await far.text(attempts["home"]) == "whole\n"
        assert await far.text(attempts["ended"], "result") == "whole\n"
        assert await far.text(attempts["cut"]) == "at last\n"
        there = tmp_path / "site" / MARK / "attempts"
        await eventually(lambda: not (there / attempts["ended"].tag).exists())
        assert [one.id for one in cluster.completed() if attempts["cut"].job in one.name] == [id]
    finally:
        await far.site.close()


def _order(tag: str) -> LaunchOrder:
    """What the broker would hand over again; it is another program, so that it is seen whether it was."""
    job, _, number = tag.rpartition(".")
    return script("exit 9", attempt=Component(job, int(number)))


def _id(cluster: Cluster, attempt: Component) -> str:
    return next((id for id, name in cluster.present().items() if attempt.job in name), "")
