"""A second broker, a full disk, a broker that is stopped for a while, and few file descriptors."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
from io import FileIO
from itertools import count
from pathlib import Path

import orjson
import pytest

from broker_core.broker.daemon.daemon import TAKEN
from broker_core.client.client import BrokerClient
from broker_core.errors import BadRequest, StorageFull
from tests.crash.control_group import control_group
from tests.crash.survivor import Survivor
from tests.waiting import eventually


async def test_a_second_broker_names_the_first_and_changes_nothing(survivor: Survivor) -> None:
    async with survivor.client() as client:
        survivor.start()
        first = await client.info()
        second = subprocess.run(
            [sys.executable, "-m", "broker_core.broker.daemon", "--state-dir", str(survivor.state_dir)],
            capture_output=True, timeout=60, check=False,
        )  # fmt: skip
        said = orjson.loads(second.stderr.splitlines()[-1])
        assert (second.returncode, said["code"]) == (TAKEN, "state_directory_taken")
        assert str(first.pid) in said["message"] + said["place"]
        assert (await client.info()).pid == first.pid
        await survivor.submit(client, ["a"], 0, "key-of-the-job")
        await survivor.all_ended(client)
    assert (await survivor.verdict()).faults == []


async def test_a_broker_stopped_for_a_while_catches_up(survivor: Survivor) -> None:
    async with survivor.client() as client:
        survivor.start()
        await survivor.submit(client, ["a", "b", "c", "d"], 0.5, "key-of-the-jobs")
        effects = survivor.effects
        await eventually(lambda: any("start" in path.read_text() for path in effects.iterdir()))
        survivor.kill(signal.SIGSTOP)
        await eventually(lambda: sum(p.read_text().count("end") for p in effects.iterdir()) >= 1)
        await asyncio.sleep(0.5)
        survivor.kill(signal.SIGCONT)
        await survivor.all_ended(client)
    verdict = await survivor.verdict()
    assert (verdict.faults, verdict.states) == ([], {"Done": 4})


async def test_few_file_descriptors_delay_jobs_and_lose_none(survivor: Survivor) -> None:
    old = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (48, old[1]))
    try:
        survivor.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, old)
    async with survivor.client() as client:
        await survivor.submit(client, [str(value) for value in range(60)], 0.02, "key-of-the-jobs")
        await survivor.all_ended(client)
    verdict = await survivor.verdict()
    assert (verdict.faults, verdict.states) == ([], {"Done": 60})


@pytest.mark.control_group
async def test_a_full_process_table_delays_jobs_and_loses_none(survivor: Survivor) -> None:
    with control_group("pids") as group:
        async with survivor.client() as client:
            survivor.start()
            group.take((await client.info()).pid)
            group.limit_tasks(group.tasks)
            jobs = await survivor.submit(client, ["a", "b", "c", "d"], 0.1, "key-of-the-jobs")
            await eventually(lambda: group.refused >= 3, what="the kernel refuses processes")
            stories = [await client.events_of(job) for job in jobs]
            assert not [event.reason for story in stories for event in story if "error" in event.reason]
            group.limit_tasks(None)
            await survivor.all_ended(client)
        verdict = await survivor.verdict()
    assert (verdict.faults, verdict.states) == ([], {"Done": 4})


@pytest.mark.control_group
async def test_a_broker_killed_for_its_memory_loses_nothing(survivor: Survivor) -> None:
    with control_group("memory") as group:
        async with survivor.client(patience=60) as client:
            survivor.start()
            await survivor.submit(client, ["a", "b", "c"], 1.0, "key-of-the-jobs")
            pid = (await client.info()).pid
            group.take(pid)
            group.limit_memory(group.used + 40_000_000)
            await asyncio.gather(_greedy(client), eventually(lambda: survivor.deaths == 1, 60))
            assert (await client.info()).pid != pid
            await survivor.all_ended(client)
        verdict = await survivor.verdict()
    assert (verdict.faults, verdict.states) == ([], {"Done": 3})


async def _greedy(client: BrokerClient) -> None:
    """Ask for something that needs more memory than the broker may have; a later broker refuses it."""
    with pytest.raises(BadRequest):
        await client.save_document("large", "x" * 200_000_000)


@pytest.mark.root
async def test_a_full_disk_refuses_submissions_and_loses_nothing(isolated: Path) -> None:
    disk = isolated / "small"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(disk)], check=True)
    survivor = Survivor(disk / "state", isolated / "effects")
    try:
        await _fill_and_free(survivor, disk)
    finally:
        survivor.close()
        subprocess.run(["umount", "-l", str(disk)], check=True)


async def _fill_and_free(survivor: Survivor, disk: Path) -> None:
    async with survivor.client() as client:
        survivor.start()
        await survivor.submit(client, ["running", "waiting"], 1.0, "key-of-the-first")
        ballast = disk / "ballast"
        _fill(ballast)
        many = (f"many{number}" for number in count())

        async def accepted() -> bool:
            return await _accepted(survivor, client, [next(many) for _ in range(200)])

        async def refused() -> bool:
            return not await accepted()

        await eventually(refused)
        assert (await client.info()).accepting
        ballast.unlink()
        await eventually(accepted)
        await survivor.all_ended(client, 120)
    assert (await survivor.verdict()).faults == []


def _fill(ballast: Path) -> None:
    with ballast.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
        _write_for_ever(file)


def _write_for_ever(file: FileIO) -> None:
    while file.write(b"\0" * 4096):
        continue


async def _accepted(survivor: Survivor, client: BrokerClient, values: list[str]) -> bool:
    try:
        await survivor.submit(client, values, 0, os.urandom(8).hex())
    except StorageFull as error:
        return not error.place
    return True
