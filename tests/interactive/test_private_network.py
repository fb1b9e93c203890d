"""A private network over the connection of a session, where the node has one (CB-I2G-03)."""

from __future__ import annotations

import asyncio
import os

import pytest

from broker_core.command_line.job.network import addressed, devices
from tests.interactive.echo import Echo
from tests.interactive.pair import Bench
from tests.interactive.terminals import SHELL, ready
from tests.testbed.namespaces import Namespaces
from tests.waiting import eventually

pytestmark = pytest.mark.cluster


async def test_a_private_network_between_desk_and_node(made: Bench) -> None:
    assert made.relay is not None
    namespaces = Namespaces("node")
    try:
        made.relay.kill()
        await made.relay.wait()
        await made.start_relay("--address", namespaces.hub)
        await made.start_agent(SHELL, within=namespaces.enter("node"))
        screen = await ready(made)
        connection = await screen.session.connection()
        here, there = await devices(connection)
        near, far = f"10.{os.getpid() % 200 + 20}.77.1", f"10.{os.getpid() % 200 + 20}.77.2"
        await addressed(connection, here, there, near, far)
        server = await asyncio.start_server(Echo.served, near, 0)
        port = server.sockets[0].getsockname()[1]
        words = f"exec 3<>/dev/tcp/{near}/{port}; echo hello >&3; head -1 <&3"
        assert (await connection.run(f"bash -c '{words}'", encoding=None)).stdout == b"HELLO\n"
        server.close()
        await screen.session.close()
        await eventually(lambda: not os.path.exists(f"/sys/class/net/{here}"))
    finally:
        namespaces.close()
