"""Connections that are lost, cut or never answered: each call ends, and the link comes back by itself."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from broker_core.sites.link import LinkState
from broker_core.sites.transport.contract import LinkLost, NotSent, Transport
from tests.running import end_all
from tests.running import ended as has_ended
from tests.sites.transport.ssh_user import HURRY, ONCE, SshUser, asked, becomes, raises, said
from tests.testbed.namespaces import BOTH_WAYS, FROM_SITE, TO_SITE, Namespaces
from tests.testbed.sshd import Sshd
from tests.waiting import LONG, eventually, within

pytestmark = [pytest.mark.cluster]
OwnServer = Callable[..., Sshd]
BANNER = b"SSH-2.0-Stall\r\n"


async def test_after_the_server_was_killed_the_next_command_runs_on_a_new_connection(
    user: SshUser, own_server: OwnServer, tmp_path: Path
) -> None:
    server = own_server()
    way = await user.knows(server).write(server.alias("cluster")).connect("cluster")
    call = asyncio.create_task(way.run(f"cd {tmp_path}; echo >begun; exec sleep 5000"))
    await eventually((tmp_path / "begun").exists)
    server.kill()
    assert "not known whether it ran" in await raises(LinkLost, call)
    link = await becomes(way, LinkState.RETRYING)
    assert link.retry_at is not None
    assert "lost" in link.reason or "Nothing listens" in link.reason
    waiting = asyncio.create_task(way.run("echo again"))
    server.start()
    assert (await waiting).out == b"again\n"
    assert way.link.state is LinkState.CONNECTED
    assert (way.link.reason, way.link.retry_at) == ("", None)
    end_all(tmp_path)


@pytest.fixture
def stopped(own_server: OwnServer) -> Iterator[Sshd]:
    """A server that is continued after the test, should the test have stopped it."""
    server = own_server()
    yield server
    server.signal(signal.SIGCONT)


async def test_a_server_that_falls_silent_is_noticed_and_found_again(user: SshUser, stopped: Sshd) -> None:
    way = await user.knows(stopped).write(stopped.alias("cluster")).connect("cluster", patience=HURRY)
    await becomes(way, LinkState.CONNECTED)
    stopped.signal(signal.SIGSTOP)
    assert "not known whether" in await raises(LinkLost, way.run("true", deadline=LONG))
    await eventually(lambda: "keepalive" in said(way) or "runs no command" in said(way))
    await becomes(way, LinkState.RETRYING)
    stopped.signal(signal.SIGCONT)
    await becomes(way, LinkState.CONNECTED)
    assert (await way.run("echo back")).out == b"back\n"


async def test_a_server_that_answers_but_runs_nothing_is_noticed(
    user: SshUser, own_server: OwnServer, tmp_path: Path
) -> None:
    server = own_server()
    server.kill()
    # Each command waits for a file, as it does where the home directory's file server hangs.
    waits = f'while [ -e {tmp_path}/hangs ]; do sleep 0.05; done; exec sh -c "$SSH_ORIGINAL_COMMAND"'
    server.start(more=f"ForceCommand {waits}\n")
    user.knows(server).write(server.alias("cluster"))
    way = await user.connect("cluster", patience=replace(HURRY, probe=2.0))
    await becomes(way, LinkState.CONNECTED)
    (tmp_path / "hangs").touch()
    await raises(LinkLost, way.run("true", deadline=0.3))
    link = await becomes(way, LinkState.RETRYING)
    assert "runs no command" in link.reason
    (tmp_path / "hangs").unlink()
    await becomes(way, LinkState.CONNECTED)


async def test_a_command_whose_beginning_is_not_heard_of_yet_is_ended_with_its_call(
    user: SshUser, own_server: OwnServer, tmp_path: Path
) -> None:
    server = own_server()
    server.kill()
    # What a command says is held up while there is a file, as it is on a slow network.
    late = f"while [ -e {tmp_path}/held ]; do sleep 0.05; done; exec cat"
    server.start(more=f"ForceCommand exec bash -c 'exec sh -c \"$SSH_ORIGINAL_COMMAND\" > >({late})'\n")
    way = await user.knows(server).write(server.alias("cluster")).connect("cluster")
    await becomes(way, LinkState.CONNECTED)
    (tmp_path / "held").touch()
    call = asyncio.create_task(way.run(f"echo $$ >{tmp_path}/pid; exec sleep 600"))
    await eventually(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    (tmp_path / "held").unlink()
    await eventually(lambda: has_ended(int((tmp_path / "pid").read_text())), what="it is ended")
    assert (await way.run("echo next")).out == b"next\n"


Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture
async def listening() -> AsyncIterator[Callable[[Behaviour], Awaitable[int]]]:
    """Makes servers that are none: each connection is left to a function; returns the port."""
    servers: list[asyncio.Server] = []
    visits: set[asyncio.Task[None]] = set()

    async def listen(behaviour: Behaviour) -> int:
        async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            visits.add(task)
            try:
                await behaviour(reader, writer)
                await asyncio.Event().wait()
            except (OSError, asyncio.CancelledError):
                writer.transport.abort()

        servers.append(await asyncio.start_server(visit, "127.0.0.1", 0))
        return int(servers[-1].sockets[0].getsockname()[1])

    yield listen
    for server in servers:
        server.close()
    for visit in visits:
        visit.cancel()
    await asyncio.gather(*visits, return_exceptions=True)


async def _say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    pass


async def _say_only_the_name(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(BANNER)


async def _drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A slow-loris peer: each byte keeps the connection alive, and the whole never comes."""
    for number in range(10_000):
        writer.write(BANNER[number : number + 1] or b"x")
        await asyncio.sleep(0.1)


