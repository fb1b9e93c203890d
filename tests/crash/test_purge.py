"""Killed while jobs are purged: nothing of them stays, neither here nor at a site."""

from __future__ import annotations

import pytest

from tests.crash.survivor import Survivor
from tests.waiting import eventually


@pytest.mark.parametrize("point", ["before:job.purged", "after:job.purged"])
async def test_what_was_being_purged_leaves_no_files(survivor: Survivor, point: str) -> None:
    survivor.start(f"{point}:1")
    async with survivor.client() as client:
        jobs = await survivor.submit(client, ["a", "b"], 0.05, "key-of-the-jobs")
        await survivor.all_ended(client)
        outcome = await client.purge(jobs)
        assert survivor.deaths == 1
        assert set(outcome.results) == set(jobs)
        folder = survivor.state_dir / "sites" / "local" / "attempts"
        await eventually(lambda: not list(folder.iterdir()), what="the folders are gone")
