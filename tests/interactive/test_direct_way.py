"""The agent calls the desk without the relay where the network lets it (CB-IA-02)."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import replace

import pytest

from broker_core.interactive.channel.rendezvous import AGENT, DESK, Endpoint, NoRendezvous, meet, new_token
from broker_core.interactive.shadow import direct_call as shadow_direct
from broker_core.interactive.shadow.direct_call import arrival
from broker_core.interactive.shadow.session_events import SessionState
from tests.interactive.pair import QUICK, Bench, Screen, impatient
from tests.interactive.terminals import SHELL
from tests.testbed.namespaces import Namespaces
from tests.waiting import LONG, eventually

pytestmark = pytest.mark.cluster
ONLY_THE_RELAY = """table inet wall {{
  chain output {{ type filter hook output priority 0; policy accept; tcp dport != {port} {verdict}; }}
}}"""


@pytest.fixture(scope="module")
def network() -> Iterator[Namespaces]:
    namespaces = Namespaces("node")
    namespaces.outbound_only("node")
    yield namespaces
    namespaces.close()


@pytest.fixture
def open_again(network: Namespaces) -> Iterator[None]:
    yield
    rules(network, "table inet wall { }\ndelete table inet wall")


def rules(network: Namespaces, text: str) -> None:
    subprocess.run([*network.enter("node"), "nft", "-f", "-"], input=text, text=True, check=True)


async def agent(made: Bench, network: Namespaces) -> None:
    """A relay that the node reaches, and an agent there."""
    assert made.relay is not None
    made.relay.kill()
    await made.relay.wait()
    await made.start_relay("--address", network.hub)
    await made.start_agent(SHELL, within=network.enter("node"))


async def attached(made: Bench) -> Screen:
    screen = Screen(made.desk())
    await screen.shows(b"ready")
    await eventually(lambda: screen.session.status.writer)
    return screen


def listening(address: str) -> list[int]:
    """Ports at which the desk, which is this process, listens on an address."""
    words = ["ss", "-Hltnp", "src", address]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    return [int(line.split()[3].rpartition(":")[2]) for line in shown if f"pid={os.getpid()}," in line]


async def test_a_direct_session_lives_without_the_relay_and_comes_back_after_a_cut(
    made: Bench, network: Namespaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow_direct, "DIRECT_TIME", LONG)
    await agent(made, network)
    screen = await attached(made)
    assert screen.session.status.direct
    assert made.relay is not None
    assert listening(network.hub) == []
    carried = made.place.port
    made.relay.kill()
    await made.relay.wait()
    screen.session.write(b"echo $((6*7))\n")
    await screen.shows(b"42")
    assert SessionState.BUFFERING not in screen.states
    await made.start_relay("--address", network.hub, "--port", str(carried))
    await impatient(screen.session)
    network.cut("node")
    await eventually(lambda: screen.session.status.state is SessionState.BUFFERING)
    assert not screen.session.status.direct
    screen.session.write(b"echo typed in the dark\n")
    network.heal("node")
    await screen.shows(b"typed in the dark")
    await eventually(lambda: screen.session.status.direct)
    assert bytes(screen.streams[1]).count(b"typed in the dark") == 1


@pytest.mark.parametrize("verdict", ["drop", "reject"])
async def test_where_the_direct_way_is_closed_the_session_goes_over_the_relay(
    made: Bench, network: Namespaces, verdict: str, open_again: None
) -> None:
    await agent(made, network)
    rules(network, ONLY_THE_RELAY.format(port=made.place.port, verdict=verdict))
    screen = await attached(made)
    assert not screen.session.status.direct
    screen.session.write(b"echo $((6*7))\n")
    await screen.shows(b"42")
    assert listening(network.hub) == []


async def test_a_desk_that_allows_no_port_is_not_called(made: Bench, network: Namespaces) -> None:
    await agent(made, network)
    session = made.desk(replace(QUICK, direct_ports=range(0)))
    await session.connection()
    assert not session.status.direct


async def test_only_who_knows_the_token_is_let_in_by_a_desk_that_listens() -> None:
    token = new_token()
    with socket.create_server(("127.0.0.1", 0)) as door:
        door.setblocking(False)
        place = Endpoint(*door.getsockname())
        coming = asyncio.ensure_future(arrival(door, token))
        silent = await asyncio.open_connection(place.host, place.port)
        for role, said in ((AGENT, new_token()), (DESK, token)):
            with pytest.raises(NoRendezvous):
                await meet(place, role, said, LONG)
        assert not coming.done()
        agent = await meet(place, AGENT, token, LONG)
        with await coming as come:
            assert come.getpeername() == agent.getsockname()
        agent.close()
        assert await silent[0].read() == b""
        silent[1].close()
