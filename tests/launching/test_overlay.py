"""One MPI job in networks that know nothing of each other, carried by a hub; and hostile callers."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from broker_core.jobs.overlay_ways import OverlayWay
from broker_core.launching.overlay_hub import OverlayHub, new_secret, overlay_address
from broker_core.launching.relay_leg import meet
from broker_core.scheduling.coallocation.messages import EndLauncher, ReleaseBarrier
from broker_core.worker.scripts.overlay_link import (
    CONTROL,
    CONTROL_PORT,
    HEAD,
    PACKET,
    Trouble,
    call,
    frame,
)
from tests.launching.attempt import CHUNKS, ONE, TWO, Job
from tests.launching.carrying import FORBIDDEN, carried, checked, hub_of
from tests.waiting import eventually, within

NAMESPACE = OverlayWay.NAMESPACE
_ECHO = """
import socket
door = socket.create_server(("{own}", 7000))
caller, _ = door.accept()
with open("/proc/net/dev") as file:
    devices = sorted(line.split(":")[0].strip() for line in file if ":" in line)
caller.sendall(repr((devices, caller.getpeername()[0])).encode())
caller.recv(1)
"""
_CALLS = """
import os, socket, time
while True:
    try:
        there = socket.create_connection(("{other}", 7000), 5)
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
"""
_CALL = f"{_CALLS}print(there.recv(1000).decode())"


def packet(source: str, destination: str, size: int = 40, told: int | None = None) -> bytes:
    """Of IPv4, as far as a hub looks at it."""
    head = struct.pack(">BBHHHBBH", 0x45, 0, size if told is None else told, 0, 0, 64, 6, 0)
    raw = head + socket.inet_aton(source) + socket.inet_aton(destination)
    return raw + bytes(size - len(raw))


async def test_programs_see_each_other_by_the_hub_and_nothing_else(tmp_path: Path) -> None:
    secrets = [new_secret(), new_secret()]
    async with hub_of(*secrets) as (hub, port):
        place = [f"127.0.0.1 {port} {overlay_address(index)} {one}" for index, one in enumerate(secrets)]
        first = await carried(tmp_path, place[0], sys.executable, "-c", _ECHO.format(own=overlay_address(0)))
        await eventually(lambda: hub.members[0].caller is not None)
        second = await carried(
            tmp_path, place[1], sys.executable, "-c", _CALL.format(other=overlay_address(0))
        )
        out, err = await within(second.communicate(), 30)
        assert (second.returncode, err) == (0, b"")
        assert out.decode().strip() == repr((["lo", "tun0"], overlay_address(1)))
        assert await within(first.wait(), 30) == 0
        (sent, received), (sent_by_other, received_by_other) = hub.traffic()
        assert sent == received_by_other > 40
        assert received == sent_by_other > 40
        words = Path(f"/proc/{os.getpid()}/cmdline").read_bytes()
        assert all(one.encode() not in words for one in secrets)


_LAST_WORDS = """
import socket
door = socket.create_server(("{own}", 7000))
caller, _ = door.accept()
print(len(caller.makefile("rb").read()), flush=True)
"""
_SAYS_AND_ENDS = f"""{_CALLS}
there.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
there.sendall(bytes(2_000_000))
os._exit(0)
"""


async def test_what_a_program_sent_before_it_ended_gets_to_the_other(tmp_path: Path) -> None:
    secrets = [new_secret(), new_secret()]
    async with hub_of(*secrets) as (hub, port):
        place = [f"127.0.0.1 {port} {overlay_address(index)} {one}" for index, one in enumerate(secrets)]
        words = (sys.executable, "-c", _LAST_WORDS.format(own=overlay_address(0)))
        first = await carried(tmp_path, place[0], *words)
        await eventually(lambda: hub.members[0].caller is not None)
        words = (sys.executable, "-c", _SAYS_AND_ENDS.format(other=overlay_address(0)))
        second = await carried(tmp_path, place[1], *words)
        out, _ = await within(first.communicate(), 30)
        assert out == b"2000000\n"
        assert await within(second.wait(), 30) == 0


async def test_the_exit_status_is_that_of_the_program_and_the_end_of_the_hub_ends_it(tmp_path: Path) -> None:
    one, two = new_secret(), new_secret()
    async with hub_of(one, two) as (hub, port):
        place = f"127.0.0.1 {port} {overlay_address(0)} {one}"
        exits = await carried(tmp_path, place, "/bin/sh", "-c", "exit 7")
        assert await within(exits.wait(), 30) == 7
        waits = await carried(
            tmp_path,
            f"127.0.0.1 {port} {overlay_address(1)} {two}",
            "/bin/sh",
            "-c",
            "echo $$; exec sleep 600",
        )
        assert waits.stdout is not None
        pid = int(await within(waits.stdout.readline(), 30))
        await eventually(lambda: hub.members[1].caller is not None)
    _, err = await within(waits.communicate(), 30)
    assert (waits.returncode, err) == (1, b"CrossDesk: The hub of the job has ended.\n")
    await eventually(lambda: not Path(f"/proc/{pid}").exists())
    assert not (tmp_path / "note").exists()


@pytest.mark.parametrize("way", ["", " preload"])
async def test_a_proxy_that_ends_well_once_its_launcher_is_gone_has_no_trouble(
    tmp_path: Path, way: str
) -> None:
    proxy = f"""
