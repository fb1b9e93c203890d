"""The agent that a real glidein keeps warm, with real programs and desks (CB-GLI-02)."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from broker_core.worker.agent_settings import LINES, TERMINAL
from broker_core.worker.script import warm_start_path
from broker_core.worker.warm_agent import BELL
from tests.interactive.far_jobs import agent_file
from tests.interactive.pair import Bench, Screen, bench
from tests.running import ended, processes_of
from tests.waiting import eventually, within
from tests.worker.glidein_node import Node

AGENT = "agent"


class Warm:
    """A node whose glidein keeps an agent warm, and what an agent needs to meet a desk."""

    def __init__(self, node: Node, made: Bench, glidein: subprocess.Popen[bytes]) -> None:
        self.node, self.bench, self.glidein = node, made, glidein
        self.folder = node.own / "warm"

    @property
    def pid(self) -> int:
        """Of the process that waits."""
        (found,) = children_of(self.glidein.pid, self.folder)
        return found

    def serving(self) -> set[int]:
        """Pids of the copies that have a program."""
        return children_of(self.pid, self.folder)

    async def start(self, script: str, shell: Sequence[str] = ("/bin/sh",), **settings: object) -> Screen:
        """A desk that is with a program, which runs where an agent of its own would. `shell`: of the node."""
        wrapper = str(self.node.root / "programs" / AGENT)
        program = (*shell, str(self.folder / "start"), str(self.folder), wrapper)
        await self.bench.start_agent(("/bin/sh", "-c", script), program=program, **settings)
        return Screen(self.bench.desk())

    @property
    def starter(self) -> asyncio.subprocess.Process:
        """What the Job Starter would have started."""
        assert self.bench.agent is not None
        return self.bench.agent

    async def status(self) -> int:
        """Exit status of the agent, as the Job Starter gets it."""
        return await within(self.starter.wait())


def children_of(parent: int, folder: Path) -> set[int]:
    """Those of its children that have a folder on their command line."""
    found = set()
    for pid in processes_of(folder):
        with suppress(OSError):
            if int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) == parent:
                found.add(pid)
    return found


@pytest.fixture
async def warm(node: Node, tmp_path: Path) -> AsyncIterator[Warm]:
    agent_file(node.root / "programs" / AGENT)
    shutil.copy(warm_start_path(), node.root / "programs" / "warm_start")
    async with bench(tmp_path) as made:
        found = Warm(node, made, node.start(more=(AGENT, "warm_start")))
        node.renew(1)
        await eventually((found.folder / BELL).is_fifo, what="an agent is warm")
        yield found


async def test_a_program_gets_what_a_fresh_agent_would_give_it_and_its_status_comes_back(warm: Warm) -> None:
    script = "echo at $(pwd) $TERM $COLOR; stty size; ulimit -f; read line; echo got $line; exit 7"
    os.environ["COLOR"] = "deep blue"
    try:
        screen = await warm.start(script, term="xterm", columns=77, rows=33)
    finally:
        del os.environ["COLOR"]
    await screen.shows(f"at {warm.bench.job} xterm deep blue\r\n33 77\r\n".encode())
    assert len(warm.serving()) == 1
    screen.session.write(b"word\n")
    await screen.ended()
    assert b"got word" in screen.streams[1]
    assert await warm.status() == 7
    await eventually(lambda: not warm.serving())
    assert sorted(path.name for path in warm.folder.iterdir()) == ["agent", BELL, "start"]


@pytest.mark.parametrize("mode", [TERMINAL, LINES])
async def test_the_end_of_a_program_by_a_signal_comes_back(warm: Warm, mode: str) -> None:
    screen = await warm.start("kill -s SEGV $$", mode=mode)
    await screen.ended()
    assert await warm.status() == -signal.SIGSEGV


async def test_the_time_of_the_processor_is_told_beside_the_job(warm: Warm) -> None:
    screen = await warm.start("i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done")
    await screen.ended()
    assert await warm.status() == 0
    assert float((warm.bench.job.parent / "spent").read_text()) > 0.05


async def test_several_programs_are_served_at_once(warm: Warm, tmp_path: Path) -> None:
    first = await warm.start("echo first; read line; echo $line")
    await first.shows(b"first")
    (tmp_path / "second").mkdir()
    async with bench(tmp_path / "second") as made:
        other = Warm(warm.node, made, warm.glidein)
        second = await other.start("echo second; read line; echo $line")
        await second.shows(b"second")
        assert len(warm.serving()) == 2
        for screen in (first, second):
            screen.session.write(b"bye\n")
            await screen.ended()
        assert await other.status() == await warm.status() == 0


async def test_an_end_that_the_job_starter_asks_for_comes_to_the_program(warm: Warm) -> None:
    screen = await warm.start("trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.05; done")
    await screen.shows(b"ready")
    warm.starter.terminate()
    await screen.ended()
    assert b"asked" in screen.streams[1]
    assert await warm.status() == 3


@pytest.mark.parametrize("shell", [("bash",), ("bash", "--posix"), ("busybox", "sh")], ids=" ".join)
async def test_other_shells_of_nodes_do_the_same(warm: Warm, shell: Sequence[str], tmp_path: Path) -> None:
    script = "trap 'exit 3' TERM; read line; echo got $line; while :; do sleep 0.05; done"
    screen = await warm.start(script, shell)
    screen.session.write(b"word\n")
    await screen.shows(b"got word")
    assert len(warm.serving()) == 1
    warm.starter.terminate()
    await screen.ended()
    assert await warm.status() == 3
    (tmp_path / "second").mkdir()
    async with bench(tmp_path / "second") as made:
        other = Warm(warm.node, made, warm.glidein)
        screen = await other.start("kill -s SEGV $$", shell)
        await screen.ended()
        assert await other.status() == -signal.SIGSEGV


async def test_the_agent_does_not_outlive_the_process_in_whose_place_it_runs(warm: Warm) -> None:
    screen = await warm.start("echo ready; exec sleep 600")
    await screen.shows(b"ready")
    assert warm.serving()
    warm.starter.kill()
    await eventually(lambda: not warm.serving())
    await eventually(lambda: not processes_of(warm.bench.job), what="the program hangs up")
    assert warm.pid, "it waits for others"


async def test_an_agent_that_is_killed_ends_as_one_that_is(warm: Warm) -> None:
    screen = await warm.start("echo ready; exec sleep 600")
    await screen.shows(b"ready")
    (copy,) = warm.serving()
    (agent,) = children_of(copy, warm.folder)
    os.kill(agent, signal.SIGKILL)
    assert await warm.status() == -signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
async def test_where_the_warm_agent_does_not_answer_a_fresh_one_runs_the_program_once(
    warm: Warm, number: signal.Signals, tmp_path: Path
) -> None:
    waits = warm.pid
    os.kill(waits, number)
    if number is signal.SIGKILL:
        await eventually(lambda: ended(waits))
    screen = await warm.start(f"echo ran >>{tmp_path}/runs; echo ready; read line")
    await screen.shows(b"ready")
    os.kill(waits, signal.SIGCONT) if number is signal.SIGSTOP else None
    screen.session.write(b"bye\n")
    await screen.ended()
    assert await warm.status() == 0
    assert (tmp_path / "runs").read_text() == "ran\n"


async def test_one_that_was_killed_is_replaced_and_it_ends_with_its_glidein(warm: Warm) -> None:
    before = warm.pid
    os.kill(before, signal.SIGKILL)
    await eventually(lambda: before not in (found := children_of(warm.glidein.pid, warm.folder)) and found)
    after = warm.pid
    warm.glidein.kill()
    await eventually(lambda: ended(after))
