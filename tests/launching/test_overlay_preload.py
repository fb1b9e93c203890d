"""One MPI job on nodes that forbid namespaces: a library has the connections of its programs carried."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from broker_core.jobs.overlay_ways import OverlayWay
from broker_core.launching.launcher_folder import LauncherFolder
from broker_core.launching.overlay_hub import OverlayHub, new_secret, overlay_address
from broker_core.scheduling.coallocation.messages import EndLauncher, ReleaseBarrier
from broker_core.worker.scripts.overlay import LIBRARY
from broker_core.worker.scripts.overlay_door import ANSWER, OPEN, QUESTION, VARIABLE
from tests.launching.attempt import ONE, TWO, Job
from tests.launching.carrying import FORBIDDEN, carried, checked, hub_of
from tests.testbed.namespaces import Namespaces
from tests.waiting import eventually, within

PRELOAD = OverlayWay.PRELOAD
FIRST, SECOND = overlay_address(0), overlay_address(1)
_LISTEN = f"""
import os, select, socket, sys
door = socket.create_server(("{FIRST}", 7000))
print("listens", flush=True)
caller, who = door.accept()
"""
_CALL = f"""
import errno, os, select, socket, sys
there = socket.create_connection(("{FIRST}", 7000), 20)
"""


class Pair:
    """A program that listens, and one that calls it; each is a component of its own."""

    def __init__(self, folder: Path, hub: OverlayHub, calls: list[str]) -> None:
        self.folder, self.hub, self._calls = folder, hub, calls
        self.programs: list[asyncio.subprocess.Process] = []

    async def start(self, index: int, text: str) -> asyncio.subprocess.Process:
        """Run Python text as a component; one that listens has begun to when this returns."""
        folder = self.folder / str(index)
        folder.mkdir()
        program = await carried(folder, self._calls[index], sys.executable, "-c", text)
        self.programs.append(program)
        if text.startswith(_LISTEN):
            assert program.stdout is not None
            assert await within(program.stdout.readline(), 30) == b"listens\n"
        return program

    async def run(self, listens: str, calls: str) -> tuple[str, str]:
        """What both have printed at their end."""
        for index, text in enumerate((_LISTEN + listens, _CALL + calls)):
            await self.start(index, text)
        outputs = [await within(one.communicate(), 60) for one in self.programs]
        assert [(one.returncode, err) for one, (_, err) in zip(self.programs, outputs, strict=True)] == [
            (0, b"")
        ] * 2, outputs
        return outputs[0][0].decode(), outputs[1][0].decode()


@asynccontextmanager
async def pair_in(folder: Path) -> AsyncIterator[Pair]:
    secrets = [new_secret(), new_secret()]
    async with hub_of(*secrets) as (hub, port):
        calls = [
            f"127.0.0.1 {port} {overlay_address(index)} {one} preload" for index, one in enumerate(secrets)
        ]
        made = Pair(folder, hub, calls)
        yield made
        for program in made.programs:
            if program.returncode is None:
                program.kill()
            await program.communicate()


async def test_both_ends_see_addresses_of_the_job_s_network(tmp_path: Path) -> None:
    async with pair_in(tmp_path) as pair:
        listens = "print(door.getsockname(), caller.getsockname(), who == caller.getpeername(), who[0])"
        calls = "print(there.getpeername(), there.getsockname()[0], there.recv(1))"
        said = await pair.run(listens, calls)
        assert said[0] == f"('{FIRST}', 7000) ('{FIRST}', 7000) True {SECOND}\n"
        assert said[1] == f"('{FIRST}', 7000) {SECOND} b''\n"
        await eventually(lambda: not len(pair.hub.flows))


async def test_the_other_end_can_be_named_after_it_has_gone(tmp_path: Path) -> None:
    async with pair_in(tmp_path) as pair:
        gone = tmp_path / "gone"
        calls = f"""
import os, time
assert there.recv(1) == b""
while not os.path.exists({str(gone)!r}):
    time.sleep(0.01)
