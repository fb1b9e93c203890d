"""Searching in the logs of many jobs before a real broker: hostile patterns and hostile logs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from broker_core.broker.log_search import program
from broker_core.broker.log_search.process import search_files
from broker_core.client.client import BrokerClient
from broker_core.errors import BadRequest
from broker_core.wire.log_search import LogSearch, SearchedLog
from broker_core.wire.submission import Submission, SubmissionItem
from tests.waiting import eventually

JOB = r"""[ Executable = "/bin/sh"; Arguments = "-c '%s'"; StdOutput = "o"; StdError = "e";
  OutputSandbox = {"o", "e"}; ]"""
EVIL = "(a+)+$"
"""Takes for ever in a line of many a and another letter."""


async def ran(client: BrokerClient, commands: list[str]) -> list[str]:
    items = [SubmissionItem(description=JOB % command) for command in commands]
    ids = (await client.submit(Submission(key=f"log-search-{id(items)}", items=items))).ids

    async def ended() -> bool:
        return all([(await client.job(job)).row["ended"] for job in ids])

    await eventually(ended)
    return list(ids)


async def searched(client: BrokerClient, ids: list[str], text: str, **more: object) -> list[SearchedLog]:
    wanted = LogSearch(ids=ids[:1], text=text, **more)  # type: ignore[arg-type]
    return [log async for step in client.search_all_logs(wanted, ids) for log in step.logs]


async def test_hits_tell_their_lines_with_what_stands_around_them(client: BrokerClient) -> None:
    ids = await ran(client, ["seq 1 20; echo Trouble in line 21; echo after", "echo nothing here", "true"])
    (log,) = await searched(client, ids, "trouble")
    (hit,) = log.hits
    assert (log.job, log.path, log.role) == (ids[0], "o", "stdout")
    assert (hit.line, hit.text, hit.before, hit.after) == (21, "Trouble in line 21", ["20"], ["after"])
    assert (hit.start, hit.length, hit.offset) == (0, 7, 9 * 2 + 11 * 3)


async def test_output_and_errors_are_searched_by_text_or_expression(client: BrokerClient) -> None:
    ids = await ran(client, ["echo loss 0.25; echo loss 0.5 >&2"])
    assert [log.role for log in await searched(client, ids, r"loss 0\.\d+", regex=True)] == [
        "stdout",
        "stderr",
    ]
    assert [log.role for log in await searched(client, ids, "loss", roles=["stderr"])] == ["stderr"]
    assert await searched(client, ids, r"loss 0\.\d+") == []
    with pytest.raises(BadRequest, match="no regular expression"):
        await searched(client, ids, "(", regex=True)


@pytest.mark.slow
async def test_a_hostile_expression_keeps_nobody_waiting(client: BrokerClient) -> None:
    ids = await ran(client, ["echo " + "a" * 60 + "b", "echo aaa"])
    logs = await searched(client, ids, EVIL, regex=True)
    assert {log.job: bool(log.hits) for log in logs} == {ids[0]: False, ids[1]: True}
    assert "given up" in logs[0].remark


async def test_jobs_of_nobody_and_removed_ones_have_no_hits(client: BrokerClient) -> None:
    ids = await ran(client, ["echo one", "echo one"])
    await client.purge(ids[:1])
    logs = await searched(client, [*ids, "no-such-job"], "one")
    assert [log.job for log in logs] == ids[1:]


async def test_more_hits_than_wanted_are_counted_as_more(client: BrokerClient) -> None:
    ids = await ran(client, ["seq 1 100"])
    (log,) = await searched(client, ids, "1", most=5)
    assert [hit.line for hit in log.hits] == [1, 10, 11, 12, 13]
    assert log.more


async def test_many_jobs_take_many_requests(client: BrokerClient) -> None:
    ids = await ran(client, [f"echo job {number}" for number in range(60)])
    wanted = LogSearch(ids=ids[:1], text="job")
    steps = [step async for step in client.search_all_logs(wanted, ids)]
    assert [log.job for step in steps for log in step.logs] == ids
    assert [step.searched for step in steps][-1] == 60
    assert len(steps) > 1


async def test_hostile_files_are_searched_as_far_as_they_go(tmp_path: Path) -> None:
    contents = {
        "binary": b"needle\0needle\n",
        "long": b"x" * 3_000_000 + b"\nneedle\n",
        "escape": b"\x1b[31mneedle\x1b[0m\r\n\xff\xfeneedle",
        "empty": b"",
    }
    handles = []
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        handles.append(os.open(tmp_path / name, os.O_RDONLY))
    try:
        found = await search_files(LogSearch(ids=["a"], text="needle"), handles)
    finally:
        for handle in handles:
            os.close(handle)
    binary, long, escape, empty = found.answers
    assert binary["hits"] == []
    assert binary["remark"] == "It holds no text."
    assert [(hit["line"], hit["offset"]) for hit in long["hits"]] == [(2, 3_000_001)]
    assert [hit["line"] for hit in escape["hits"]] == [1, 2]
    assert empty["hits"] == []


def test_lines_that_are_longer_than_a_part_keep_their_offsets(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"short\n" + b"y" * (2 << 20) + b"\nend")
    handle = os.open(path, os.O_RDONLY)
    try:
        lines = list(program.lines_of(handle))
    finally:
        os.close(handle)
    assert [(offset, len(line)) for offset, line in lines] == [
        (0, 5),
        (6, program.LINE_MOST),
        (6 + (2 << 20) + 1, 3),
    ]
