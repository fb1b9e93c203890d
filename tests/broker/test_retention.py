"""How long and how much is kept: chosen while the broker runs, in force at once, and over a kill."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from broker_core.broker.site_management.retention import RetentionChoice
from broker_core.client.client import BrokerClient
from broker_core.errors import BadRequest, StorageFull
from broker_core.settings.settings import Settings, load
from broker_core.sites.remote.settings import ResultLimits
from broker_core.system.paths import places
from broker_core.wire.views import RetentionChange
from tests.broker.jobs import reach, script, submit
from tests.running import RunningBroker
from tests.waiting import eventually

DAY = 86_400.0
TRUE = 'Executable = "/bin/true";'


async def there(client: BrokerClient) -> set[str]:
    return set((await client.jobs_page()).columns["id"])


async def canceled(client: BrokerClient) -> str:
    (job,) = (await submit(client, TRUE, hold="test")).ids
    await client.cancel([job])
    await reach(client, job, "Canceled")
    return job


async def test_old_jobs_go_and_what_was_not_fetched_stays(
    client: BrokerClient, running_broker: RunningBroker
) -> None:
    fetched, kept = await script(client, "echo 1"), await script(client, "echo 2")
    with_files = await script(client, "echo 3 >more", description="OutputSandbox = {};")
    for job in (fetched, kept, with_files):
        await reach(client, job, "Done")
    for job in (fetched, with_files):
        await client.fetched(job)
    gone = {fetched, await canceled(client)}
    assert (await client.retention()).jobs_age == 0
    assert (await client.choose_retention(RetentionChange(jobs_age=1.0))).jobs_age == 1.0
    await eventually(lambda: _only(client, {kept, with_files}), what="what is old is removed")
    attempts = running_broker.state_dir / "sites" / "local" / "attempts"
    await eventually(lambda: not _of(attempts, gone), what="their files go after their rows")
    assert _of(attempts, {with_files})
    await client.choose_retention(RetentionChange(left_age=1.0))
    await eventually(lambda: _only(client, {kept}), what="what was left over is past its own age")


def _of(attempts: Path, jobs: set[str]) -> list[Path]:
    return [one for one in attempts.iterdir() if one.name.partition(".")[0] in jobs]


async def _only(client: BrokerClient, jobs: set[str]) -> bool:
    return await there(client) == jobs


async def test_a_job_that_is_young_stays_and_goes_after_a_kill(
    client: BrokerClient, running_broker: RunningBroker
) -> None:
    job = await canceled(client)
    await client.choose_retention(RetentionChange(jobs_age=30 * DAY))
    running_broker.kill()
    running_broker.start()
    assert (await client.retention()).jobs_age == 30 * DAY
    assert await there(client) == {job}
    await client.choose_retention(RetentionChange(jobs_age=1.0))
    running_broker.kill()
    running_broker.start()
    await eventually(lambda: _only(client, set()), what="the broker of later removes it")


async def test_the_story_of_a_removed_job_says_why(client: BrokerClient) -> None:
    job = await canceled(client)
    position = (await client.info()).position
    await client.choose_retention(RetentionChange(jobs_age=1.0))
    async for update in client.follow(position):
        if told := [event for event in update.events if event.job == job]:
            break
    assert told[-1].type == "job.purged"
    assert told[-1].reason == "Removed 1 second after its end, as the settings say"


async def test_what_makes_no_sense_is_refused_and_changes_nothing(client: BrokerClient) -> None:
    before = await client.retention()
    for wrong in ({"jobs_age": -1}, {"left_age": 1e300}, {"results_max": -5}, {"left_max": 1 << 62}):
        with pytest.raises(BadRequest):
            await client.choose_retention(RetentionChange.model_construct(**wrong))
    assert await client.retention() == before


def test_a_choice_wins_over_the_settings_and_is_one_of_them(tmp_path: Path) -> None:
    where = places(tmp_path)
    (tmp_path / "broker.toml").write_text("left_age = 60.0\nleft_max = 5\n")
    settings = load(where.settings)
    limits = ResultLimits(settings.results_max, settings.left_age, settings.left_max)
    choice = RetentionChoice(where.retention, settings, limits)
    choice.choose(RetentionChange(left_age=DAY))
    assert (limits.left_age, limits.left_max) == (DAY, 5)
    again = load(where.settings)
    assert (again.left_age, again.origins["left_age"]) == (DAY, str(where.retention))
    assert again.origins["left_max"] == str(tmp_path / "broker.toml")
    RetentionChoice(where.retention, again, limits).choose(RetentionChange(jobs_age=7.0))
    assert tomllib.loads(where.retention.read_text()) == {"left_age": DAY, "jobs_age": 7.0}


def test_a_choice_that_cannot_be_kept_is_not_in_force(tmp_path: Path) -> None:
    limits = ResultLimits()
    choice = RetentionChoice(tmp_path / "gone" / "retention.toml", Settings(), limits)
    with pytest.raises(StorageFull):
        choice.choose(RetentionChange(left_max=7, jobs_age=1.0))
    assert (limits, choice.jobs_age) == (ResultLimits(), 0.0)
