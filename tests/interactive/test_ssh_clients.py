"""`crossdesk job ssh` and `ssh-config`: OpenSSH's programs and rsync reach jobs that run on this machine."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import stat
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk
from tests.interactive.echo import Echo, said
from tests.interactive.ssh_clients import SshClients
from tests.interactive.wire import Wire
from tests.running import RunningBroker, processes_of
from tests.testbed.ports import free_port
from tests.waiting import eventually, wait_until

pytestmark = pytest.mark.cluster
SLEEP = 'Executable = "/bin/sleep"; Arguments = "600"; Environment = {"WORD=of the job"};'


def submitted(folder: Path, text: str = SLEEP) -> str:
    (folder / "batch.jdl").write_text(text)
    told = crossdesk("job", "submit", "--json", str(folder / "batch.jdl"))
    assert told.code == 0, told.err
    return str(told.json["ids"][0])


@pytest.fixture
def batch(running_broker: RunningBroker, tmp_path: Path) -> str:
    """Id of a job that sleeps."""
    return submitted(tmp_path)


def state_of(job: str) -> str:
    return str(crossdesk("job", "status", "--json", job).json["jobs"][0]["state"])


def test_a_command_a_shell_and_files_of_an_interactive_job(job: str, tmp_path: Path) -> None:
    told = crossdesk("job", "ssh", job, "echo $((6*7)); echo wrong >&2; exit 9")
    assert (told.code, told.out) == (9, "42\n")
    assert "wrong\n" in told.err
    clients = SshClients.of(job)
    where = Path(clients.run("HOST", "pwd").strip())
    assert clients.run("HOST", text="pwd; exit\n").strip() == str(where)
    (tmp_path / "made here").write_bytes(os.urandom(300_000))
    clients.run("-q", str(tmp_path / "made here"), "HOST:sent", program="scp")
    assert (where / "sent").read_bytes() == (tmp_path / "made here").read_bytes()
    clients.run("-q", "-O", f"HOST:{where}/sent", str(tmp_path / "back"), program="scp")
    assert (tmp_path / "back").read_bytes() == (where / "sent").read_bytes()
    listed = clients.run("-q", "-b", "-", "HOST", program="sftp", text="pwd\nls -1\n")
    assert str(where) in listed
    assert "sent" in listed.split()


def test_a_batch_job_gets_an_agent_on_demand_which_ends_with_it(
    batch: str, running_broker: RunningBroker
) -> None:
    clients = SshClients.of(batch)
    assert clients.run("HOST", 'echo "$WORD"') == "of the job\n"
    (folder,) = {clients.run("HOST", "pwd").strip() for _ in range(3)}
    assert crossdesk("job", "exec", batch, "--", "pwd").out.strip() == folder
    running_broker.kill()
    running_broker.start()
    assert clients.run("HOST", "pwd").strip() == folder
    assert crossdesk("job", "cancel", batch).code == 0
    wait_until(lambda: state_of(batch) == "Canceled")
    assert processes_of(Path(folder)) == set()
    told = crossdesk("job", "ssh", batch, "true")
    assert told.code != 0
    assert "has ended" in told.err


def test_what_ends_by_itself_ends_its_agent_and_leaves_no_trace_in_its_output(
    running_broker: RunningBroker, tmp_path: Path
) -> None:
    text = f"-c 'while [ ! -e {tmp_path}/go ]; do sleep 0.1; done; echo over >result'"
    job = submitted(tmp_path, f'Executable = "/bin/sh"; Arguments = "{text}";')
    assert SshClients.of(job).run("HOST", "echo there") == "there\n"
    (tmp_path / "go").touch()
    wait_until(lambda: state_of(job) == "Done")
    saved = crossdesk("job", "get-output", job, "--dir", str(tmp_path / "saved"))
    assert saved.code == 0, saved.err
    names = {path.name for path in (tmp_path / "saved").rglob("*") if path.is_file()}
    assert names == {"result", "std.out", "std.err"}


def test_rsync_goes_both_ways(batch: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "deep").mkdir(parents=True)
    (source / "deep" / "file").write_bytes(os.urandom(100_000))
    clients = SshClients.of(batch)
    clients.synced(f"{source}/", "HOST:copy/")
    clients.synced("HOST:copy/", f"{tmp_path / 'back'}/")
    assert (tmp_path / "back" / "deep" / "file").read_bytes() == (source / "deep" / "file").read_bytes()


def test_keys_are_the_owner_s_alone_and_go_with_the_job(batch: str, tmp_path: Path) -> None:
    clients = SshClients.of(batch)
    assert clients.run("HOST", "true") == ""
    files = [path for path in (clients.file.parent.parent).rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {"", ".conf", ".hosts"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    crossdesk("job", "cancel", batch)
    wait_until(lambda: state_of(batch) == "Canceled")
    SshClients.of(submitted(tmp_path))
    assert not clients.file.exists()


def test_another_server_in_its_stead_is_not_believed(batch: str) -> None:
    clients = SshClients.of(batch)
    other = clients.file.with_name("other")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(other)], check=True)
    believed = f"{clients.host} {other.with_suffix('.pub').read_text()}"
    (clients.file.parent / "believed").write_text(believed)
    own = f"UserKnownHostsFile={clients.file.parent / 'believed'}"
    done = subprocess.run(clients.words("-o", own, "HOST", "true"), capture_output=True, text=True)
    assert done.returncode == 255
    assert "Host key verification failed" in done.stderr


def test_the_configuration_is_taken_in_by_one_s_own(batch: str, isolated: Path) -> None:
    config = isolated / "home" / ".ssh" / "config"
    for _ in range(2):
        told = crossdesk("job", "ssh-config", batch, "--add")
        assert told.code == 0, told.err
    assert config.read_text().count("Include") == 1
    host = re.search(r"(?m)^Host (\S+)$", told.out)
    assert host is not None
    shown = subprocess.run(["ssh", "-F", str(config), "-G", host[1]], capture_output=True, text=True)
    assert "user job\n" in shown.stdout


async def test_a_session_a_transfer_and_a_forward_outlive_cuts(wire: Wire, tmp_path: Path) -> None:
    job = await asyncio.to_thread(submitted, tmp_path)
    clients = await asyncio.to_thread(SshClients.of, job)
    shell = await clients.begun("HOST")
    shell.stdin.write(b"echo begun; mine=kept\n")
    assert await shell.stdout.readline() == b"begun\n"
    async with Echo() as echo:
        near = free_port()
        forward = await clients.begun("-L", f"127.0.0.1:{near}:127.0.0.1:{echo.port}", "HOST", "echo up; cat")
        assert await forward.stdout.readline() == b"up\n"
        assert await said("127.0.0.1", near, b"before") == b"BEFORE"
        program = "head -c 30000000 /dev/urandom | tee made | (sleep 1; cat)"
        transfer = await clients.begun("HOST", program)
        got = hashlib.sha256(await transfer.stdout.readexactly(1000))
        for _ in range(3):
            assert await eventually(wire.cut), "what was under way may be here before the next connection"
            got.update(await transfer.stdout.readexactly(1_000_000))
        async for rest in _parts(transfer.stdout):
            got.update(rest)
        assert await transfer.wait() == 0
        shell.stdin.write(b'echo "$mine"; sha256sum <made; exit 3\n')
        assert await shell.stdout.readline() == b"kept\n"
        assert (await shell.stdout.readline()).split()[0].decode() == got.hexdigest()
        assert await shell.wait() == 3
        assert await said("127.0.0.1", near, b"after") == b"AFTER"
        forward.stdin.close()
        assert await forward.wait() == 0


async def test_a_client_that_goes_while_the_network_is_away_is_not_waited_for(
    wire: Wire, tmp_path: Path
) -> None:
    job = await asyncio.to_thread(submitted, tmp_path)
    clients = await asyncio.to_thread(SshClients.of, job)
    shell = await clients.begun("HOST")
    shell.stdin.write(b"echo begun\n")
    assert await shell.stdout.readline() == b"begun\n"
    wire.up = False
    wire.cut()
    shell.terminate()
    await shell.wait()
    await eventually(lambda: not _proxies(job), what="the client's helper ends")


def _proxies(job: str) -> list[str]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"ssh-proxy" in words and job.encode() in words:
            found.append(folder.name)
    return found


async def _parts(stream: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while part := await stream.read(1 << 16):
        yield part
