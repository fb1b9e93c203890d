"""The port at a login host that leads back to a relay, as its SSH server allows it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from broker_core.sites.link import LinkState
from broker_core.sites.transport.contract import Transport
from broker_core.sites.transport.way_back import RelayPlace, plain_way
from tests.sites.transport.ssh_user import SshUser
from tests.testbed.namespaces import Namespaces
from tests.testbed.ports import free_port
from tests.testbed.sshd import Sshd
from tests.waiting import eventually

pytestmark = pytest.mark.cluster
Servers = Callable[..., Sshd]


@pytest.fixture
async def relay() -> AsyncIterator[RelayPlace]:
    """Stands in for a relay: it says its name to who calls."""

    async def met(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"relay\n")
        writer.close()

    server = await asyncio.start_server(met, "127.0.0.1")
    host, port = server.sockets[0].getsockname()[:2]
    yield host, port
    server.close()


async def said(place: RelayPlace) -> bytes:
    reader, writer = await asyncio.open_connection(*place)
    try:
        return await reader.read()
    finally:
        writer.close()


async def connected(user: SshUser, server: Sshd) -> Transport:
    user.knows(server).write(server.alias("hut"))
    way = await user.connect("hut")
    await eventually(lambda: way.link.state is LinkState.CONNECTED)
    return way


async def test_a_host_reaches_the_relay_over_its_loopback(
    user: SshUser, server: Sshd, relay: RelayPlace
) -> None:
    way = await connected(user, server)
    back = await way.way_back(relay, (), wide=False)
    assert back.places == (("127.0.0.1", back.ports[0]),)
    assert await said(back.places[0]) == b"relay\n"
    assert await way.way_back(relay, (), wide=False) is back


async def test_after_a_cut_the_same_port_leads_back_again(
    user: SshUser, own_server: Servers, relay: RelayPlace
) -> None:
    server = own_server()
    way = await connected(user, server)
    first = await way.way_back(relay, (free_port(),), wide=False)
    server.kill()
    await eventually(lambda: way.link.state is not LinkState.CONNECTED)
    server.start()
    await eventually(lambda: way.link.state is LinkState.CONNECTED)
    again = await way.way_back(relay, (), wide=False)
    assert again.ports == first.ports
    assert await said(again.places[0]) == b"relay\n"


async def test_a_port_that_somebody_still_keeps_is_taken_when_it_is_free_and_both_lead_back(
    user: SshUser, server: Sshd, relay: RelayPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker_core.sites.transport.ssh_way_back._PAUSE", 0.0)
    way = await connected(user, server)
    with socket.create_server(("127.0.0.1", free_port())) as other:
        taken = other.getsockname()[1]
        first = await way.way_back(relay, (taken,), wide=False)
        assert taken not in first.ports
        assert await said(first.places[0]) == b"relay\n"
    second = await way.way_back(relay, (), wide=False)
    assert set(second.ports) == {*first.ports, taken}
    assert second.places == first.places
    assert await said(("127.0.0.1", taken)) == b"relay\n"


@pytest.mark.parametrize(
    ("gateway", "loopback", "outside"),
    [("no", True, False), ("yes", True, True), ("clientspecified", False, True)],
)
async def test_nodes_of_a_cluster_get_as_much_as_the_server_allows(
    user: SshUser, relay: RelayPlace, tmp_path: Path, gateway: str, loopback: bool, outside: bool
) -> None:
    network = Namespaces("login")
    own = network.address("login")
    server = Sshd(tmp_path / "login", address=own, prefix=network.enter("login"))
    try:
        way = await connected(user, server.start(more=f"GatewayPorts {gateway}\n"))
        back = await way.way_back(relay, (), wide=True)
        assert (("127.0.0.1", back.ports[0]) in back.places) == loopback
        assert ((own, back.ports[0]) in back.places) == outside
        assert ("GatewayPorts" in back.hint) == (not outside)
        for host, port in back.places:
            there = f"bash -c 'exec 3<>/dev/tcp/{host}/{port}; cat <&3'"
            assert (await way.run(there)).out == b"relay\n"
    finally:
        server.close()
        network.close()


async def test_a_server_that_forbids_it_leaves_no_way(
    user: SshUser, own_server: Servers, relay: RelayPlace
) -> None:
    server = own_server()
    server.kill()
    server.start(more="AllowTcpForwarding no\n")
    back = await (await connected(user, server)).way_back(relay, (), wide=False)
    assert (back.places, back.ports) == ((), ())
    assert "AllowTcpForwarding" in back.hint
    assert "crossdesk-relay configure" in back.hint


async def test_without_help_nodes_elsewhere_need_a_relay_that_listens_outside() -> None:
    network = Namespaces("node")
    try:
        assert (await plain_way(("127.0.0.1", 20000), "localhost")).places == (("127.0.0.1", 20000),)
        away = await plain_way(("127.0.0.1", 20000), network.address("node"))
        assert away.places == ()
        assert 'relay_address = "0.0.0.0"' in away.hint
        wide = await plain_way(("0.0.0.0", 20000), network.address("node"))
        assert wide.places == ((network.hub, 20000),)
    finally:
        network.close()
