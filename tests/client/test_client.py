"""The typed client against a real broker."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.client.prepare import prepare
from broker_core.command_line.job.following import until_ended
from broker_core.errors import BadRequest, DescriptionRefused, NotFound
from broker_core.wire.views import Update
from tests.client.one_job import HELLO, TRUE, one


@pytest.fixture
async def client(broker: Path) -> AsyncIterator[BrokerClient]:
    async with await connect(broker, start=False) as client:
        yield client


async def test_the_broker_says_who_it_is(client: BrokerClient, broker: Path) -> None:
    info = await client.info()
    assert info.state_dir == str(broker)
    assert info.accepting


async def test_a_job_runs_and_its_output_can_be_read_in_parts(client: BrokerClient) -> None:
    job = (await client.submit(one(HELLO))).ids[0]
    row = (await until_ended(client, [job], timeout=60))[0]
    assert (row["state"], row["exit_code"]) == ("Done", 0)
    assert (await client.read_file(job, "out.txt")).content == b"hello\n"
    assert (await client.read_file(job, "out.txt", 1, 3)).content == b"ell"
    tail = await client.read_file(job, "out.txt", -3)
    assert (tail.content, tail.start, tail.size) == (b"lo\n", 3, 6)
    assert (await client.read_file(job, "out.txt", 6)).content == b""


async def test_the_same_key_gives_the_same_job(client: BrokerClient) -> None:
    call = one(hold="look")
    assert await client.submit(call) == await client.submit(call)
    assert (await client.jobs_page()).total == 1


async def test_the_story_of_a_job_is_told_in_order(client: BrokerClient) -> None:
    job = (await client.submit(one())).ids[0]
    await until_ended(client, [job], timeout=60)
    events = await client.events_of(job)
    assert events[0].type == "job.submitted"
    assert events[-1].type == "job.done"
    assert [event.seq for event in events] == list(range(1, len(events) + 1))


async def test_a_refused_description_comes_back_with_places(client: BrokerClient) -> None:
    with pytest.raises(DescriptionRefused) as refused:
        await client.submit(one('Executable = "/bin/true"\nStdOutput = "*";'))
    assert refused.value.diagnostics
    assert all(found.code for found in refused.value.diagnostics)


async def test_an_unknown_job_is_not_found(client: BrokerClient) -> None:
    with pytest.raises(NotFound):
        await client.job("A" * 22)
    with pytest.raises(BadRequest):
        await client.job("")


async def test_bulk_commands_answer_for_each_job(client: BrokerClient) -> None:
    held = (await client.submit(one(hold="look"))).ids[0]
    assert (await client.release([held])).results == {held: None}
    await until_ended(client, [held], timeout=60)
    results = (await client.cancel([held, "B" * 22])).results
    assert all(results.values())
    assert (await client.purge([held])).results == {held: None}
    with pytest.raises(NotFound):
        await client.job(held)


async def test_contents_are_sent_once(client: BrokerClient) -> None:
    content = b"some content"
    sha = hashlib.sha256(content).hexdigest()
    assert await client.missing_files([sha]) == [sha]
    await client.upload(sha, content)
    assert await client.missing_files([sha]) == []


async def test_a_content_that_is_not_its_hash_is_refused(client: BrokerClient) -> None:
    with pytest.raises(BadRequest):
        await client.upload("0" * 64, b"something else")


async def test_files_go_with_a_prepared_submission(client: BrokerClient, tmp_path: Path) -> None:
    (tmp_path / "with space.txt").write_text("inside\n")
    text = 'Executable = "/bin/cat"; Arguments = "\'with space.txt\'"; StdOutput = "o";'
    text += 'InputSandbox = {"with space.txt"};'
    seen: list[tuple[int, int]] = []
    receipt = await client.submit_prepared(
        await prepare(text, tmp_path), progress=lambda *step: seen.append(step)
    )
    await until_ended(client, receipt.ids, timeout=60)
    assert (await client.read_file(receipt.ids[0], "o")).content == b"inside\n"
    assert seen[-1] == (7, 7)


async def test_check_and_match_agree_with_the_language(client: BrokerClient) -> None:
    assert (await client.check(TRUE)).ok
    assert not (await client.check("Executable")).ok
    report = await client.match(TRUE)
    assert any(resource.matches for resource in report.resources)


async def test_documents_are_kept(client: BrokerClient) -> None:
    assert await client.document("workspace") is None
    await client.save_document("workspace", {"columns": ["id", "state"], "ü": 1.5})
    assert await client.document("workspace") == {"columns": ["id", "state"], "ü": 1.5}


async def test_sites_and_statistics_are_told(client: BrokerClient) -> None:
    assert [site.spec.kind for site in await client.sites()] == ["local"]
    await client.submit(one(hold="look"))
    assert (await client.statistics()).kinds["Normal batch"].submitted == 1


async def test_the_stream_tells_every_event_of_a_job(client: BrokerClient) -> None:
    begin = (await client.jobs_page(1)).position
    job = (await client.submit(one())).ids[0]
    told: list[Update] = []
    async with asyncio.timeout(60):
        async with aclosing(client.follow(begin)) as updates:
            async for update in updates:
                told.append(update)
                if any(event.type == "job.done" for event in update.events):
                    break
    events = [event for update in told for event in update.events]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [update.position for update in told] == sorted({update.position for update in told})
    assert told[-1].rows["id"] == [job]


async def test_a_file_that_changed_since_it_was_read_is_named(client: BrokerClient, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("before")
    prepared = await prepare('Executable = "/bin/true"; InputSandbox = {"data"};', tmp_path)
    (tmp_path / "data").write_text("after")
    with pytest.raises(BadRequest, match="may have changed") as refused:
        await client.submit_prepared(prepared)
    assert refused.value.place == str(tmp_path / "data")
    assert (await client.jobs_page()).total == 0
