"""What counts as over at a site is ended there before anything that runs there may go on (cases 8 and 18)."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.errors import CrossDeskError
from broker_core.sites.transport.contract import LinkLost
from tests.running import processes_of
from tests.sites.remote.far_site import MARK
from tests.sites.remote.host_far import HostFar, released, script
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


async def test_what_was_given_up_in_the_queue_never_begins(folder: Path) -> None:
    other = await HostFar(folder, "t2").start()
    before = await released(other, script(f"until [ -e {folder}/go ]; do sleep 0.05; done"))
    await other.started(before.attempt)
    far = HostFar(folder, lease=4.0)
    await far.start()
    one = await released(far, script(f"echo ran >>{folder}/ran"))
    await eventually(lambda: list((folder / ".crossdesk").glob(f"queue/*/queued/*{one.attempt.tag}")))
    far.breaking.down = True
    assert (await far.ended(one.attempt)).failure == "lease"
    (folder / "go").touch()
    await eventually((far.place(one) / "claim").is_dir)
    # Now its starter waits for a sign of the broker, which comes, and goes again before the cancel.
    far.way.lost, far.breaking.down = True, False
    await eventually(lambda: (far.place(one) / "ended").exists() or (folder / "ran").exists())
    far.way.lost = False
    await eventually(lambda: not far.place(one).exists(), what="nothing is left of it")
    assert not (folder / "ran").exists()
    for site in (far, other):
        await site.site.close()


async def test_a_site_that_comes_late_is_rid_of_what_nobody_knows(folder: Path) -> None:
    far = HostFar(folder)
    await far.start()
    one = await released(far, script("sleep 600"))
    await far.started(one.attempt)
    await far.site.close()
    new = HostFar(folder)
    new.breaking.down = True
    await new.start()
    await eventually(lambda: new.breaking.calls > 0)
    new.breaking.down = False
    await eventually(lambda: not processes_of(far.place(one)) and not far.place(one).exists())
    assert new.notices == []
    await new.site.close()


async def test_leases_are_renewed_in_time_though_looks_are_wanted_rarely(folder: Path) -> None:
    far = await HostFar(folder, lease=12.0, poll_interval=60.0).start()
    one = await released(far, script("sleep 17; echo lived"))
    assert (await far.ended(one.attempt)).exit_code == 0
    await far.site.close()


async def test_what_arrived_before_its_site_became_unfit_is_ended_there(folder: Path) -> None:
    far = await HostFar(folder).start()
    first, one = script("exit 0"), script(f"echo ran >>{folder}/ran")
    await far.run(first)
    await eventually(lambda: not far.place(first).exists(), what="nothing more is asked of the site")
    far.way.mute = True
    with pytest.raises(LinkLost):
        await far.site.submit(one)
    far.way.mute = False
    (folder / "site" / MARK).rename(folder / "away")
    (folder / "site" / MARK).write_text("no directory")
    with pytest.raises(CrossDeskError, match="cannot be used"):
        await far.site.submit(one)
    assert list((folder / ".crossdesk").glob(f"queue/*/held/*{one.attempt.tag}"))
    (folder / "site" / MARK).unlink()
    (folder / "away").rename(folder / "site" / MARK)
    await eventually(lambda: not far.place(one).exists(), what="it is looked for and ended")
    assert not list((folder / ".crossdesk").glob(f"queue/*/*/*{one.attempt.tag}"))
    assert not far.ends(one.attempt)
    await far.site.close()
