"""Tags and notes of jobs before a real broker: at any time, in any state, told to who follows."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing

import pytest

from broker_core.client.client import BrokerClient
from broker_core.errors import BadRequest
from tests.broker.jobs import reach, script, submit
from tests.running import RunningBroker
from tests.waiting import LONG

SWEEP = 'Executable = "/bin/sleep"; Arguments = "600_PARAM_"; UserTags = [ study = "A-17"; pilot = true ];'


async def _followed(client: BrokerClient, after: int, jobs: int) -> dict[str, tuple[str, str]]:
    """Tags and notes that are told behind a position, once so many jobs are among them."""
    found: dict[str, tuple[str, str]] = {}
    async with asyncio.timeout(LONG), aclosing(client.follow(after)) as updates:
        async for update in updates:
            told: Mapping[str, list[str]] = update.annotated
            rows = zip(told.get("id", ()), told.get("tags", ()), told.get("note", ()), strict=True)
            found |= {job: (tags, note) for job, tags, note in rows}
            if len(found) == jobs:
                return found
    raise AssertionError("the stream ended")


async def test_tags_and_note_of_a_job_that_runs_and_of_one_that_ended(client: BrokerClient) -> None:
    ended, running = await script(client, "exit 0"), await script(client, "sleep 600")
    await reach(client, ended, "Done")
    await reach(client, running, "Running")
    position = (await client.jobs_page()).position
    events = [len(await client.events_of(job)) for job in (ended, running)]
    said = await client.annotate([ended, running, "A" * 22], add=["Calib", "junk"], note="first\nlook")
    assert said.results == {ended: None, running: None, "A" * 22: "There is no such job."}
    await client.annotate([ended], remove=["JUNK"])
    row = (await client.job(ended)).row
    assert (row["state"], row["tags"], row["note"]) == ("Done", "Calib", "first\nlook")
    page = await client.jobs_page(columns=("id", "tags"))
    assert page.columns == {"id": [running, ended], "tags": ["Calib junk", "Calib"]}
    assert await _followed(client, position, 2) == {
        ended: ("Calib", "first\nlook"), running: ("Calib junk", "first\nlook")
    }  # fmt: skip
    # They are no steps of a life.
    assert [len(await client.events_of(job)) for job in (ended, running)] == events
    await client.cancel([running])


async def test_what_can_be_no_tag_is_refused_and_nothing_changes(client: BrokerClient) -> None:
    job = await script(client, "exit 0")
    for wrong in ({"add": ["good", "two words"]}, {"add": ["good"], "note": "n" * 5000}):
        with pytest.raises(BadRequest):
            await client.annotate([job], **wrong)  # type: ignore[arg-type]
    with pytest.raises(BadRequest, match="1,000"):
        await client.annotate([job] * 1001, note="the same for all")
    assert (await client.job(job)).row["tags"] == ""


async def test_a_sweep_has_the_tags_of_its_description_and_ten_thousand_members_change_at_once(
    client: BrokerClient,
) -> None:
    receipt = await submit(client, SWEEP, values=[str(number) for number in range(10_000)], hold="later")
    page = await client.jobs_page(20_000, columns=("tags",))
    assert set(page.columns["tags"]) == {"study:A-17 pilot"}
    said = await client.annotate(receipt.ids, add=["all"], remove=["pilot"])
    assert set(said.results.values()) == {None}
    found = await _followed(client, page.position, 10_000)
    assert set(found.values()) == {("study:A-17 all", "")}
    assert set((await client.jobs_page(20_000, columns=("tags",))).columns["tags"]) == {"study:A-17 all"}
    await client.cancel(receipt.ids)


async def test_a_rerun_has_tags_and_note_of_the_job_that_it_repeats(client: BrokerClient) -> None:
    job = await script(client, "exit 1", description='UserTags = {"from-the-start"};')
    await reach(client, job, "Done")
    await client.annotate([job], add=["calib"], remove=["from-the-start"], note="once more")
    (again,) = (await client.resubmit([job])).ids
    row = (await client.job(again)).row
    assert (row["tags"], row["note"]) == ("calib", "once more")


async def test_each_node_of_a_collection_has_its_tags_or_those_of_the_whole(client: BrokerClient) -> None:
    text = """[ Type = "Collection"; UserTags = {"whole"}; Nodes = {
        [ Executable = "/bin/true"; UserTags = {"own"}; ], [ Executable = "/bin/true"; ] }; ]"""
    receipt = await submit(client, text)
    assert [(await client.job(job)).row["tags"] for job in receipt.ids] == ["own", "whole"]


async def test_tags_survive_a_killed_broker_and_are_told_to_who_missed_them(
    client: BrokerClient, running_broker: RunningBroker
) -> None:
    job = (await submit(client, SWEEP.replace("_PARAM_", ""), hold="later")).ids[0]
    position = (await client.jobs_page()).position
    await client.annotate([job], add=["calib"], note="kept")
    running_broker.kill()
    running_broker.start()
    row = (await client.job(job)).row
    assert (row["tags"], row["note"]) == ("study:A-17 pilot calib", "kept")
    assert await _followed(client, position, 1) == {job: ("study:A-17 pilot calib", "kept")}


async def test_the_tags_of_a_purged_job_go_with_it(client: BrokerClient) -> None:
    job = await script(client, "exit 0")
    await reach(client, job, "Done")
    await client.annotate([job], add=["calib"])
    await client.purge([job])
    said = await client.annotate([job], add=["again"])
    assert said.results == {job: "There is no such job."}
