"""One bench for each test: a relay, and room for an agent."""

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from broker_core.interactive.channel.rendezvous import Endpoint
from tests.command_line.calling import command, crossdesk
from tests.interactive.far_jobs import restart
from tests.interactive.pair import Bench, bench
from tests.interactive.wire import Wire
from tests.leaks import lasting
from tests.packaging.conftest import agent_files as agent_files
from tests.running import RunningBroker
from tests.testbed.guardian import Guardian
from tests.testbed.ports import free_port
from tests.testbed.slurm import Cluster, Slurm
from tests.testbed.sshd import Sshd, own_home

_TEXT = """Executable = "/bin/sh"; Interactive = true;
Arguments = "-c 'echo ready; while read line; do eval $line; done; exit 7'";"""


@pytest.fixture(scope="session")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder whose processes end with the tests, even if those are killed."""
    folder = tmp_path_factory.mktemp("channel")
    guardian = Guardian(folder)
    yield folder
    guardian.close()


@pytest.fixture
async def made(ground: Path) -> AsyncIterator[Bench]:
    async with bench(Path(tempfile.mkdtemp(dir=ground))) as bench_made:
        yield bench_made


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A real Slurm cluster of one node."""
    with lasting():
        bed = Slurm(tmp_path_factory.mktemp("slurm") / "bed", ("a",))
    try:
        yield bed.start().clusters["a"]
    finally:
        bed.close()


@pytest.fixture
def sshd(tmp_path: Path, cluster: Cluster, isolated: Path) -> Iterator[Sshd]:
    """A login host, which the user's `~/.ssh` trusts."""
    server = Sshd(tmp_path / "sshd", environment=cluster.environment | own_home(tmp_path))
    folder = isolated / "home" / ".ssh"
    folder.mkdir(mode=0o700)
    server.start()
    (folder / "config").write_text(server.alias("hut"))
    (folder / "known_hosts").write_text(server.known_hosts.read_text())
    yield server
    server.close()


@pytest.fixture
def job(running_broker: RunningBroker, tmp_path: Path) -> str:
    """Id of a job whose program is a shell that carries out its input."""
    (tmp_path / "console.jdl").write_text(_TEXT)
    told = crossdesk("job", "submit", "--json", str(tmp_path / "console.jdl"))
    assert told.code == 0, told.out + told.err
    return str(told.json["ids"][0])


def _give(file: Path, display: str, cookie: str) -> None:
    subprocess.run(["xauth", "-q", "-f", str(file), "add", display, ".", cookie], check=True)


@pytest.fixture
def display(tmp_path: Path) -> Iterator[dict[str, str]]:
    """A display that lets in who has the cookie, with the variables to use it."""
    cookie, cookies = secrets.token_hex(16), tmp_path / "cookies"
    _give(cookies, ":0", cookie)
    reader, writer = os.pipe()
    words = ["Xvfb", "-displayfd", str(writer), "-screen", "0", "640x480x24", "-auth", str(cookies)]
    server = subprocess.Popen(
        [*words, "-nolisten", "tcp", "-noreset"], pass_fds=(writer,), stderr=subprocess.DEVNULL
    )
    os.close(writer)
    with os.fdopen(reader) as stream:
        name = f":{stream.readline().strip()}"
    _give(cookies, name, cookie)
    yield {"DISPLAY": name, "XAUTHORITY": str(cookies)}
    server.terminate()
    server.wait(60)


@pytest.fixture
async def wire(running_broker: RunningBroker, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Wire]:
    """The only way between desk and agent."""
    port = free_port()
    words = ["broker_core.interactive.relay", "--port", str(port)]
    relay = await asyncio.create_subprocess_exec(
        command()[0], "-m", *words, stderr=asyncio.subprocess.DEVNULL
    )
    stretch = Wire(Endpoint("127.0.0.1", port))
    restart(running_broker, relay=str(await stretch.open()))
    monkeypatch.setenv("CROSSDESK_DIRECT_PORTS", "none")
    yield stretch
    await stretch.close()
    relay.terminate()
    await relay.wait()