async def _chatter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"hello\r\n" * 100)
        await writer.drain()


async def _hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (_say_nothing, "no SSH server answered within 1 s"),
        (_say_only_the_name, "did not finish the key exchange within 1 s"),
        (_drip, "no SSH server answered within 1 s"),
        (_chatter, "broke|no way of encryption"),
        (_hang_up, "broke|reset by peer"),
    ],
)
async def test_a_server_that_never_gets_anywhere_is_given_up_with_words(
    user: SshUser,
    listening: Callable[[Behaviour], Awaitable[int]],
    behaviour: Behaviour,
    words: str,
) -> None:
    port = await listening(behaviour)
    way = await user.connect("127.0.0.1", port=port, user="someone", patience=replace(HURRY, exchange=1.0))
    assert isinstance(await within(_error_of(way), LONG), NotSent)
    await eventually(lambda: any(part in said(way) for part in words.split("|")), what=lambda: said(way))


async def _error_of(way: Transport) -> object:
    return (await asyncio.gather(way.run("true", deadline=2.5), return_exceptions=True))[0]


class _Stalls(asyncssh.SSHServer):
    """A server of asyncssh that stops answering at one step, which sshd cannot be told to do."""

    def __init__(self, step: str, over: asyncio.Event) -> None:
        self._step, self._over = step, over

    async def begin_auth(self, username: str) -> bool:
        if self._step == "login":
            await self._over.wait()
        return False

    async def session_requested(self) -> bool:
        await self._over.wait()
        return False


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("login", "did not finish the login within 1 s"),
        ("command", "did not take the command within 1 s"),
    ],
)
async def test_a_server_that_stalls_after_its_key_is_given_up_with_words(
    user: SshUser, step: str, words: str
) -> None:
    key, over = asyncssh.generate_private_key("ssh-ed25519"), asyncio.Event()
    listener = await asyncssh.listen(
        "127.0.0.1", 0, server_factory=lambda: _Stalls(step, over), server_host_keys=[key]
    )
    public = key.convert_to_public().export_public_key().decode()
    user.known_hosts.write_text(f"[127.0.0.1]:{listener.get_port()} {public}")
    patience = replace(ONCE, **({"login": 1.0} if step == "login" else {"channel": 1.0}))
    way = await user.connect("127.0.0.1", port=listener.get_port(), user="someone", patience=patience)
    link = await becomes(way, LinkState.RETRYING)
    assert words in link.reason
    await way.close()
    over.set()
    listener.close()
    await listener.wait_closed()


async def test_over_a_flapping_network_nothing_runs_twice_and_no_answer_is_another_ones(
    network: Namespaces, site: str, user: SshUser, tmp_path: Path, soak: bool
) -> None:
    way = await user.connect(site, patience=replace(HURRY, alive=0.5, silent=2))
    await becomes(way, LinkState.CONNECTED)
    chance = random.Random(8)
    ended: list[int] = []

    async def flap() -> None:
        for _ in range(60 if soak else 6):
            network.cut("site", chance.choice([TO_SITE, FROM_SITE, BOTH_WAYS]))
            await asyncio.sleep(chance.uniform(0.0, 2.0))
            network.heal("site")
            await asyncio.sleep(chance.uniform(0.0, 0.5))

    async def work(number: int) -> None:
        try:
            reply = await way.run(f"echo {number} >>{tmp_path}/ran; echo {number}", deadline=5.0)
        except LinkLost:
            return
        assert int(reply.out) == number
        ended.append(number)

    flapping = asyncio.create_task(flap())
    number = 0
    while not flapping.done() or not ended:
        await asyncio.gather(*(work(number + more) for more in range(4)))
        number += 4
    await flapping

    async def back() -> bytes:
        with contextlib.suppress(LinkLost):
            return (await way.run("echo back")).out
        return b""

    assert await eventually(back) == b"back\n"
    ran = [int(line) for line in (tmp_path / "ran").read_text().split()]
    assert len(ran) == len(set(ran))
    assert set(ended) <= set(ran)


