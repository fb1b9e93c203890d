"""A desk that listens is called by agents of its jobs from the first connection on (CB-IA-02)."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.client.desk_settings import desk_file, listen_place
from broker_core.client.interactive import open_session
from broker_core.client.prepare import prepare
from broker_core.errors import BadRequest
from broker_core.interactive.channel.rendezvous import AGENT, DESK, Endpoint, NoRendezvous, meet, new_token
from broker_core.interactive.shadow import connecting as shadow_meeting
from broker_core.interactive.shadow.direct_listener import DirectListener
from broker_core.interactive.shadow.session_events import SessionState
from tests.broker.jobs import reach
from tests.interactive.consoles import SHELL as PROGRAM
from tests.interactive.pair import QUICK, Bench, Screen
from tests.interactive.terminals import SHELL
from tests.running import RunningBroker
from tests.testbed.ports import free_port
from tests.waiting import LONG, eventually, within


@pytest.fixture
def place() -> Endpoint:
    return Endpoint("127.0.0.1", free_port())


@pytest.fixture
async def client(running_broker: RunningBroker) -> AsyncIterator[BrokerClient]:
    async with await connect(running_broker.state_dir, start=False) as made:
        yield made


async def without_relay(made: Bench) -> None:
    assert made.relay is not None
    made.relay.kill()
    await made.relay.wait()


async def test_the_first_connection_needs_no_relay(made: Bench, place: Endpoint) -> None:
    await without_relay(made)
    await made.start_agent(SHELL, places=((made.place.host, made.place.port), (place.host, place.port)))
    screen = Screen(made.desk(replace(QUICK, listen=place)))
    await screen.shows(b"ready")
    await eventually(lambda: screen.session.status.writer)
    assert screen.session.status.direct
    screen.session.write(b"echo $((6*7)); exit 3\n")
    await screen.ended()
    assert b"42" in screen.streams[1]
    assert SessionState.BUFFERING not in screen.states


async def test_a_desk_that_listens_too_late_is_met_at_the_relay_and_later_comes_the_door(
    made: Bench, place: Endpoint
) -> None:
    both = ((made.place.host, made.place.port), (place.host, place.port))
    await made.start_agent(SHELL, places=both, retry_interval=60.0)
    far = Screen(made.desk())
    await far.shows(b"ready")
    assert not far.session.status.direct
    await far.session.close()
    near = Screen(made.desk(replace(QUICK, listen=place)))
    await near.shows(b"ready")
    await eventually(lambda: near.session.status.writer)
    near.session.write(b"exit 4\n")
    await near.ended()
    assert near.session.status.exit_code == 4


async def test_the_submission_carries_the_place_where_the_desk_listens(
    client: BrokerClient, place: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROSSDESK_LISTEN", str(place))
    monkeypatch.setattr(shadow_meeting, "DOOR_TIME", LONG)
    text = f'Executable = "/bin/sh"; Interactive = true; {PROGRAM}'
    job = (await client.submit_prepared(await prepare(text, Path("/")), hold="until the desk listens")).ids[0]
    screen = Screen(await open_session(client, job))
    assert [desk.door for desk in await client.desks()] == [str(place)]
    with socket.create_connection((place.host, place.port)):  # it listens: the agent comes after that
        await client.release([job])
    await screen.shows(b"ready")
    await eventually(lambda: screen.session.status.direct)
    monkeypatch.delenv("CROSSDESK_LISTEN")
    private = Screen(await open_session(client, job))
    await private.shows(b"ready")
    assert [desk.door for desk in await client.desks()] == [""]
    for one in (screen, private):
        await one.session.close()
    await client.cancel([job])
    await reach(client, job, "Canceled")


async def test_only_agents_wait_at_the_door_and_each_for_its_own_session(place: Endpoint) -> None:
    door = DirectListener(place)
    try:
        token = new_token()
        with pytest.raises(NoRendezvous, match="agents of jobs"):
            await meet(place, DESK, token, LONG)
        other = asyncio.ensure_future(meet(place, AGENT, new_token(), LONG))
        agent = asyncio.ensure_future(meet(place, AGENT, token, LONG))
        with await within(door.expect(token), LONG) as come, await agent as gone:
            assert come.getpeername() == gone.getsockname()
        assert not other.done()
        other.cancel()
        await asyncio.wait([other])
    finally:
        await door.close()


def test_a_desk_is_private_unless_it_says_otherwise(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert listen_place() is None
    desk_file().parent.mkdir(parents=True, exist_ok=True)
    desk_file().write_text('listen = "[::1]:20000"\n')
    assert listen_place() == Endpoint("::1", 20000)
    monkeypatch.setenv("CROSSDESK_LISTEN", "desk.example.org:22000")
    assert listen_place() == Endpoint("desk.example.org", 22000)
    for wrong in ("20000", "here:0", "here:99999", "a b:1"):
        monkeypatch.setenv("CROSSDESK_LISTEN", wrong)
        with pytest.raises(BadRequest):
            listen_place()
    monkeypatch.delenv("CROSSDESK_LISTEN")
    desk_file().write_text("lisen = 1\n")
    with pytest.raises(BadRequest, match="listen"):
        listen_place()
