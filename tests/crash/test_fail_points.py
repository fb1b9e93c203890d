"""Killed before and after every recorded transition and every step at a site (reliability cases 1 to 3)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.survivor import Survivor, play

LIFE = (
    "submission", "job.accepted", "job.matched", "job.scheduled", "job.running", "job.done", "job.canceled",
        "job.cancel_requested", "job.cleared", "site.submit", "site.cancel")  # fmt: skip
POINTS = [
    *(f"{when}:{what}" for what in LIFE for when in ("before", "after")),
    "before:attempt.started",
    "before:attempt.ended",
    "store.before-commit",
    "store.after-commit",
]
RECOVERY = (
    "store.opened", "before:recovery", "during:recovery", "before:sites.start", "after:sites.start",
    "after:recovery", "before:attempt.started", "before:attempt.ended", "before:job.running",
    "after:job.done",
)  # fmt: skip


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """All points in the soak; else those ahead of a step are left out, which the one before it comes near,
    and every second one of the start."""
    soak = metafunc.config.getoption("--soak")
    if metafunc.definition.originalname == "test_a_broker_killed_at_a_fail_point_loses_and_doubles_nothing":
        left_out = () if soak else [f"before:{what}" for what in LIFE]
        metafunc.parametrize("point", [point for point in POINTS if point not in left_out])
    elif "point" in metafunc.fixturenames:
        metafunc.parametrize("point", RECOVERY if soak else RECOVERY[1::2])


async def test_a_broker_killed_at_a_fail_point_loses_and_doubles_nothing(
    survivor: Survivor, point: str
) -> None:
    survivor.start(f"{point}:1")
    await play(survivor)
    assert survivor.deaths == 1, f"{point} was never passed"
    assert (await survivor.verdict()).faults == []


async def test_a_broker_killed_again_while_it_recovers_loses_and_doubles_nothing(
    survivor: Survivor, point: str
) -> None:
    async with survivor.client() as client:
        survivor.start()
        await survivor.submit(client, ["a", "b"], 1.0, "key-of-the-first")
        await survivor.submit(client, ["c", "d", "e"], 0.05, "key-of-the-others")
        survivor.kill()
        survivor.wait_for_death()
        survivor.start(f"{point}:1")
        survivor.wait_for_death()
        survivor.start(f"{point}:1")
        survivor.wait_for_death()
        await survivor.all_ended(client)
    assert (await survivor.verdict()).faults == []


async def test_every_fail_point_that_a_run_passes_is_tried(survivor: Survivor, tmp_path: Path) -> None:
    log = tmp_path / "points"
    survivor.start(log=log)
    await play(survivor)
    passed = set(log.read_text().split())
    plain = {point for point in passed if ":job." not in point or not point.startswith("store.")}
    known = {*POINTS, *RECOVERY, *(f"{when}:job.{what}" for what in _RARE for when in ("before", "after"))}
    assert plain - known == set()
    assert (await survivor.verdict()).faults == []


_RARE = (
    *("broker_died", "held", "released", "postponed", "message_late", "output_incomplete"),
    *("left_expires", "purged"),
)
"""Transitions of the same kind as others above, which not every run meets."""