import socket
launcher = socket.create_connection(("127.0.0.1", {CONTROL_PORT}))
launcher.recv(1)
print("heard", flush=True)
while launcher.recv(100):
    pass
"""
    one = new_secret()
    async with hub_of(one) as (hub, port):
        call = f"127.0.0.1 {port} {overlay_address(0)} {one}{way}"
        program = await carried(tmp_path, call, sys.executable, "-c", proxy)
        assert program.stdout is not None
        await eventually(lambda: hub.members[0].caller is not None)
        line = asyncio.ensure_future(program.stdout.readline())
        while not line.done():
            hub.members[0].say(frame(CONTROL, b"."))
            await asyncio.wait({line}, timeout=0.1)
    _, err = await within(program.communicate(), 30)
    assert (line.result(), program.returncode, err) == (b"heard\n", 0, b"")


@pytest.mark.parametrize("place", ["", "127.0.0.1 1 10.99.0.1 " + "s" * 43])
async def test_what_keeps_a_program_from_its_start_is_noted(tmp_path: Path, place: str) -> None:
    never = await carried(tmp_path, place, "/bin/echo", "started")
    out, err = await within(never.communicate(), 30)
    assert (never.returncode, out) == (1, b"")
    note = (tmp_path / "note").read_text()
    assert err.decode() == f"CrossDesk: {note}"
    assert "the job" in note.lower()


async def test_a_node_without_tun_says_what_is_missing(tmp_path: Path) -> None:
    """The device is covered by an empty folder, as in many containers."""
    hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /dev && exec "$@"', "sh"]
    answer = checked(hidden)
    assert answer == "preload: /dev/net/tun: No such file or directory"
    assert checked([]) == "yes"


async def test_a_node_with_neither_way_says_so(tmp_path: Path) -> None:
    """A machine of another kind, which has no namespaces either."""
    elsewhere = ["setarch", "i686", *FORBIDDEN]
    answer = checked(elsewhere)
    assert answer.startswith("Users can make no network of their own on this node (user namespaces: ")
    assert answer.endswith("that needs x86-64 and glibc 2.17.")


async def test_who_does_not_know_the_secret_is_sent_away(tmp_path: Path) -> None:
    secret = new_secret()
    async with hub_of(secret) as (hub, port):
        with pytest.raises(Trouble, match="sends this node away"):
            await asyncio.to_thread(call, "127.0.0.1", port, new_secret())
        with socket.create_connection(("127.0.0.1", port)) as other:
            other.settimeout(10)
            await asyncio.to_thread(other.sendall, b"GET / HTTP/1.1\r\n\r\n")
            with suppress(ConnectionResetError):
                assert await asyncio.to_thread(other.recv, 1) == b""
        first = await asyncio.to_thread(call, "127.0.0.1", port, secret)
        with pytest.raises(Trouble, match="sends this node away"):
            await asyncio.to_thread(call, "127.0.0.1", port, secret)
        assert hub.members[0].caller is not None, "who was there stays"
        first.close()


async def test_a_component_takes_no_other_that_does_not_know_the_secret_for_the_hub() -> None:
    async def pretend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(b"WAIT\nGO\n" + bytes(32))
        await reader.readexactly(64)
        writer.write(bytes(32))
        writer.close()

    server = await asyncio.start_server(pretend, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Trouble, match="is not the hub of the job"):
            await asyncio.to_thread(call, "127.0.0.1", port, new_secret())


@pytest.mark.parametrize(
    "hostile",
    [
        packet("10.99.0.3", "10.99.0.2"),
        packet("10.99.0.1", "10.99.0.2", told=41),
        packet("10.99.0.1", "10.99.0.1"),
        packet("10.99.0.1", "127.0.0.1"),
        packet("10.99.0.1", "10.99.0.2")[:19],
        b"",
        b"\x60" + bytes(39),
    ],
    ids=["another's address", "wrong length", "to itself", "to the hub", "cut", "empty", "version 6"],
)
async def test_hostile_packets_are_dropped_and_the_next_good_one_arrives(hostile: bytes) -> None:
    secrets = [new_secret(), new_secret()]
    async with hub_of(*secrets) as (hub, port):
        one, two = [await asyncio.to_thread(call, "127.0.0.1", port, each) for each in secrets]
        good = packet("10.99.0.1", "10.99.0.2", size=200)
        await asyncio.to_thread(one.sendall, frame(PACKET, hostile) + frame(PACKET, good))
        assert await asyncio.to_thread(_packet, two) == good
        assert hub.members[0].dropped == 1
        assert hub.traffic() == [(200, 0), (0, 200)]
        one.sendall(frame(9))
        await eventually(lambda: hub.members[0].caller is None)
        one.close()
        two.close()


def _packet(connection: socket.socket) -> bytes:
    """The next packet; signs of life are passed over."""
    connection.settimeout(20)
    with connection.makefile("rb", buffering=0) as stream:
        while True:
            kind, size = HEAD.unpack(stream.read(HEAD.size))
            content = stream.read(size) if size else b""
            if kind == PACKET:
                return bytes(content)


@pytest.mark.mpi
async def test_all_ranks_are_one_world_in_networks_of_their_own(job: Job) -> None:
    for one in (TWO, ONE):
        await job.start(one, overlay=NAMESPACE)
    await eventually(lambda: len(job.gathered()) == 2)
    launcher = Path(f"/proc/{job.folder.pid()}")
    job.launchers.release(ReleaseBarrier("j", 1))
    assert await job.codes() == [0, 0], job.said(ONE, "err") + job.said(TWO, "err")
    assert job.said(TWO) == "3 ranks of 3 launchers, pi 3.141593, halo right, given j.1.1\n"
    await eventually(lambda: not launcher.exists())


@asynccontextmanager
async def relay(folder: Path) -> AsyncIterator[str]:
    """A relay in a process of its own; its address."""
    announced = folder / "relay.json"
    words = [sys.executable, "-m", "broker_core.interactive.relay", "--announce", str(announced)]
    with (folder / "relay.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(*words, stderr=log)
    try:
        await eventually(announced.exists)
        found = json.loads(announced.read_text())
        yield f"{found['host']}:{found['port']}"
    finally:
        process.terminate()
        await process.wait()


@pytest.mark.mpi
async def test_hub_and_components_meet_at_a_relay_where_the_broker_s_machine_cannot_be_called(
    job: Job, tmp_path: Path
) -> None:
    async with relay(tmp_path) as place:
        job.relay = place
        job.launchers = job.broker()
        for one in (ONE, TWO):
            await job.start(one, overlay=NAMESPACE)
        await eventually(lambda: len(job.gathered()) == 2)
        job.launchers.release(ReleaseBarrier("j", 1))
        assert await job.codes() == [0, 0], job.said(ONE, "err") + job.said(TWO, "err")
        assert job.said(TWO) == "3 ranks of 3 launchers, pi 3.141593, halo right, given j.1.1\n"
        await eventually(lambda: not job.folder.path.exists())


async def test_a_relay_that_is_not_there_yet_is_called_again(tmp_path: Path) -> None:
    secret = new_secret()
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    hub = OverlayHub([secret], [1])
    waiting = asyncio.ensure_future(meet(hub, hub.members[0], "127.0.0.1", port))

    async def sends_away(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Once; then it is a relay that has the component already."""
        assert (await reader.readline()).startswith(b"CROSSDESK-MEET 1 desk ")
        callers.append(writer)
        writer.write(b"NO it is full\n" if len(callers) == 1 else b"WAIT\nWAIT\nGO\n")

    callers: list[asyncio.StreamWriter] = []
    async with await asyncio.start_server(sends_away, "127.0.0.1", port):
        await eventually(lambda: len(callers) == 2 and bool(hub.callers))
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await hub.close()
        for one in callers:
            one.close()
        await eventually(lambda: not hub.callers)


