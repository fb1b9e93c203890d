"""Fetching output from a real broker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.client.fetch import fetch_output
from broker_core.command_line.following import until_ended
from broker_core.errors import Conflict
from tests.client.test_client import HELLO, one


@pytest.fixture
async def client(broker: Path) -> AsyncIterator[BrokerClient]:
    async with await connect(broker, start=False) as client:
        yield client


async def done(client: BrokerClient, description: str = HELLO) -> str:
    job = (await client.submit(one(description))).ids[0]
    await until_ended(client, [job], timeout=30)
    return job


async def test_output_is_saved_and_the_job_is_cleared(client: BrokerClient, tmp_path: Path) -> None:
    job = await done(client)
    fetched = await fetch_output(client, job, tmp_path / "new" / "folder")
    assert [path.read_text() for path in fetched.files] == ["hello\n"]
    assert fetched.directory.name == f"echo-{job[:8]}"
    assert (await client.job(job)).row["state"] == "Cleared"


async def test_nothing_is_overwritten_by_fetching_again(client: BrokerClient, tmp_path: Path) -> None:
    job = await done(client)
    first = await fetch_output(client, job, tmp_path)
    second = await fetch_output(client, job, tmp_path)
    assert second.directory.name == f"{first.directory.name}.1"
    assert first.files[0].read_text() == second.files[0].read_text()


async def test_a_missing_file_is_told_and_the_job_stays_done(client: BrokerClient, tmp_path: Path) -> None:
    job = await done(client, HELLO.replace('{"out.txt"}', '{"out.txt", "none.dat"}'))
    fetched = await fetch_output(client, job, tmp_path)
    assert fetched.missing == ("none.dat",)
    assert (await client.job(job)).row["state"] == "Done"


async def test_output_of_a_job_that_runs_is_not_fetched(client: BrokerClient, tmp_path: Path) -> None:
    job = (await client.submit(one(hold="look"))).ids[0]
    with pytest.raises(Conflict, match="Waiting"):
        await fetch_output(client, job, tmp_path)
    assert list(tmp_path.iterdir()) == []


async def test_a_file_in_the_way_of_the_folder_is_told(client: BrokerClient, tmp_path: Path) -> None:
    job = await done(client)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(Exception, match="cannot be saved"):
        await fetch_output(client, job, tmp_path / "file")


async def test_progress_ends_with_all_bytes(client: BrokerClient, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    await fetch_output(client, await done(client), tmp_path, lambda *step: seen.append(step))
    assert seen[-1] == (6, 6)
