"""One job through it all, over HTTP."""

from __future__ import annotations

import asyncio

import pytest

from broker_core.client.client import BrokerClient
from broker_core.errors import Conflict, NotFound
from tests.broker.jobs import key, reach, script, submit
from tests.waiting import LONG, within

TRUE = 'Executable = "/bin/true";'


async def test_a_job_is_submitted_runs_and_its_output_is_fetched_and_cleared(client: BrokerClient) -> None:
    job = await script(client, "echo hello; echo oops >&2; exit 3", description='StdOutput = "out";')
    row = await reach(client, job, "Done")
    assert row["exit_code"] == 3
    part = await client.read_file(job, "out")
    assert (part.content, part.size) == (b"hello\n", 6)
    roles = {file.path: file.role for file in await client.files(job)}
    assert roles["out"] == "stdout"
    await client.fetched(job)
    assert (await client.job(job)).row["state"] == "Cleared"
    story = [event.type for event in await client.events_of(job)]
    steps = ["submitted", "accepted", "matched", "scheduled", "running", "done", "cleared"]
    assert story == [f"job.{step}" for step in steps]


async def test_a_site_tells_how_many_jobs_ended_well_and_failed_there(client: BrokerClient) -> None:
    for code in (0, 0, 4):
        await reach(client, await script(client, f"exit {code}"), "Done")
    [site] = await client.sites()
    assert (site.done, site.failed) == (2, 1)


async def test_output_can_be_read_while_the_job_runs(client: BrokerClient) -> None:
    job = await script(client, "echo first; sleep 60", description='StdOutput = "out";')
    await reach(client, job, "Running")

    async def first_line() -> bytes:
        while not (part := await client.read_file(job, "out")).content:
            await asyncio.sleep(0.02)
        return part.content

    assert await within(first_line(), LONG) == b"first\n"
    assert any(file.growing for file in await client.files(job))
    assert (await client.cancel([job])).results == {job: None}
    row = await reach(client, job, "Canceled")
    assert "owner" in row["reason"]
    assert (await client.read_file(job, "out")).content == b"first\n"


async def test_a_part_of_a_file_is_read_by_its_range(client: BrokerClient) -> None:
    job = await script(client, "printf 0123456789", description='StdOutput = "out";')
    await reach(client, job, "Done")
    middle = await client.read_file(job, "out", 3, 4)
    assert (middle.content, middle.start, middle.size) == (b"3456", 3, 10)
    tail = await client.read_file(job, "out", -2)
    assert (tail.content, tail.start) == (b"89", 8)
    beyond = await client.read_file(job, "out", 10)
    assert beyond.content == b""


async def test_the_same_key_gives_the_same_job_also_at_the_same_time(client: BrokerClient) -> None:
    again = key()
    receipts = await asyncio.gather(*(submit(client, TRUE, key=again) for _ in range(8)))
    assert len({receipt.ids[0] for receipt in receipts}) == 1
    assert (await submit(client, TRUE, key=again)).ids == receipts[0].ids
    assert (await client.jobs_page()).total == 1


async def test_values_make_a_batch_with_one_job_for_each(client: BrokerClient) -> None:
    text = 'Executable = "/bin/echo"; Arguments = "_PARAM_"; StdOutput = "out";'
    receipt = await submit(client, text, values=["a b", "c;d"], name="letters")
    assert receipt.batch
    for job, expected in zip(receipt.ids, ("a b\n", "c;d\n"), strict=True):
        row = await reach(client, job, "Done")
        assert (row["batch"], row["name"]) == (receipt.batch, "letters")
        assert (await client.read_file(job, "out")).content.decode() == expected


async def test_each_job_of_a_sweep_is_named_after_its_own_value(client: BrokerClient) -> None:
    text = 'JobName = "rate-_PARAM_"; Executable = "/bin/true";'
    receipt = await submit(client, text, values=["1", "2"], hold="stay")
    assert [(await client.job(job)).row["name"] for job in receipt.ids] == ["rate-1", "rate-2"]


async def test_a_job_id_has_22_url_safe_characters_and_no_dash_first(client: BrokerClient) -> None:
    receipt = await submit(client, TRUE, values=[str(value) for value in range(300)])
    assert len(set(receipt.ids)) == 300
    assert all(len(job) == 22 and job[0] != "-" for job in receipt.ids)


async def test_a_held_job_starts_when_it_is_released(client: BrokerClient) -> None:
    (job,) = (await submit(client, TRUE, hold="wait for me")).ids
    row = await reach(client, job, "Waiting")
    assert row["held"] == "wait for me"
    assert (await client.release([job])).results[job] is None
    await reach(client, job, "Done")
    assert (await client.hold([job])).results[job] is not None


async def test_a_job_that_has_ended_cannot_be_canceled_and_nothing_changes(client: BrokerClient) -> None:
    (job,) = (await submit(client, TRUE)).ids
    before = await reach(client, job, "Done")
    outcome = await client.cancel([job, "nosuchjob"])
    assert "Done" in (outcome.results[job] or "")
    assert "no such job" in (outcome.results["nosuchjob"] or "")
    assert (await client.job(job)).row == before


async def test_output_that_was_not_all_there_leaves_the_job_done(client: BrokerClient) -> None:
    (job,) = (await submit(client, TRUE)).ids
    await reach(client, job, "Done")
    await client.fetched(job, ["result.dat"])
    row = (await client.job(job)).row
    assert row["state"] == "Done"
    assert "result.dat" in row["reason"]


async def test_output_of_a_job_that_runs_cannot_be_called_fetched(client: BrokerClient) -> None:
    job = await script(client, "sleep 60")
    await reach(client, job, "Running")
    with pytest.raises(Conflict):
        await client.fetched(job)
    await client.cancel([job])
    await reach(client, job, "Canceled")


async def test_a_purged_job_is_gone_with_its_files(client: BrokerClient) -> None:
    job = await script(client, "echo x")
    await reach(client, job, "Done")
    assert (await client.purge([job])).results == {job: None}
    with pytest.raises(NotFound):
        await client.job(job)


async def test_a_job_that_needs_what_is_not_here_waits_with_the_reason(client: BrokerClient) -> None:
    text = 'JobType = "Parallel"; SubJobType = "openmpi"; NodeNumber = 2; Executable = "/bin/true";'
    (mpi,) = (await submit(client, text)).ids
    (plain,) = (await submit(client, TRUE)).ids
    await reach(client, plain, "Done")
    detail = await client.job(mpi)
    assert detail.row["state"] == "Waiting"
    assert "openmpi" in detail.waits_for.lower()