async def test_a_dead_site_does_not_hold_others_up(
    user: SshUser, server: Sshd, listening: Callable[[Behaviour], Awaitable[int]]
) -> None:
    dead = [
        await user.connect("127.0.0.1", port=await listening(_say_nothing), user="someone") for _ in range(5)
    ]
    way = await user.knows(server).write(server.alias("cluster")).connect("cluster")
    stuck = [asyncio.create_task(one.run("true", deadline=LONG)) for one in dead]
    for _ in range(20):
        assert (await way.run("echo on")).out == b"on\n"
    assert not any(call.done() and call.exception() is None for call in stuck)
    for call in stuck:
        call.cancel()
    await asyncio.gather(*stuck, return_exceptions=True)


@pytest.fixture
def network() -> Iterator[Namespaces]:
    """A network with one site in it."""
    namespaces = Namespaces("site")
    yield namespaces
    namespaces.close()


@pytest.fixture
def site(network: Namespaces, own_server: OwnServer, user: SshUser) -> str:
    """Name of a server in a network that can be cut."""
    server = own_server(address=network.address("site"), prefix=network.enter("site"))
    user.knows(server).write(server.alias("cluster"))
    return "cluster"


@pytest.mark.parametrize("ways", [TO_SITE + FROM_SITE, TO_SITE, FROM_SITE], ids=["both", "to it", "from it"])
async def test_a_cut_network_is_noticed_and_after_it_heals_the_site_is_connected_again(
    network: Namespaces, site: str, user: SshUser, ways: tuple[str, ...], tmp_path: Path
) -> None:
    way = await user.connect(site, patience=HURRY)
    call = asyncio.create_task(way.run(f"cd {tmp_path}; echo >begun; exec sleep 5000"))
    await eventually((tmp_path / "begun").exists)
    network.cut("site", ways)
    assert "not known whether" in await raises(LinkLost, call)
    await becomes(way, LinkState.RETRYING)
    network.heal("site")
    assert (await way.run("echo back")).out == b"back\n"
    assert way.link.state is LinkState.CONNECTED
    end_all(tmp_path)


async def test_a_cut_that_heals_soon_is_not_even_noticed(
    network: Namespaces, site: str, user: SshUser
) -> None:
    way = await user.connect(site)
    await becomes(way, LinkState.CONNECTED)
    network.cut("site", seconds=0.3)
    assert (await way.run("echo through")).out == b"through\n"
    assert "lost" not in said(way)


async def test_a_half_open_connection_ends_a_transfer_in_its_midst(
    network: Namespaces, site: str, user: SshUser
) -> None:
    way = await user.connect(site, patience=HURRY)
    came = 0

    def take(piece: bytes) -> None:
        nonlocal came
        came += len(piece)
        if came < 10_000_000 <= came + 100_000:
            network.cut("site")

    await raises(LinkLost, way.receive("cat /dev/zero", take, deadline=LONG))
    assert came >= 9_900_000


async def test_a_question_is_still_there_after_the_network_went_away_and_came_back(
    network: Namespaces, own_server: OwnServer, user: SshUser
) -> None:
    server = own_server(address=network.address("site"), prefix=network.enter("site"))
    way = await user.write(server.alias("cluster")).connect("cluster", patience=HURRY)
    question = await asked(way, "trust-host")
    network.cut("site")
    way.answer(question.id, "yes")
    await becomes(way, LinkState.RETRYING)
    network.heal("site")
    await becomes(way, LinkState.CONNECTED)


async def test_a_broker_without_sites_over_ssh_does_not_wait_for_the_import_of_asyncssh(
    tmp_path: Path,
) -> None:
    program = (
        "import sys, broker_core.sites.transport.factory, broker_core.broker.daemon.assembly;"
        "print([name for name in sys.modules if name.startswith('asyncssh')])"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE, env={"HOME": str(tmp_path)}
    )
    out, _ = await process.communicate()
    assert out.strip() == b"[]"
