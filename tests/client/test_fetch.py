"""Fetching output from a real broker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.client.fetch import fetch_output
from broker_core.client.prepare import prepare
from broker_core.command_line.job.following import until_ended
from broker_core.errors import Conflict
from broker_core.wire.views import OutputFile
from tests.client.one_job import HELLO, one


@pytest.fixture
async def client(broker: Path) -> AsyncIterator[BrokerClient]:
    async with await connect(broker, start=False) as client:
        yield client


async def done(client: BrokerClient, description: str = HELLO) -> str:
    job = (await client.submit(one(description))).ids[0]
    await until_ended(client, [job], timeout=60)
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
    with pytest.raises(Conflict, match="when it has ended"):
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


HOSTILE = """#!/bin/sh
mkdir d
echo one > "d/two
lines"
echo long > "$(printf "%0254d" 1)"
ln -s /etc/passwd leak
ln -s .. up
mkfifo pipe
"""


async def test_files_with_hostile_names_are_delivered_and_no_link_is_followed(
    client: BrokerClient, tmp_path: Path
) -> None:
    (tmp_path / "make.sh").write_text(HOSTILE)
    description = 'Executable = "make.sh"; InputSandbox = {"make.sh"}; OutputSandbox = {"d/*", "0*", "*"};'
    job = (await client.submit_prepared(await prepare(description, tmp_path))).ids[0]
    await until_ended(client, [job], timeout=60)
    fetched = await fetch_output(client, job, tmp_path / "out")
    names = {str(path.relative_to(fetched.directory)) for path in fetched.files}
    assert names == {"d/two\nlines", f"{1:0254d}", "make.sh", "std.out", "std.err"}
    assert (fetched.directory / "d" / "two\nlines").read_text() == "one\n"
    assert fetched.failed == ()


async def test_a_folder_is_delivered_with_all_its_files(client: BrokerClient, tmp_path: Path) -> None:
    (tmp_path / "make.sh").write_text(
        "mkdir -p results/deep; echo 1 >results/a; echo 2 >results/deep/b; echo 3 >c"
    )
    description = 'Executable = "make.sh"; InputSandbox = {"make.sh"}; OutputSandbox = {"results/", "c"};'
    job = (await client.submit_prepared(await prepare(description, tmp_path))).ids[0]
    await until_ended(client, [job], timeout=60)
    fetched = await fetch_output(client, job, tmp_path / "out")
    names = {str(path.relative_to(fetched.directory)) for path in fetched.files}
    assert names == {"results/a", "results/deep/b", "c"}
    assert fetched.missing == ()
    assert (await client.job(job)).row["state"] == "Cleared"


async def test_without_a_list_all_that_the_job_made_is_delivered(
    client: BrokerClient, tmp_path: Path
) -> None:
    (tmp_path / "make it.sh").write_text("mkdir r; echo 1 >'r/a b'; echo 2 >c; ln -s c link; echo said")
    (tmp_path / "in.dat").write_text("sent")
    description = 'Executable = "make it.sh"; InputSandbox = {"make it.sh", "in.dat"};'
    job = (await client.submit_prepared(await prepare(description, tmp_path))).ids[0]
    await until_ended(client, [job], timeout=60)
    fetched = await fetch_output(client, job, tmp_path / "out")
    names = {str(path.relative_to(fetched.directory)) for path in fetched.files}
    assert names == {"r/a b", "c", "std.out", "std.err"}
    assert fetched.missing == ()
    assert (await client.job(job)).row["state"] == "Cleared"


async def test_with_an_empty_list_only_what_it_said_is_delivered(
    client: BrokerClient, tmp_path: Path
) -> None:
    (tmp_path / "make.sh").write_text("echo 2 >c; echo said")
    description = 'Executable = "make.sh"; InputSandbox = {"make.sh"}; OutputSandbox = {};'
    job = (await client.submit_prepared(await prepare(description, tmp_path))).ids[0]
    await until_ended(client, [job], timeout=60)
    fetched = await fetch_output(client, job, tmp_path / "out")
    assert [path.name for path in fetched.files] == ["std.out"]


async def test_a_file_that_cannot_be_saved_keeps_no_other_back(
    client: BrokerClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "make.sh").write_text("#!/bin/sh\necho a > a\necho b > b\n")
    description = 'Executable = "make.sh"; InputSandbox = {"make.sh"}; OutputSandbox = {"a", "b"};'
    job = (await client.submit_prepared(await prepare(description, tmp_path))).ids[0]
    await until_ended(client, [job], timeout=60)
    listed = await client.files(job)

    async def with_one_that_goes(_: str) -> list[OutputFile]:
        return [OutputFile(path="gone", size=1, modified=0.0, role="output", growing=False), *listed]

    monkeypatch.setattr(client, "files", with_one_that_goes)
    fetched = await fetch_output(client, job, tmp_path / "out")
    assert [path.name for path in fetched.files] == ["a", "b"]
    assert [one.partition(":")[0] for one in fetched.failed] == ["'gone'"]
    assert sorted(path.name for path in fetched.directory.iterdir()) == ["a", "b"]
    assert (await client.job(job)).row["state"] == "Done"
