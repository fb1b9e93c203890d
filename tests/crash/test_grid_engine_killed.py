"""kill -9 of a broker with a real Grid Engine, judged by that one's own accounting (cases 1 to 3 and 11)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.cell_record import CellRecord
from tests.crash.site_checker import Bed
from tests.crash.sites_survivor import SitesSurvivor, spec
from tests.testbed.grid_engine import GridEngine
from tests.testbed.guardian import Guardian

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]
POINTS = [
    *("during:cell.submit", "before:job.scheduled", "after:cell.release", "during:cell.poll"),
    *("after:cell.submit", "after:recovery", "after:cell.fetch", "after:keep", "during:cell.remove"),
    *(
        "after:site.submit",
        "during:cell.release",
        "before:job.running",
        "before:job.done",
        "after:cell.cancel",
    ),
]
AT_ONCE = 3


@pytest.fixture
def survivor(isolated: Path, state_dir: Path) -> Iterator[SitesSurvivor]:
    """No broker runs yet; the cell does."""
    guardian, cell = Guardian(isolated), GridEngine(slots=4)
    try:
        cell.start()
        site = spec("cell", "sge", isolated / "there", cell.environment).model_copy(
            update={"queues": ["main"]}
        )
        made = SitesSurvivor(state_dir, isolated / "effects", [Bed(site, CellRecord(cell))])
        yield made
        made.close()
    finally:
        cell.close()
        guardian.close()


async def test_killed_on_the_way_to_grid_engine_every_job_runs_once_and_nothing_stays(
    survivor: SitesSurvivor, soak: bool
) -> None:
    points = POINTS if soak else POINTS[:AT_ONCE]
    async with survivor.client() as client:
        await survivor.begin(client)
        for first in range(0, len(points), AT_ONCE):
            await survivor.die_at(client, points[first : first + AT_ONCE])
            await survivor.all_ended(client, 120)
        faults = await survivor.faults(client)
    assert not faults, "\n".join(faults)
    assert survivor.deaths > len(points)
    ran = survivor.beds["cell"].started(survivor.mark("cell"), 0)
    assert ran >= len(survivor.purged), "the accounting knows of every job"
