"""kill -9 of a broker with a real Grid Engine, judged by that one's own accounting (cases 1 to 3 and 11)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker.jobs import reach
from tests.crash.cell_record import CellRecord
from tests.crash.site_checker import Bed
from tests.crash.sites_survivor import SitesSurvivor, spec
from tests.interactive.far_jobs import attached, submitted
from tests.testbed.grid_engine import GridEngine
from tests.testbed.guardian import Guardian
from tests.waiting import eventually

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
SLOTS = 4
SETTINGS = """
glideins = ["cell"]
glidein_idle_exit = 0
agent_program = "/nowhere/agent"
line_interval = 0.05
line_idle_interval = 0.2
"""
TALK = "echo ready; while read line; do eval $line; done; exit 5"
TEXT = f'Executable = "/bin/sh"; Interactive = true; Arguments = "-c \'{TALK}\'";'


@pytest.fixture
def survivor(isolated: Path, state_dir: Path) -> Iterator[SitesSurvivor]:
    """No broker runs yet; the cell does."""
    guardian, cell = Guardian(isolated), GridEngine(slots=SLOTS)
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
        await survivor.die_in_turns(client, points, AT_ONCE)
    ran = survivor.beds["cell"].started(survivor.mark("cell"), 0)
    assert ran >= len(survivor.purged), "the accounting knows of every job"
    await _beside_batch_jobs(survivor)


async def _beside_batch_jobs(survivor: SitesSurvivor) -> None:
    """The same cell, full of batch jobs of this broker in glideins, starts an interactive one at once."""
    survivor.kill()
    survivor.wait_for_death()
    writes = f'slot_writes = ["{survivor.state_dir.parent}"]\n'  # what jobs leave to be checked
    (survivor.state_dir / "broker.toml").write_text(f"{SETTINGS}{writes}")
    gate = survivor.state_dir.parent / "gate"
    async with survivor.client() as client:
        await survivor.known(client)
        batch = await survivor.wave(client, count=SLOTS, seconds=0, gate=gate)
        for job in batch:
            await reach(client, job, "Running")

        async def full() -> bool:
            site = await survivor.view(client, "cell")
            return (site.free_cpus, site.free_slots, site.total_slots) == (0, SLOTS, SLOTS)

        await eventually(full, what="no processor is free, and each has a slot")
        talk = await submitted(client, "cell", TEXT)
        screen = await attached(client, talk)
        rows = (await client.slots()).glideins
        assert sorted(row.state for row in rows) == ["Busy"] * (SLOTS - 1) + ["Shared"]
        screen.session.write(b"exit 5\n")
        await screen.ended()
        await screen.session.close()
        assert (await reach(client, talk, "Done"))["exit_code"] == 5
        gate.touch()
        for job in batch:
            await reach(client, job, "Done")
