"""Sources that are slow, dead or silent delay nobody, and are shown as what they are."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.information.updater import SourceSettings
from tests.information.asking import ldap, running, view
from tests.information.ldif_entries import entry
from tests.running import children
from tests.testbed.glue_tree import made_sites, tree
from tests.testbed.openldap import Slapd
from tests.testbed.ports import free_port
from tests.waiting import eventually

pytestmark = pytest.mark.expected_log("The source \\w+ fails")


@pytest.fixture
def mute() -> Iterator[str]:
    """A server that takes connections and never says a word."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"ldap://127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture
def good(tmp_path: Path) -> SourceSettings:
    """A file with one resource, asked often."""
    path = tmp_path / "good.toml"
    path.write_text('[[resources]]\nce = "a:2119/jobmanager-pbs-q"\nGlueCEInfoTotalCPUs = 4\n')
    return SourceSettings("good", "file", str(path), interval=0.05)


def source(name: str, address: str, deadline: float = 30.0, **options: object) -> SourceSettings:
    return SourceSettings(name, "ldap", address, interval=0.05, deadline=deadline, options=options)


async def test_a_mute_a_dead_and_a_stopped_server_delay_no_other(
    tmp_path: Path, mute: str, good: SourceSettings, slapds: list[Slapd]
) -> None:
    stopped = Slapd(tmp_path / "stopped", tree(made_sites(4, 2)))
    slapds.append(stopped)
    address = stopped.start()
    stopped.signal(signal.SIGSTOP)
    bad = [
        source("mute", mute),
        source("dead", f"ldap://127.0.0.1:{free_port()}"),
        source("stopped", address),
    ]
    async with running(good, *bad, slow_after=0.1) as (updaters, heard):
        await eventually(lambda: len(heard.of("good")) > 3)
        await eventually(lambda: view(updaters, "mute").state == "slow")
        await eventually(lambda: view(updaters, "stopped").state == "slow")
        await eventually(lambda: view(updaters, "dead").state == "failed")
        assert {message.source for message in heard.messages} == {"good"}
        assert view(updaters, "good").state in ("ok", "asking")
        assert view(updaters, "good").resources == 1
        stopped.signal(signal.SIGCONT)
        await eventually(lambda: heard.of("stopped"))
        assert len(heard.of("stopped")[0].facts) == 4


async def test_a_source_that_does_not_answer_in_time_is_given_up_with_a_reason(mute: str) -> None:
    async with running(source("mute", mute, deadline=0.5), slow_after=0.1) as (updaters, heard):
        (told,) = await updaters.refresh()
        assert told.state == "failed"
        assert "0.5 s" in told.reason
        assert mute in told.reason
        assert told.last_heard is None
        assert not heard.messages


async def test_a_server_that_dies_in_its_answer_leaves_what_it_said_before(
    tmp_path: Path, slapds: list[Slapd]
) -> None:
    server = Slapd(tmp_path / "dying", tree(made_sites(3, 1)))
    slapds.append(server)
    async with running(source("dying", server.start(), levels=1)) as (updaters, heard):
        await eventually(lambda: heard.messages)
        server.signal(signal.SIGKILL)
        await eventually(lambda: view(updaters, "dying").state == "failed")
        said = len(heard.messages)
        told = view(updaters, "dying")
        assert told.resources == 3
        assert told.last_heard is not None
        server.close()
        server.start()
        await eventually(lambda: len(heard.messages) > said)


async def test_a_connection_cut_in_the_middle_of_an_answer_is_told_as_such() -> None:
    async def half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(bytes.fromhex("300c02010161070a010004000400"))  # the bind succeeds
        await reader.read(100)
        writer.write(bytes.fromhex("3084000001000201"))  # a message of 256 bytes begins
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(half, "127.0.0.1", 0)
    address = "ldap://{}:{}".format(*server.sockets[0].getsockname())
    async with server, running(source("half", address, levels=1)) as (updaters, _):
        (told,) = await updaters.refresh(["half"])
    assert told.state == "failed"
    assert "in the middle of its answer" in told.reason


@pytest.mark.parametrize(
    "said",
    [
        b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/html\r\n\r\n" + b"<p>Bad request</p>\n" * 20,
        b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n" * 20,
        b"220 mail.example.org ESMTP Postfix\r\n",
    ],
)
@pytest.mark.parametrize("levels", [1, 2])
async def test_a_server_of_another_protocol_is_told_to_be_none_of_ldap(said: bytes, levels: int) -> None:
    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(said)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(other, "127.0.0.1", 0)
    address = "ldap://{}:{}".format(*server.sockets[0].getsockname())
    async with server, running(source("web", address, levels=levels)) as (updaters, _):
        (told,) = await updaters.refresh()
    assert told.state == "failed"
    assert told.reason.startswith(f"{address}: This is no LDAP server: ")
    assert told.reason.endswith("Check the port: information systems mostly answer at 2170 or 389.")


