"""One MPI job over two real Slurm clusters, of which one lets no program make a network namespace."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.worker.scripts.overlay import LIBRARY
from tests.broker.jobs import reach
from tests.broker.sites.grid import NAMES, Grid
from tests.broker.sites.launching import launching_broker
from tests.command_line.calling import crossdesk
from tests.leaks import lasting
from tests.running import RunningBroker
from tests.testbed import forbidding
from tests.testbed.overlay_library import overlay_library
from tests.testbed.slurm import Cluster, Slurm
from tests.waiting import eventually

pytestmark = [pytest.mark.mpi, pytest.mark.cluster, pytest.mark.root]


@pytest.fixture(scope="module")
def slurms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Cluster]]:
    """Two clusters; nodes of the south forbid namespaces."""
    with lasting():
        bed = Slurm(tmp_path_factory.mktemp("forbidding") / "bed", NAMES, nodes=2, cpus=2)
        bed.clusters["south"].within = (sys.executable, str(forbidding.__file__))
    try:
        yield bed.start().clusters
    finally:
        bed.close()


@pytest.fixture(params=["found", "missing"])
def launching(state_dir: Path, request: pytest.FixtureRequest) -> Iterator[RunningBroker]:
    """A broker that has the library, or none."""
    library = overlay_library() if request.param == "found" else "/nowhere/library"
    with launching_broker(state_dir, "127.0.0.1", f'overlay_library = "{library}"\n') as broker:
        yield broker


@pytest.fixture
async def tested(closed: Grid) -> Grid:
    """Both have told by their test jobs what they allow."""
    for name in NAMES:
        await reach(closed.client, (await closed.client.test_site(name)).job, "Done")
    await eventually(lambda: _published(closed))
    return closed


async def _published(grid: Grid) -> bool:
    """The broker knows it; by itself it would ask the sites again within a minute."""
    await grid.client.refresh_sources(NAMES)
    wanted = 'other.Overlay == "yes" || RegExp("^preload: user namespaces: ", other.Overlay)'
    found = (await grid.client.match(f'Executable = "/bin/true"; Requirements = {wanted};')).resources
    return set(NAMES) <= {one.site for one in found if one.matches}


@pytest.mark.parametrize("launching", ["found"], indirect=True)
async def test_all_sites_take_the_way_that_is_open_at_each_and_it_is_shown_after_a_restart(
    tested: Grid, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    job = await tested.submit(f"wait {gate}", "pacx-mpi")
    await reach(tested.client, job, "Running")
    shown = "overlay, by way of the broker (by a preload library at each site)"

    async def is_shown() -> bool:
        return shown in (await asyncio.to_thread(crossdesk, "job", "status", job)).out

    await eventually(is_shown)
    tested.broker.kill()
    tested.broker.start()
    gate.touch()
    row = await reach(tested.client, job, "Done", "Aborted")
    assert row["state"] == "Done", await tested.story(job)
    wanted = "4 ranks of 4 launchers, pi 3.141593, halo right, given a value\n"
    assert await tested.output(job, "component-1/out") == wanted
    assert [await tested.output(job, name) for name in ("err", "component-1/err")] == ["", ""]
    assert await is_shown()
    assert LIBRARY not in {Path(one.path).name for one in await tested.client.files(job)}
    await tested.nothing_is_left()


@pytest.mark.parametrize("launching", ["found"], indirect=True)
@pytest.mark.parametrize("victim", ["carrier", "launcher"])
async def test_the_death_of_a_carrier_or_of_the_launcher_ends_all(
    tested: Grid, tmp_path: Path, victim: str
) -> None:
    job = await tested.submit(f"wait {tmp_path / 'gate'}", "pacx-mpi")
    await reach(tested.client, job, "Running")
    carriers = tested.called("south", b"overlay.py\0run")
    os.kill(carriers[0] if victim == "carrier" else tested.launcher(job).pid(), signal.SIGKILL)
    row = await reach(tested.client, job, "Done", "Aborted")
    assert row["state"] == "Aborted", await tested.story(job)
    await tested.nothing_is_left()


@pytest.mark.parametrize("launching", ["missing"], indirect=True)
async def test_a_broker_without_the_library_says_how_to_get_it(tested: Grid) -> None:
    job = await tested.submit("", "pacx-mpi")
    await reach(tested.client, job, "Aborted", "Waiting")

    async def is_said() -> bool:
        return any("names /nowhere/library" in one for one in await tested.story(job))

    await eventually(is_said)
    assert any("sh packaging/agent.sh" in one for one in await tested.story(job)), await tested.story(job)
    assert not (tested.broker.state_dir / "launchers").exists(), "no launcher has begun in vain"
    await tested.client.cancel([job])
