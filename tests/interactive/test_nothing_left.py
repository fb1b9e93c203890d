"""A session ends with its job: no process, no socket and no file of it stays (reliability case 17)."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import asyncssh
import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.interactive.shadow.session_events import SessionState
from broker_core.jobs.use import FILE as USE
from broker_core.wire.sites import SiteSpec
from broker_core.worker.script import MARK
from tests.broker.jobs import reach
from tests.interactive.consoles import SHELL, console
from tests.interactive.far_jobs import add, agent_file, restart, submitted
from tests.interactive.pair import Screen
from tests.running import RunningBroker
from tests.waiting import eventually

ENDS = {"cancel": "Canceled", "kill of the agent": "Aborted"}
LEFT_BEHIND = "setsid sleep 987 & setsid nohup sleep 986 & "
PROGRAM = "InteractiveX11 = true; " + SHELL.replace("echo ready", LEFT_BEHIND + "echo ready")


@pytest.fixture
async def client(running_broker: RunningBroker, tmp_path: Path) -> AsyncIterator[BrokerClient]:
    restart(running_broker, agent_program=str(agent_file(tmp_path / "agent")))
    async with await connect(running_broker.state_dir, start=False) as made:
        yield made


def marked(job: str) -> dict[int, bytes]:
    """Processes of a job, with their command lines."""
    needle, found = f"{MARK}={job}.".encode(), {}
    for pid in (int(name) for name in os.listdir("/proc") if name.isdigit()):
        try:
            if needle in Path(f"/proc/{pid}/environ").read_bytes():
                found[pid] = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
    return {pid: line for pid, line in found.items() if line}


def listening(pids: dict[int, bytes]) -> list[str]:
    """What these processes listen at."""
    shown = subprocess.run(["ss", "-Hlntuxp"], capture_output=True, text=True, check=True).stdout
    return [line for line in shown.splitlines() if any(f"pid={pid}," in line for pid in pids)]


def files(folder: Path, job: str) -> list[str]:
    """What lies in and beside the job's directory that is not the starter's; a site may be removing it.

    The samples of what the job used stay with it, as its output does.
    """
    walked = os.walk(folder)  # passes over what has gone
    paths = (f"{place}/{name}" for place, folders, names in walked for name in (*folders, *names))
    found = [path.partition(f"/attempts/{job}.1/")[2] for path in paths]
    named = [name for name in found if "crossdesk" in name or "sock" in name or "Xauth" in name]
    return [name for name in named if name != f"job/{USE}"]


async def busy(client: BrokerClient, job: str) -> tuple[Screen, asyncssh.SSHClientProcess[bytes]]:
    """A session with all that a desk can have beside the program."""
    screen = await console(client, job)
    await screen.session.forwards.remote(("localhost", 0), ("127.0.0.1", 9))
    await screen.session.forwards.remote("to-desk.sock", ("127.0.0.1", 9))
    connection = await screen.session.connection()
    await connection.run("setsid nohup sleep 985 >/dev/null 2>&1 </dev/null & echo begun", check=True)
    beside = await connection.create_process("exec sleep 984", encoding=None)
    return screen, beside


@pytest.mark.parametrize(
    ("site", "end"),
    [("local", end) for end in ("exit", "cancel", "kill of the agent", "kill of the desk")]
    + [("host", end) for end in ("exit", "kill of the agent")],
)
async def test_nothing_of_a_session_stays(
    client: BrokerClient, running_broker: RunningBroker, tmp_path: Path, site: str, end: str
) -> None:
    folder = running_broker.state_dir / "sites" / "local"
    if site == "host":
        folder = tmp_path / "site"
        await add(client, SiteSpec(name="host", kind="shell", directory=str(folder), poll_interval=0.1))
    job = await submitted(client, site, f'Executable = "/bin/sh"; Interactive = true; {PROGRAM}')
    screen, beside = await busy(client, job)
    processes = marked(job)
    assert len(processes) >= 6
    held = listening(processes)
    assert len([line for line in held if "127.0.0.1:" in line]) == 2
    assert len([line for line in held if "to-desk.sock" in line]) == 1
    assert len(files(folder, job)) >= 3
    if end == "exit":
        screen.session.write(b"exit 5\n")
    elif end == "cancel":
        await client.cancel([job])
    elif end == "kill of the agent":
        agents = [pid for pid, line in processes.items() if b"broker_core.worker" in line]
        os.kill(agents[0], signal.SIGKILL)
    else:
        screen.session.write(b"exit 5\n")
        (await screen.session.connection()).abort()
    await reach(client, job, ENDS.get(end, "Done"))
    await eventually(lambda: not marked(job), what=f"processes of {job} end")
    assert files(folder, job) == []
    assert listening(processes) == []
    await beside.wait_closed()
    await screen.ended()
    await screen.session.close()


DEAF = {
    "bash": 'Executable = "/bin/bash"; Arguments = "--norc -i"; Environment = {"PS1=ready> "};',
    "vim": 'Executable = "vim"; Arguments = "-u NONE -c \'call setline(1, \\"ready\\")\'";',
    "a program that takes no hint": (
        'Executable = "/bin/sh"; Arguments = "-c \'trap \\"\\" TERM HUP INT; echo ready; '
        "while :; do sleep 1; done'\";"
    ),
}


@pytest.mark.parametrize(
    ("program", "end"),
    [
        ("bash", "cancel"),
        ("bash", "cancel and kill of the broker"),
        ("bash", "kill of the agent"),
        ("vim", "cancel and kill of the broker"),
        ("a program that takes no hint", "cancel and kill of the broker"),
    ],
)
async def test_nothing_stays_of_a_program_that_is_deaf_to_the_request_to_end(
    client: BrokerClient, running_broker: RunningBroker, program: str, end: str
) -> None:
    folder = running_broker.state_dir / "sites" / "local"
    job = await submitted(client, "local", f"Interactive = true; {DEAF[program]}")
    screen = await console(client, job)
    processes = marked(job)
    (attempt,) = folder.rglob(f"attempts/{job}.1")
    if end == "kill of the agent":
        os.kill(next(pid for pid, line in processes.items() if b"broker_core.worker" in line), signal.SIGKILL)
    else:
        await client.cancel([job])
        await eventually((attempt / "cancel").exists)
    if end == "cancel and kill of the broker":
        running_broker.kill()
    await eventually((attempt / "ended").exists, 60, "the starter records the end")
    await eventually(lambda: not marked(job), what=f"processes of {job} end")
    assert files(folder, job) == []
    if end == "cancel and kill of the broker":
        running_broker.start()
    row = await reach(client, job, ENDS.get(end, "Canceled"))
    if end == "kill of the agent":
        said = "The interactive agent was killed by signal 9, and the program ended with it."
        assert row["reason"] == said
        await screen.ended()
        assert (screen.session.status.state, screen.session.status.reason) == (SessionState.CLOSED, said)
    await screen.session.close()
