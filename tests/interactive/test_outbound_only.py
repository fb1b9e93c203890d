"""A node that takes no connection from anywhere, and whose network fails (CB-GCB-01 to CB-GCB-03)."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from broker_core.interactive.shadow.session_events import SessionState
from tests.interactive.echo import Echo, said
from tests.interactive.pair import Bench, Screen, impatient
from tests.interactive.terminals import SHELL
from tests.testbed.namespaces import Namespaces
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def network() -> Iterator[Namespaces]:
    namespaces = Namespaces("node")
    namespaces.outbound_only("node")
    yield namespaces
    namespaces.close()


async def connected(made: Bench, network: Namespaces, **settings: object) -> Screen:
    assert made.relay is not None
    made.relay.kill()
    await made.relay.wait()
    await made.start_relay("--address", network.hub)
    within = network.enter("node")
    await made.start_agent(SHELL, within=within, **settings)
    screen = Screen(made.desk())
    await screen.shows(b"ready")
    await eventually(lambda: screen.session.status.writer)
    return screen


async def test_a_session_with_a_node_that_only_dials_out(made: Bench, network: Namespaces) -> None:
    screen = await connected(made, network)
    with pytest.raises(TimeoutError), socket.create_connection((network.address("node"), 22), timeout=0.3):
        pass
    screen.session.write(b"echo $((6*7))\n")
    await screen.shows(b"42")
    connection = await screen.session.connection()
    assert (await connection.run("echo beside", encoding=None)).stdout == b"beside\n"
    async with Echo() as echo:
        forward = await screen.session.forwards.remote(("localhost", 0), ("127.0.0.1", echo.port))
        port = forward.listen.rpartition(":")[2]
        words = f"exec 3<>/dev/tcp/127.0.0.1/{port}; echo hello >&3; head -1 <&3"
        assert (await connection.run(f"bash -c '{words}'", encoding=None)).stdout == b"HELLO\n"
        with pytest.raises(ConnectionRefusedError):
            await said("127.0.0.1", int(port), b"the port is the node's")


async def test_a_network_that_swallows_everything_is_noticed_and_the_session_goes_on(
    made: Bench, network: Namespaces
) -> None:
    screen = await connected(made, network)
    await impatient(screen.session)
    network.cut("node")
    await eventually(lambda: screen.session.status.state is SessionState.BUFFERING)
    screen.session.write(b"echo typed in the dark\n")
    network.heal("node")
    await screen.shows(b"typed in the dark")
    await eventually(lambda: screen.session.status.state is SessionState.CONNECTED)
    assert bytes(screen.streams[1]).count(b"typed in the dark") == 1
