"""The files that a job was sent with can be had again from the broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.fetch import fetch_inputs
from broker_core.errors import NotFound
from broker_core.wire.submission import Submission, SubmissionItem
from tests.broker.jobs import upload


async def _sent(client: BrokerClient) -> str:
    files = [
        await upload(client, b"#!/bin/sh\n", "tool.sh", executable=True),
        await upload(client, bytes(range(256)) * 4096, "a täg.dat"),
        await upload(client, b"", "empty"),
    ]
    item = SubmissionItem(description='Executable = "tool.sh"; InputSandbox = {"tool.sh"};', files=files)
    return (await client.submit(Submission(key="inputs-of-a-job-1", items=[item], hold="test"))).ids[0]


async def test_they_come_whole_with_their_names_and_what_can_be_executed(
    client: BrokerClient, tmp_path: Path
) -> None:
    job, steps = await _sent(client), list[tuple[int, int]]()
    await fetch_inputs(client, await client.job(job), tmp_path, lambda *step: steps.append(step))
    assert (tmp_path / "a täg.dat").read_bytes() == bytes(range(256)) * 4096
    assert (tmp_path / "tool.sh").stat().st_mode & 0o100
    assert not (tmp_path / "empty").stat().st_mode & 0o100
    assert (tmp_path / "empty").read_bytes() == b""
    assert steps[-1] == ((1 << 20) + 10, (1 << 20) + 10)


async def test_what_was_not_sent_is_not_there(client: BrokerClient) -> None:
    job = await _sent(client)
    for name in ("other", "../tool.sh", ""):
        with pytest.raises(NotFound):
            async for _ in client.stream_input(job, name):
                pass
    with pytest.raises(NotFound):
        async for _ in client.stream_input("no-such-job", "tool.sh"):
            pass