print(there.getpeername())"""
        await pair.start(0, _LISTEN + "pass")
        caller = await pair.start(1, _CALL + calls)
        await within(pair.programs[0].communicate(), 60)
        await eventually(lambda: not len(pair.hub.flows))
        gone.touch()
        out, err = await within(caller.communicate(), 60)
        assert (out.decode(), err) == (f"('{FIRST}', 7000)\n", b"")


async def test_programs_of_one_component_call_each_other_in_the_kernel_s_own_way(tmp_path: Path) -> None:
    """By the component's address, and where all addresses are listened at by that of the loopback device."""
    text = f"""
import socket
for at, to in (("{FIRST}", "{FIRST}"), ("", "127.0.0.1"), ("", "{FIRST}")):
    door = socket.create_server((at, 0))
    there = socket.create_connection((to, door.getsockname()[1]), 10)
    caller, who = door.accept()
    there.sendall(b"x" * 9)
    print(caller.recv(100), who == there.getsockname(), who[0], door.getsockname()[0])
"""
    async with pair_in(tmp_path) as pair:
        program = await pair.start(0, text)
        out, err = await within(program.communicate(), 30)
        assert (program.returncode, err) == (0, b"")
        assert out.decode() == f"b'xxxxxxxxx' True {FIRST} {FIRST}\n" * 3
        assert pair.hub.traffic() == [(0, 0), (0, 0)]


async def test_who_is_not_listening_is_refused_and_may_be_called_again(tmp_path: Path) -> None:
    text = f"""
import errno, socket
for waits in (True, False):
    with socket.socket() as caller:
        caller.setblocking(waits)
        for to, port in (("{FIRST}", 7001), ("10.99.77.7", 7000), ("{FIRST}", 7001), ("{FIRST}", 7000)):
            print(errno.errorcode.get(caller.connect_ex((to, port))))
        print(errno.errorcode.get(caller.connect_ex(("{FIRST}", 7000))))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as packets:
    for tried in (packets.connect, lambda to: packets.sendto(b"x", to)):
        try:
            tried(("{FIRST}", 7000))
        except OSError as error:
            print(errno.errorcode[error.errno])
"""
    async with pair_in(tmp_path) as pair:
        await pair.start(0, f"{_LISTEN}door.accept()")
        program = await pair.start(1, text)
        out, err = await within(program.communicate(), 30)
        assert (program.returncode, err) == (0, b"")
        each = ["ECONNREFUSED", "EHOSTUNREACH", "ECONNREFUSED", "None", "EISCONN"]
        assert out.decode().split() == [*each, *each, "ENETUNREACH", "ENETUNREACH"]


async def test_an_end_that_says_no_more_still_hears_the_other(tmp_path: Path) -> None:
    listens = """
heard = len(caller.makefile("rb").read())
caller.sendall(bytes(3_000_000))
print(heard)
"""
    calls = """
there.sendall(bytes(2_000_000))
there.shutdown(socket.SHUT_WR)
print(len(there.makefile("rb").read()))
"""
    async with pair_in(tmp_path) as pair:
        assert await pair.run(listens, calls) == ("2000000\n", "3000000\n")
        assert pair.hub.traffic() == [(3_000_000, 2_000_000), (2_000_000, 3_000_000)]


async def test_what_a_program_sent_before_it_ended_gets_to_the_other(tmp_path: Path) -> None:
    """Also where the other takes none of it until the first component is gone."""
    listens = """
while not os.path.exists("gone"):
    select.select([], [], [], 0.05)
print(len(caller.makefile("rb").read()))
""".replace('"gone"', repr(str(tmp_path / "gone")))
    calls = """
there.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
there.sendall(bytes(700_000))
os._exit(0)
"""
    async with pair_in(tmp_path) as pair:
        listener = await pair.start(0, _LISTEN + listens)
        caller = await pair.start(1, _CALL + calls)
        assert await within(caller.wait(), 30) == 0
        await eventually(lambda: pair.hub.members[1].caller is None)
        (tmp_path / "gone").touch()
        out, _ = await within(listener.communicate(), 30)
        assert out == b"700000\n"


