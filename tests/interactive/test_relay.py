"""The relay alone: pairs by token, bounds everything, knows nothing (CB-GCB-01, CB-GCB-02)."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from broker_core.errors import BadRequest
from broker_core.interactive.channel.rendezvous import AGENT, DESK, Endpoint, NoRendezvous, meet, new_token
from broker_core.interactive.relay.configure import SERVICE, SETTINGS, configure
from broker_core.interactive.relay.pairs import Pairs
from broker_core.interactive.relay.settings import RelaySettings, load
from tests.testbed.ports import free_port
from tests.waiting import LONG, eventually, within


class Relay:
    """A relay in this loop."""

    def __init__(self, **settings: object) -> None:
        self.pairs = Pairs(RelaySettings(**settings))  # type: ignore[arg-type]

    async def __aenter__(self) -> Relay:
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(self.pairs.leg, "127.0.0.1", 0)
        self.place = Endpoint("127.0.0.1", self.server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()
        for leg in list(self.pairs.legs):
            leg.transport.abort()
        await eventually(lambda: not self.pairs.legs)

    async def both(self, token: str) -> tuple[socket.socket, socket.socket]:
        agent, desk = await asyncio.gather(
            meet(self.place, AGENT, token, LONG), meet(self.place, DESK, token, LONG)
        )
        return agent, desk


async def test_two_that_name_the_same_token_are_joined_and_others_are_not() -> None:
    loop = asyncio.get_running_loop()
    async with Relay() as relay:
        one, two = new_token(), new_token()
        agent, desk = await relay.both(one)
        with pytest.raises(NoRendezvous):
            await meet(relay.place, DESK, two, 0.2)
        await loop.sock_sendall(agent, b"to the desk")
        assert await loop.sock_recv(desk, 100) == b"to the desk"
        await loop.sock_sendall(desk, b"to the agent")
        assert await loop.sock_recv(agent, 100) == b"to the agent"
        agent.close()
        assert await loop.sock_recv(desk, 100) == b""
        desk.close()


async def test_a_fast_sender_has_to_wait_for_a_slow_reader() -> None:
    async with Relay(buffer=4096) as relay:
        agent, desk = await relay.both(new_token())
        sent = 0
        agent.setblocking(False)
        try:
            while sent < 64 << 20:
                await within(asyncio.get_running_loop().sock_sendall(agent, bytes(1 << 16)), 0.5)
                sent += 1 << 16
        except TimeoutError:
            pass
        assert sent < 32 << 20
        leg = max(relay.pairs.legs, key=lambda leg: leg.transport.get_write_buffer_size())
        assert leg.transport.get_write_buffer_size() < 1 << 20
        agent.close()
        desk.close()


@pytest.mark.expected_log("Refused agent from 127.0.0.1: too many wait")
async def test_strangers_and_crowds_are_sent_away() -> None:
    async with Relay(for_one_token=2) as relay:
        reader, writer = await asyncio.open_connection(relay.place.host, relay.place.port)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        assert (await reader.read(300)).startswith(b"NO this is a relay")
        writer.close()
        token = new_token()
        waiting = [asyncio.ensure_future(meet(relay.place, AGENT, token, LONG)) for _ in range(2)]
        await eventually(lambda: len(relay.pairs.waiting.get((AGENT, token), ())) == 2)
        with pytest.raises(NoRendezvous, match="too many wait"):
            await meet(relay.place, AGENT, token, LONG)
        for one in waiting:
            one.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_who_says_nothing_is_sent_away() -> None:
    async with Relay(hello_time=0.1) as relay:
        reader, writer = await asyncio.open_connection(relay.place.host, relay.place.port)
        assert b"did not say who it is" in await reader.read(300)
        writer.close()


async def test_a_desk_does_not_wait_for_ever() -> None:
    async with Relay(desk_time=0.1) as relay:
        with pytest.raises(NoRendezvous, match="did not come in time"):
            await meet(relay.place, DESK, new_token(), LONG)


async def test_a_pair_in_which_nothing_moves_is_cut() -> None:
    async with Relay(silence=0.1) as relay:
        agent, desk = await relay.both(new_token())
        assert await asyncio.get_running_loop().sock_recv(desk, 100) == b""
        agent.close()
        desk.close()


def test_the_configuration_command_writes_settings_that_the_relay_reads(tmp_path: Path) -> None:
    told = configure(tmp_path, None, 22222)
    assert str(tmp_path / SERVICE) in told
    assert load(tmp_path / SETTINGS).port == 22222
    assert "ExecStart=" in (tmp_path / SERVICE).read_text()
    with pytest.raises(BadRequest):
        configure(tmp_path, None, 22222)


@pytest.mark.parametrize("text", ["port = -1", "prot = 5", "port = 'x'", "port"])
def test_settings_that_are_wrong_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "relay.toml").write_text(text)
    with pytest.raises(BadRequest):
        load(tmp_path / "relay.toml")


async def test_a_place_that_cannot_be_reached_is_told_in_plain_words() -> None:
    place = Endpoint("127.0.0.1", free_port())
    with pytest.raises(NoRendezvous, match=f"^{place} does not answer: Connection refused.$"):
        await meet(place, DESK, new_token(), LONG)
