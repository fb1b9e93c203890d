"""Jobs are counted by stage, month, size and wait, and stay counted after a purge (CB-LIFE-06)."""

from __future__ import annotations

from pathlib import Path

from broker_core.bookkeeping.check import check
from broker_core.bookkeeping.store import Store
from broker_core.jobs.outcome import Outcome
from broker_core.jobs.transitions import EventType
from tests.bookkeeping.made import LIFE, OWNER, first, life, open_store, step, submission

NOVEMBER = 1_793_600_000.0
DECEMBER = NOVEMBER + 31 * 86_400


async def _fill(store: Store) -> list[str]:
    """Ten jobs in several stages; returns the ids of those that ended."""
    lives = [life(store, NOVEMBER, upto=stage) for stage in range(len(LIFE) + 1)]
    lives.append(life(store, DECEMBER, structure="Parallel", cpus=8))
    lives[-1].append(step(store, lives[-1][-1].record, EventType.CLEARED, DECEMBER + 100))
    lives.append(life(store, DECEMBER, interactive=True, upto=1))
    lives[-1].append(step(store, lives[-1][-1].record, EventType.CANCELED, DECEMBER + 100))
    lives.append(life(store, DECEMBER, owner="bob"))
    for one in lives:
        await store.submit(submission(one[:1]))
        await store.append(one[1:])
    return [one[-1].event.job for one in lives if one[-1].record.state.ended]


async def test_every_stage_counts_the_jobs_that_reached_it(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await _fill(store)
    told = await store.statistics(OWNER)
    assert list(told.kinds) == ["Normal batch", "Normal interactive", "Parallel batch"]
    assert list(told.kinds["Normal batch"].model_dump().values()) == [6, 5, 4, 2, 1, 0]
    assert list(told.kinds["Normal interactive"].model_dump().values()) == [1, 1, 0, 0, 0, 0]
    assert list(told.kinds["Parallel batch"].model_dump().values()) == [1, 1, 1, 1, 1, 1]
    assert told.months == [
        {"month": "2026-11", "kind": "Normal batch", "jobs": 6},
        {"month": "2026-12", "kind": "Normal interactive", "jobs": 1},
        {"month": "2026-12", "kind": "Parallel batch", "jobs": 1},
    ]
    assert told.sizes == [{"cpus": 1, "jobs": 7}, {"cpus": 8, "jobs": 1}]
    assert told.waits[1] == {"upto": 5, "jobs": 3}
    assert told.waits[-1] == {"upto": None, "jobs": 0}
    assert (await store.statistics()).kinds["Normal batch"].submitted == 7
    assert (await store.statistics("nobody")).kinds == {}
    store.close()


async def test_purged_jobs_stay_counted_and_the_last_event_of_each_stays(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    ended = await _fill(store)
    before, total = await store.statistics(), (await store.jobs_page()).total
    records = await store.jobs(ended)
    await store.append([step(store, record, EventType.PURGED) for record in records])
    after = await store.statistics()
    assert after == before
    assert {one for one in after.outcomes if Outcome(one).ended} == {"Done", "Canceled"}
    assert (await store.jobs_page()).total == total - len(ended) == 5
    assert await store.jobs(ended) == []
    stories = [await store.events_of(job) for job in ended]
    assert [[event.type for event in story] for story in stories] == [[EventType.PURGED]] * len(ended)
    assert await store.events_after(stories[-1][0].position - 1) == stories[-1]
    store.close()
    assert check(tmp_path) == []
    store = open_store(tmp_path)
    assert await store.statistics() == after
    store.close()


async def test_what_only_purged_jobs_used_goes_with_the_last_of_them(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    lives = [life(store) for _ in range(3)]
    await store.submit(submission([one[0] for one in lives]))
    await store.append([entry for one in lives for entry in one[1:]])
    sha = lives[0][0].record.description
    for number, one in enumerate(lives, 1):
        await store.append([step(store, one[-1].record, EventType.PURGED)])
        assert (await store.description(sha) is None) is (number == 3)
        assert (await store.files_in_use() == set()) is (number == 3)
    store.close()


async def test_a_late_message_does_not_bring_a_purged_job_back(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    entries = life(store)
    await store.append(entries)
    purged = step(store, entries[-1].record, EventType.PURGED)
    await store.append([purged])
    await store.append([step(store, purged.record, EventType.MESSAGE_LATE)])
    assert await store.job(purged.event.job) is None
    store.close()
    assert check(tmp_path) == []


async def test_refused_submissions_count_as_submitted_and_as_nothing_else(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await _fill(store)
    before = await store.statistics(OWNER)
    store.count_refused(OWNER, 3, NOVEMBER)
    store.count_refused(OWNER, 1, NOVEMBER)
    await store.save_document(OWNER, "after", "{}")
    after = await store.statistics(OWNER)
    assert list(after.kinds["Normal batch"].model_dump().values()) == [10, 5, 4, 2, 1, 0]
    assert (after.months, after.sizes, after.waits) == (before.months, before.sizes, before.waits)
    store.close()
    again = open_store(tmp_path)
    assert await again.statistics(OWNER) == after
    again.close()


async def test_a_member_that_was_run_again_counts_once_as_its_last_run_whatever_is_removed_first(
    tmp_path: Path,
) -> None:
    store = open_store(tmp_path)
    runs, before = [], ""
    for code in (3, 9, 0):
        again = {"rerun_of": before} if before else {}
        runs.append(first(store, NOVEMBER, batch="b", **again))
        before = runs[-1].event.job
        await store.submit(submission(runs[-1:]))
        for kind, more in LIFE[:-1]:
            runs[-1] = step(store, runs[-1].record, kind, NOVEMBER + 1, **more)
            await store.append(runs[-1:])
        runs[-1] = step(store, runs[-1].record, EventType.DONE, NOVEMBER + 2, details={"exit_code": code})
        await store.append(runs[-1:])
    told = await store.statistics()
    assert (told.outcomes, told.kinds["Normal batch"].submitted) == ({"Done": 1}, 1)
    assert await store.states() == {"Done": 1}
    assert [dict(one) for one in (await store.outcomes_at_sites()).values()] == [{Outcome.DONE: 1}]
    await store.append([step(store, runs[1].record, EventType.PURGED)])
    assert await store.statistics() == told, "one in the middle"
    await store.append([step(store, (await store.jobs([before]))[0], EventType.PURGED)])
    assert (await store.statistics()).outcomes == {"Failed": 1}, "the first stands for its member again"
    await store.append([step(store, runs[0].record, EventType.PURGED)])
    told = await store.statistics()
    assert (told.outcomes, told.kinds["Normal batch"].submitted) == ({"Failed": 1}, 1)
    store.close()