async def test_a_connection_that_is_broken_off_is_so_at_the_other_end(tmp_path: Path) -> None:
    listens = """
import struct
caller.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
caller.close()
"""
    calls = """
try:
    there.recv(1)
except ConnectionResetError:
    print("reset")
"""
    async with pair_in(tmp_path) as pair:
        assert (await pair.run(listens, calls))[1] == "reset\n"


async def test_who_reads_nothing_stops_no_other_connection_and_fills_no_memory(tmp_path: Path) -> None:
    listens = """
other, _ = door.accept()
print(len(other.makefile("rb").read()))
"""
    calls = f"""
other = socket.create_connection(("{FIRST}", 7000), 20)
there.setblocking(False)
taken = 0
while select.select([], [there], [], 1)[1]:
    taken += there.send(bytes(65536))
other.sendall(bytes(30_000_000))
print(taken < 16_000_000, taken > 100_000)
"""
    async with pair_in(tmp_path) as pair:
        assert await pair.run(listens, calls) == ("30000000\n", "True True\n")


async def test_the_exit_status_is_that_of_the_program_and_the_end_of_the_hub_ends_it(tmp_path: Path) -> None:
    async with pair_in(tmp_path) as pair:
        exits = await pair.start(0, "raise SystemExit(7)")
        assert await within(exits.wait(), 30) == 7
        waits = await pair.start(1, "import os, signal; print(os.getpid(), flush=True); signal.pause()")
        assert waits.stdout is not None
        pid = int(await within(waits.stdout.readline(), 30))
        await pair.hub.close()
        _, err = await within(waits.communicate(), 30)
        assert (waits.returncode, err) == (1, b"CrossDesk: The hub of the job has ended.\n")
        await eventually(lambda: not Path(f"/proc/{pid}").exists())


async def test_the_death_of_the_carrier_ends_the_program_and_is_seen_at_the_other_end(tmp_path: Path) -> None:
    async with pair_in(tmp_path) as pair:
        listener = await pair.start(0, f"{_LISTEN}print(caller.recv(1))\n")
        caller = await pair.start(1, f"{_CALL}print(os.getpid(), flush=True)\nthere.recv(1)")
        assert caller.stdout is not None
        pid = int(await within(caller.stdout.readline(), 30))
        caller.kill()
        await eventually(lambda: not Path(f"/proc/{pid}").exists())
        _, err = await within(listener.communicate(), 30)
        assert b"ConnectionResetError" in err


@pytest.mark.parametrize("content", [None, b"no library"])
async def test_a_library_that_cannot_be_loaded_is_noted(tmp_path: Path, content: bytes | None) -> None:
    """The system's own loader would start the program without it."""
    secret = new_secret()
    async with hub_of(secret) as (_, port):
        if content is not None:
            (tmp_path / LIBRARY).write_bytes(content)
        call = f"127.0.0.1 {port} {FIRST} {secret} preload"
        never = await carried(tmp_path, call, "/bin/echo", "started", library=False)
        out, _ = await within(never.communicate(), 30)
        assert (never.returncode, out) == (1, b"")
        assert "The library for the network of the job cannot be loaded" in (tmp_path / "note").read_text()


