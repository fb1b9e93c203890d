"""`crossdesk job services`: pages of a batch job, by broker, agent and relay (others: tests/app)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from broker_core.client.connect import connect
from broker_core.client.package_data import folder
from tests.broker.jobs import reach
from tests.command_line.calling import command, crossdesk
from tests.interactive.pages import page
from tests.running import RunningBroker, processes_of

BATCH = 'Executable = "serve.py"; InputSandbox = {"serve.py"};'
_PIPE = asyncio.subprocess.PIPE


@pytest.fixture
def batch(running_broker: RunningBroker, tmp_path: Path) -> str:
    """Id of a job that serves its files."""
    (tmp_path / "batch.jdl").write_text(BATCH)
    (tmp_path / "serve.py").write_bytes((folder("samples") / "web-page" / "serve.py").read_bytes())
    (tmp_path / "serve.py").chmod(0o755)
    submitted = crossdesk("job", "submit", "--json", str(tmp_path / "batch.jdl"))
    assert submitted.code == 0, submitted.err
    return str(submitted.json["ids"][0])


async def services(job: str, *words: str) -> asyncio.subprocess.Process:
    """The command, which keeps the way to a page open."""
    return await asyncio.create_subprocess_exec(
        *command("job", "services", job, *words), stdout=_PIPE, stderr=_PIPE
    )


async def test_a_page_is_opened_and_ends_with_its_job(batch: str, running_broker: RunningBroker) -> None:
    opened, waiting = await services(batch, "--url"), await services(batch, "other", "--open")
    assert opened.stdout is not None
    address = (await opened.stdout.readline()).decode().strip()
    assert b"serve.py" in await asyncio.to_thread(page, address)
    listed = await asyncio.to_thread(crossdesk, "job", "services", "--json", batch)
    assert listed.json == [{"name": "Files of the job", "state": "ready", "problem": ""}]
    canceled = await asyncio.to_thread(crossdesk, "job", "cancel", batch)
    assert canceled.code == 0
    _, why = await waiting.communicate()
    assert (await opened.wait(), waiting.returncode) == (0, 1)
    assert b"The job has ended, and offered no such page" in why
    with pytest.raises(ConnectionError):
        await asyncio.to_thread(page, address)
    token = address.partition("token=")[2].encode()
    everything = [one for one in running_broker.state_dir.rglob("*") if one.is_file()]
    assert everything
    assert [one for one in everything if token in one.read_bytes()] == []


def test_a_job_that_offers_nothing_says_so(job: str) -> None:
    told = crossdesk("job", "services", job)
    assert (told.code, told.out) == (0, "")
    assert "serves no page" in told.err


async def test_desks_that_come_at_once_get_one_agent(batch: str, running_broker: RunningBroker) -> None:
    async with await connect(running_broker.state_dir, start=False) as client:
        await reach(client, batch, "Running")
        await asyncio.gather(*(client.bring_agent(batch) for _ in range(4)))
        await client.bring_agent(batch)
    assert len([pid for pid in processes_of(running_broker.state_dir) if is_agent(pid)]) == 1


def is_agent(pid: int) -> bool:
    """Whether the process is an agent; one that has ended meanwhile is none."""
    try:
        return b"broker_core.worker.start" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
