"""When a connection that is away is tried again: often at first, then rarely, at once for who asks."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from broker_core.sites.link import Link, LinkState
from broker_core.sites.transport import connector as keeper
from broker_core.sites.transport.connector import SshConnector
from broker_core.sites.transport.contract import LinkLost, NotSent
from broker_core.sites.transport.retry_policy import RetryPolicy
from tests.sites.transport.ssh_user import EAGER, ONCE, SshUser, becomes, raises
from tests.testbed.sshd import Sshd
from tests.waiting import LONG, eventually, within

pytestmark = [pytest.mark.cluster]
OwnServer = Callable[..., Sshd]


async def test_a_command_that_finds_no_connection_until_its_deadline_was_not_sent(user: SshUser) -> None:
    way = await user.connect("127.0.0.1", port=1, user="nobody", patience=ONCE)
    link = await becomes(way, LinkState.RETRYING)
    assert "Nothing listens" in link.reason
    words = await raises(NotSent, way.run("true", deadline=0.3))
    assert "Nothing listens" in words


async def test_a_site_that_is_away_for_long_is_down_and_delays_nobody(user: SshUser) -> None:
    way = await user.connect("127.0.0.1", port=1, user="nobody", patience=replace(EAGER, give_up=2))
    link = await becomes(way, LinkState.DOWN)
    assert link.retry_at is not None
    assert "Nothing listens" in await raises(NotSent, within(way.run("true"), LONG))


async def test_a_site_that_was_down_is_found_again_without_being_asked(
    user: SshUser, own_server: OwnServer
) -> None:
    server = own_server()
    user.knows(server).write(server.alias("cluster"))
    server.kill()
    way = await user.connect("cluster", patience=replace(EAGER, give_up=2))
    await becomes(way, LinkState.DOWN)
    server.start()
    await becomes(way, LinkState.CONNECTED)


async def test_a_user_need_not_wait_for_the_next_try(user: SshUser, own_server: OwnServer) -> None:
    server = own_server()
    user.knows(server).write(server.alias("cluster"))
    server.kill()
    way = await user.connect("cluster", patience=ONCE)
    await becomes(way, LinkState.RETRYING)
    server.start()
    way.connect_now()
    await becomes(way, LinkState.CONNECTED)


async def test_a_user_need_not_wait_for_the_end_of_a_try_that_hangs(
    user: SshUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "_HANGS", 0.0)
    async with _hanging() as (port, asked_for):
        patience = replace(ONCE, exchange=3600.0, connect=3600.0)
        way = await user.connect("127.0.0.1", port=port, user="nobody", patience=patience)
        await eventually(lambda: len(asked_for) == 1)
        way.connect_now()
        await eventually(lambda: len(asked_for) == 2)
        for _ in range(10):
            way.connect_now()
            await asyncio.sleep(0)
        assert len(asked_for) == 2, "who asks over and over hinders no try"


@contextlib.asynccontextmanager
async def _hanging() -> AsyncIterator[tuple[int, list[str]]]:
    """A port that takes connections and says nothing, and who asked for one."""
    asked_for: list[str] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked_for.append("")
        await reader.read()
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], asked_for


async def test_a_host_heard_of_elsewhere_is_tried_at_once(user: SshUser, own_server: OwnServer) -> None:
    server = own_server()
    user.knows(server).write(server.alias("cluster"))
    server.kill()
    way = await user.connect("cluster", patience=ONCE)
    await becomes(way, LinkState.RETRYING)
    assert way.link.way == {server.address}
    server.start()
    way.hurry()
    await becomes(way, LinkState.CONNECTED)


def test_pauses_grow_to_a_minute_and_after_ten_minutes_to_five_and_are_never_in_step() -> None:
    patience = RetryPolicy()
    early = [patience.pause(failures, 599.0) for failures in range(1, 40)]
    assert all(1.0 <= pause <= 60.0 for pause in early)
    assert all(pause <= 2.0**number for number, pause in enumerate(early))
    late = [patience.pause(failures, 601.0) for failures in range(10, 40)]
    assert all(150.0 <= pause <= 300.0 for pause in late)
    assert len({patience.pause(20, 601.0) for _ in range(10)}) == 10


def test_a_connection_that_stood_is_tried_often_for_a_while() -> None:
    patience = RetryPolicy()
    pauses = [patience.pause(failures, 10.0, hasty=True) for failures in range(1, 40)]
    assert all(1.0 <= pause <= 3.0 for pause in pauses)
    assert patience.hurried().connect <= 5.0


async def test_only_what_stood_is_tried_often_and_not_for_ever() -> None:
    tries: list[bool] = []

    class Line:
        async def lost(self) -> None:
            return None

        def close(self) -> None:
            return None

    async def dial() -> Line:
        tries.append(kept.is_hasty)
        if len(tries) != 2:
            raise LinkLost("away")
        return Line()

    async def prove(line: Line) -> None:
        return None

    patience = RetryPolicy(first=0.01, often=0.01, early=0.01, longest=0.01, hasty=0.2)
    kept: SshConnector[Line] = SshConnector(Link(lambda _: None), patience, dial, prove)
    kept.start()
    await eventually(lambda: tries[2:] and not tries[-1])
    assert tries[:3] == [False, False, True]
    await kept.close()
