"""Jobs are run once more in their places of their batches; what has ended stays as it is."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from broker_core.bookkeeping.check import check
from broker_core.client.client import BrokerClient
from broker_core.errors import BadRequest, Conflict, DescriptionRefused, NotFound
from broker_core.system.paths import places
from tests.broker.jobs import key, reach, script, submit, upload
from tests.running import RunningBroker

GATED = """Executable = "try.sh"; InputSandbox = {"try.sh", "_PARAM_.txt"}; Arguments = "_PARAM_";
StdOutput = "out"; // the comment stays
"""
TRY = b'#!/bin/sh\ncat "$1.txt"; [ -e "$1.txt" ] && [ "$1" != b ] || exit 3\n'


async def _batch(client: BrokerClient, values: str = "abc") -> list[str]:
    files = [await upload(client, TRY, "try.sh", executable=True)]
    files += [await upload(client, f"file {value}".encode(), f"{value}.txt") for value in values]
    receipt = await submit(client, GATED, values=list(values), files=files, name="try")
    for job in receipt.ids:
        await reach(client, job, "Done")
    return receipt.ids


async def test_a_rerun_has_place_value_files_and_description_of_the_job_that_it_repeats(
    client: BrokerClient,
) -> None:
    jobs = await _batch(client)
    before = await client.job(jobs[1])
    assert before.row["exit_code"] == 3
    receipt = await client.resubmit([jobs[1]])
    (again,) = receipt.ids
    assert receipt.batch == before.row["batch"]
    row = await reach(client, again, "Done")
    same = ("batch", "parameter", "name", "pinned", "description", "cpus", "structure", "owner")
    assert {one: row[one] for one in same} == {one: before.row[one] for one in same}
    assert (row["rerun_of"], row["exit_code"]) == (jobs[1], 3)
    detail = await client.job(again)
    assert detail.files == before.files
    assert [file.executable for file in detail.files] == [True, False]
    assert (await client.read_file(again, "out")).content == b"file b"
    assert (await client.job(jobs[1])).row == before.row


async def test_attributes_and_the_site_can_be_changed(client: BrokerClient) -> None:
    jobs = await _batch(client, "ab")
    changes = {"Arguments": "a", "WallTime": "600", "InputSandbox": '{"try.sh", "a.txt"}'}
    with pytest.raises(BadRequest, match=r"a\.txt"):
        await client.resubmit([jobs[1]], changes)
    receipt = await client.resubmit([jobs[1]], {"Environment": '{"X=1"}', "arguments": "c"}, site="local")
    row = await reach(client, receipt.ids[0], "Done")
    assert row["pinned"] == "local"
    text = (await client.job(receipt.ids[0])).description
    assert 'Arguments = "c";' in text
    assert "the comment stays" in text
    assert 'Environment = {"X=1"};' in text
    renamed = await client.resubmit([jobs[0]], {"JobName": "once more _PARAM_"})
    assert (await client.job(renamed.ids[0])).row["name"] == "once more a"


async def test_jobs_of_one_site_are_sent_to_another_or_wherever_they_fit(client: BrokerClient) -> None:
    text = 'Executable = "/bin/true"; Requirements = other.GlueSiteName == "local";'
    (job,) = (await submit(client, text, site="local")).ids
    await reach(client, job, "Done")
    (far,) = (await client.resubmit([job], site="far")).ids
    detail = await client.job(far)
    assert (detail.row["pinned"], "Requirements" in detail.description) == ("far", False)
    await client.cancel([far])
    await reach(client, far, "Canceled")
    (again,) = (await client.resubmit([far], {"Memory": "1M"}, anywhere=True)).ids
    row = await reach(client, again, "Done")
    assert row["pinned"] == ""
    assert "MemoryPerNode = 1;" in (await client.job(again)).description


async def test_values_that_are_not_in_order_are_refused_with_place_and_nothing_is_run(
    client: BrokerClient,
) -> None:
    jobs = await _batch(client, "a")
    with pytest.raises(DescriptionRefused) as told:
        await client.resubmit(jobs, {"WallTime": "soon"})
    assert told.value.place.endswith("line 3")
    assert "WallTime" in str(told.value)
    with pytest.raises(BadRequest, match="cannot be the name"):
        await client.resubmit(jobs, {"Wall Time": "7"})
    assert (await client.jobs_page()).total == 1


async def test_each_job_is_repeated_once_and_the_later_one_is_named(client: BrokerClient) -> None:
    job = await script(client, "exit 1")
    with pytest.raises(NotFound):
        await client.resubmit([job, "A" * 22])
    await reach(client, job, "Done")
    tries = await asyncio.gather(*(client.resubmit([job]) for _ in range(5)), return_exceptions=True)
    (done,) = [one for one in tries if not isinstance(one, BaseException)]
    assert sum(isinstance(one, Conflict) for one in tries) == 4
    await reach(client, done.ids[0], "Done")
    latest = (await client.resubmit(done.ids)).ids[0]
    await reach(client, latest, "Done")
    assert (await client.job(job)).repeated_by == done.ids[0]
    assert (await client.job(latest)).repeated_by == ""
    assert job in (await client.events_of(done.ids[0]))[0].reason
    for states in ((), ("failed",), ("Done",)):  # none of a batch: each of its runs is a job in the list
        page = await client.jobs_page(states=states, columns=("id",), latest=True)
        assert (set(page.columns["id"]), page.total) == ({job, *done.ids, latest}, 3)
    with pytest.raises(Conflict, match=latest) as told:
        await client.resubmit([job])
    assert told.value.place == job
    assert (await client.jobs_page()).total == 3


async def test_a_run_in_the_middle_that_is_removed_leaves_one_member(
    client: BrokerClient, running_broker: RunningBroker, state_dir: Path
) -> None:
    jobs = await _batch(client, "ab")
    chain = [jobs[1]]
    for _ in range(4):
        chain += (await client.resubmit([chain[-1]])).ids
        await reach(client, chain[-1], "Done")
    await client.purge([chain[1]])
    await client.purge(chain[2:4])

    async def members() -> set[str]:
        page = await client.jobs_page(latest=True, columns=("id", "rerun_of"))
        return set(page.columns["id"])

    assert await members() == {jobs[0], chain[4]}
    assert (await client.job(chain[4])).row["rerun_of"] == chain[0]
    assert (await client.job(chain[0])).repeated_by == chain[4]
    running_broker.kill()
    assert check(places(state_dir).store) == []
    running_broker.start()
    assert await members() == {jobs[0], chain[4]}
    (again,) = (await client.resubmit([chain[4]])).ids
    assert await members() == {jobs[0], again}


async def test_a_job_that_goes_on_is_not_repeated(client: BrokerClient) -> None:
    job = await script(client, "sleep 600")
    ended = await script(client, "exit 1")
    await reach(client, ended, "Done")
    with pytest.raises(Conflict, match="has not ended yet") as told:
        await client.resubmit([ended, job])
    assert (told.value.place, told.value.code) == (job, "not_ended")
    await client.cancel([job])
    await reach(client, job, "Canceled")
    assert len((await client.resubmit([ended, job])).ids) == 2


async def test_the_same_key_repeats_once_also_over_a_killed_broker(
    client: BrokerClient, running_broker: RunningBroker
) -> None:
    jobs = await _batch(client)
    again = key()
    receipt = await client.resubmit(jobs, key=again)
    running_broker.kill()
    running_broker.start()
    assert await client.resubmit(jobs, key=again) == receipt
    page = await client.jobs_page(columns=("id", "rerun_of"))
    assert sorted(page.columns["rerun_of"]) == sorted([""] * 3 + jobs)


@pytest.mark.parametrize("point", ["before:submission", "store.before-commit", "store.after-commit"])
async def test_a_broker_killed_while_it_takes_reruns_makes_each_once(
    client: BrokerClient, running_broker: RunningBroker, broker: Path, point: str
) -> None:
    jobs = await _batch(client)
    running_broker.kill()
    running_broker.start(CROSSDESK_FAIL_AT=f"{point}:1")
    asked = asyncio.create_task(client.resubmit(jobs, key="rerun-once"))
    while running_broker.alive:
        await asyncio.sleep(0.02)
    running_broker.start()
    receipt = await asked
    for job in receipt.ids:
        await reach(client, job, "Done")
    page = await client.jobs_page(columns=("id", "rerun_of"))
    assert sorted(page.columns["rerun_of"]) == sorted([""] * 3 + jobs)
    running_broker.kill()
    assert check(places(broker).store) == []


async def test_members_that_differ_in_their_value_alone_are_repeated_together(client: BrokerClient) -> None:
    text = 'Executable = "/bin/false"; Arguments = "_PARAM_";'
    values = [str(number) for number in range(300)]
    receipt = await submit(client, text, values=values, hold="not yet")
    await client.cancel(receipt.ids)
    await reach(client, receipt.ids[-1], "Canceled")
    again = await client.resubmit(receipt.ids)
    assert again.batch == receipt.batch
    page = await client.jobs_page(columns=("id", "parameter", "rerun_of"))
    found = {job: (value, of) for job, value, of in zip(*page.columns.values(), strict=True)}
    assert [found[job] for job in again.ids] == list(zip(values, receipt.ids, strict=True))
    await client.cancel(again.ids)