@pytest.mark.mpi
async def test_the_end_of_a_launcher_ends_components_that_are_carried_too(job: Job, tmp_path: Path) -> None:
    for one in (ONE, TWO):
        await job.start(one, "wait", str(tmp_path / "gate"), overlay=NAMESPACE)
    await eventually(lambda: len(job.gathered()) == 2)
    job.launchers.release(ReleaseBarrier("j", 1))
    await eventually(lambda: len(job.folder.traffic()) == 2)
    secrets = json.loads((job.folder.path / "settings.json").read_text())["secrets"]
    words = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in job.folder.processes()]
    log = (job.folder.path / "log").read_bytes() + job.folder.output.read_bytes()
    assert len(secrets) == len(CHUNKS)
    assert not any(one.encode() in text for one in secrets for text in (*words, log))
    job.launchers.end(EndLauncher("j", 1))
    assert 0 not in await job.codes()
    gate = str(tmp_path / "gate").encode()
    await eventually(lambda: not any(gate in words for words in _all_words()), what="no rank is left")


def _all_words() -> list[bytes]:
    """Command lines of all processes of this machine."""
    found = []
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(one.read_bytes())
    return found


async def test_control_that_is_too_much_ends_the_component() -> None:
    secret = new_secret()
    async with hub_of(secret) as (hub, port):
        one = await asyncio.to_thread(call, "127.0.0.1", port, secret)
        with suppress(OSError):
            await asyncio.to_thread(one.sendall, frame(CONTROL, bytes(100)) * 3000)
        await eventually(lambda: hub.members[0].caller is None)
        one.close()
