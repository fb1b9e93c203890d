"""Leases: what was not heard from is fenced at the site before the broker gives it up (cases 8 and 18)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running import processes_of
from tests.sites.remote.breaking import BreakingFar, hand_over
from tests.sites.remote.failing_transport import Breaking
from tests.sites.remote.far_site import MARK, script, spec_for
from tests.testbed.slurm import Cluster
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


@pytest.mark.parametrize("mode", ["down", "deaf", "hung"])
async def test_without_contact_the_program_ends_before_the_attempt_is_given_up(
    cluster: Cluster, tmp_path: Path, mode: str
) -> None:
    breaking = Breaking()
    spec = spec_for(cluster, tmp_path / "site", lease=3.0)
    far = await BreakingFar(spec, tmp_path / "here", breaking).start()
    one = script("sleep 600")
    await hand_over(far, one)
    await far.started(one.attempt)
    folder = tmp_path / "site" / MARK / "attempts" / one.attempt.tag
    setattr(breaking, mode, True)
    alive_at_the_end = []

    def given_up() -> bool:
        left = processes_of(folder)
        if far.ends(one.attempt):
            alive_at_the_end.append(left)
            return True
        return False

    await eventually(given_up)
    assert alive_at_the_end == [set()]
    assert far.ends(one.attempt)[0].failure == "lease"
    assert "failure lease" in (folder / "ended").read_text()
    setattr(breaking, mode, False)
    await eventually(lambda: not cluster.present())
    await far.site.close()


async def test_a_lease_that_is_renewed_lets_the_program_run(cluster: Cluster, tmp_path: Path) -> None:
    far = await BreakingFar(
        spec_for(cluster, tmp_path / "site", lease=12.0), tmp_path / "here", Breaking()
    ).start()
    one = script("sleep 17; echo lived")
    await hand_over(far, one)
    assert (await far.ended(one.attempt)).exit_code == 0
    await far.site.close()