@pytest.mark.root
async def test_other_users_of_the_node_get_no_way_in(tmp_path: Path) -> None:
    """Neither to a port of the program, nor to the carrier, nor to other components by it."""
    text = f"""
import os, socket
door = socket.create_server(("{FIRST}", 7000))
print(os.environ["{VARIABLE}"], flush=True)
caller, who = door.accept()
print(who[0], caller.recv(10))
"""
    async with pair_in(tmp_path) as pair:
        listener = await pair.start(0, text)
        assert listener.stdout is not None
        name, _, loopback, port = (await within(listener.stdout.readline(), 30)).decode().split()
        tried = f"""
import os, socket
"".encode("idna")  # what Python loads for that may be hidden from others
os.setuid(65534)
for source, port in (("127.0.0.1", 7000), ("{loopback}", 7000)):
    with socket.create_connection(("{loopback}", port), 10, (source, 0)) as there:
        there.settimeout(10)
        try:
            print(there.recv(1))
        except ConnectionResetError:
            print(b"")
with socket.create_connection(("{loopback}", {port}), 10, ("{loopback}", 0)) as there:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as door:
        door.settimeout(10)
        door.connect("\\0{name}")
        try:
            door.send({QUESTION.pack(OPEN, 0, 1, 7000, socket.inet_aton(SECOND))!r})
            print(door.recv({ANSWER.size}))
        except (BrokenPipeError, ConnectionResetError):
            print(b"")
"""
        stranger = await asyncio.create_subprocess_exec(
            sys.executable, "-c", tried, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        out, err = await within(stranger.communicate(), 60)
        assert (out, err) == (b"b''\n" * 3, b"")
        calls = await pair.start(1, f"{_CALL}there.sendall(b'hello')")
        assert await within(calls.wait(), 30) == 0
        out, _ = await within(listener.communicate(), 30)
        assert out.decode() == f"{SECOND} b'hello'\n"


def test_a_node_that_forbids_namespaces_says_that_the_library_takes_their_place() -> None:
    assert checked(FORBIDDEN) == "preload: user namespaces: No space left on device"


@pytest.fixture
async def eight(tmp_path: Path) -> AsyncIterator[Job]:
    """Eight ranks over two sites."""
    made = Job(tmp_path, ((5,), (3,)))
    yield made
    made.launchers.end(EndLauncher("j", 1))
    await made.launchers.close()
    await made.codes()


async def _is_one_world(job: Job, *within: tuple[str, ...]) -> None:
    for one, words in zip((ONE, TWO), within, strict=True):
        await job.start(one, overlay=PRELOAD, within=words)
    await eventually(lambda: len(job.gathered()) == 2)
    job.launchers.release(ReleaseBarrier("j", 1))
    assert await job.codes() == [0, 0], job.said(ONE, "err") + job.said(TWO, "err")
    said = job.said(ONE) + job.said(TWO)
    assert said.startswith("8 ranks of 8 launchers, pi 3.141593, halo right, given j.1")


@pytest.mark.mpi
async def test_all_ranks_are_one_world_where_namespaces_are_forbidden(eight: Job) -> None:
    await _is_one_world(eight, FORBIDDEN, FORBIDDEN)
    await eventually(lambda: not eight.folder.path.exists())


@pytest.fixture
def sites() -> Iterator[Namespaces]:
    made = Namespaces("a", "b")
    yield made
    made.close()


@pytest.mark.mpi
@pytest.mark.root
async def test_also_in_networks_that_reach_the_broker_s_machine_alone(eight: Job, sites: Namespaces) -> None:
    for name in ("a", "b"):
        sites.hub_only(name, 1)
    eight.address = sites.hub
    eight.launchers = eight.broker()
    await _is_one_world(eight, *((*sites.enter(name), *FORBIDDEN) for name in ("a", "b")))


@pytest.mark.mpi
async def test_the_death_of_a_component_ends_the_other(eight: Job, tmp_path: Path) -> None:
    gate = str(tmp_path / "gate")
    for one in (ONE, TWO):
        await eight.start(one, "wait", gate, overlay=PRELOAD, within=FORBIDDEN)
    await eventually(lambda: len(eight.gathered()) == 2)
    eight.launchers.release(ReleaseBarrier("j", 1))
    assert eight.folder.overlay() is PRELOAD
    marked = LauncherFolder(eight.root / "launchers" / "j.1")
    assert marked.settings().overlay is PRELOAD, "a broker that begins anew finds it there"
    carrier = next(pid for pid in _pids(b"overlay.py\0run") if str(eight.root).encode() in _words(pid))
    os.kill(carrier, signal.SIGKILL)
    assert 0 not in await eight.codes()
    for pid in _pids(gate.encode()):  # at a site the Job Starter ends what is left
        os.kill(pid, signal.SIGKILL)


def _pids(words: bytes) -> list[int]:
    return [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if words in _words(pid)]


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