async def test_an_index_names_its_silent_sites_while_the_others_are_heard(
    tmp_path: Path, mute: str, slapds: list[Slapd]
) -> None:
    sites = made_sites(12, 4)
    server = Slapd(tmp_path / "sites", tree(sites))
    slapds.append(server)
    services = dict.fromkeys(sites, server.start())
    services["site002"] = mute
    services["site003"] = f"ldap://127.0.0.1:{free_port()}"
    index = Slapd(tmp_path / "index", tree(sites, top="local", services=services))
    slapds.append(index)
    async with running(source("grid", index.start(), patience=5.0)) as (updaters, heard):
        (told,) = await updaters.refresh()
        assert told.state == "ok", told.reason
        assert sorted(told.silent) == ["SITE002", "SITE003"]
        assert told.resources == 6
        assert told.refused == 0
        assert any("No answer within 5 s" in remark for remark in told.remarks)
        assert sorted(heard.messages[0].silent) == ["SITE002", "SITE003"]
        assert heard.messages[0].complete


async def test_a_site_whose_answer_trickles_in_is_silent_when_the_time_is_over(
    tmp_path: Path, slapds: list[Slapd]
) -> None:
    over = asyncio.Event()

    async def trickle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = (await reader.read(100))[4:5]
        writer.write(bytes.fromhex("300c0201") + number + bytes.fromhex("61070a010004000400"))
        with contextlib.suppress(ConnectionError):
            await reader.read(1000)  # no server speaks before it is asked
            while True:
                await asyncio.sleep(0.01)
                writer.write(entry("GlueCEUniqueID=x,o=grid", {b"GlueCEName": [b"x"]}))
                await writer.drain()
        writer.close()
        over.set()

    sites = made_sites(6, 2)
    server = Slapd(tmp_path / "sites", tree(sites))
    slapds.append(server)
    services = dict.fromkeys(sites, server.start())
    slow = await asyncio.start_server(trickle, "127.0.0.1", 0)
    services["site001"] = "ldap://{}:{}".format(*slow.sockets[0].getsockname())
    index = Slapd(tmp_path / "index", tree(sites, top="local", services=services))
    slapds.append(index)
    async with slow:
        # Asked without a source around it, whose own deadline would end a worker that is slow to start.
        answer = await ldap(index.start(), deadline=10.0).fetch()
        await over.wait()
    assert answer.silent == ("SITE001",)
    assert answer.remarks == (f"{services['site001']}: not heard: No answer within 8 s",)
    assert {one.site for one in answer.facts} == {"SITE000"}


async def test_failures_in_a_row_put_the_next_question_off(mute: str) -> None:
    interval = 37.5  # long enough for the seconds that a question takes on a busy machine to be rounded away
    dead = SourceSettings("dead", "ldap", f"ldap://127.0.0.1:{free_port()}", interval=interval)
    async with running(dead) as (updaters, _):
        pauses = []
        for _ in range(4):
            (told,) = await updaters.refresh(["dead"])
            await eventually(lambda: view(updaters, "dead").next is not None)
            told = view(updaters, "dead")
            assert told.next is not None
            assert told.last_started is not None
            pauses.append(round((told.next - told.last_started) / interval))
    assert pauses in ([1, 2, 4, 8], [2, 4, 8, 16])


async def test_no_process_stays_behind(mute: str) -> None:
    before = children()
    async with running(source("mute", mute), source("other", mute), slow_after=0.05) as (updaters, _):
        await eventually(lambda: len(children() - before) == 2)
        await eventually(lambda: view(updaters, "other").state == "slow")
    assert children() <= before


async def test_a_question_that_is_given_up_while_its_process_is_being_started_leaves_nothing(
    mute: str,
) -> None:
    before, open_before = children(), len(os.listdir("/proc/self/fd"))
    for turns in range(12):
        asking = asyncio.create_task(ldap(mute).fetch())
        for _ in range(turns):
            await asyncio.sleep(0)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert asking.cancelled()
    assert children() <= before
    await eventually(lambda: len(os.listdir("/proc/self/fd")) <= open_before + 1, what="all pipes are closed")
