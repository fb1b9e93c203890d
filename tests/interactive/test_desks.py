"""Desks that come after the job has started, and desks that are forgotten while it runs."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import asyncssh
import pytest

from broker_core.client import interactive
from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.client.interactive import open_session, register_desk, vouch
from broker_core.errors import CrossDeskError
from broker_core.interactive.shadow.session_events import SessionState
from broker_core.wire.interactive import NewDesk
from tests.broker.jobs import reach
from tests.interactive.consoles import console, submitted
from tests.interactive.pair import Screen
from tests.running import RunningBroker
from tests.waiting import eventually


class Seat:
    """Sits the test down at one desk or another: each has a key file of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._monkeypatch = folder, monkeypatch
        self.keys: dict[str, asyncssh.SSHKey] = {}

    def at(self, name: str) -> None:
        home = self._folder / name
        if name not in self.keys:
            self.keys[name] = asyncssh.generate_private_key("ssh-ed25519", comment=name)
            (home / "crossdesk").mkdir(parents=True)
            self.keys[name].write_private_key(str(home / "crossdesk" / "desk_key"))
        self._monkeypatch.setenv("XDG_DATA_HOME", str(home))

    def fingerprint(self, name: str) -> str:
        return self.keys[name].get_fingerprint()


@pytest.fixture
def seat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Seat:
    return Seat(tmp_path / "desks", monkeypatch)


@pytest.fixture
async def client(running_broker: RunningBroker) -> AsyncIterator[BrokerClient]:
    async with await connect(running_broker.state_dir, start=False) as made:
        yield made


async def test_a_desk_that_is_registered_later_sees_past_output_and_then_what_follows(
    seat: Seat, client: BrokerClient
) -> None:
    seat.at("laptop")
    job = await submitted(client)
    laptop = await console(client, job)
    laptop.session.write(b"echo said$((1+1))before\n")
    await laptop.shows(b"said2before")
    await laptop.session.close()
    seat.at("workstation")
    workstation = await console(client, job)
    await workstation.shows(b"said2before")
    workstation.session.write(b"echo said$((2+2))after; exit 4\n")
    await workstation.shows(b"said4after")
    await workstation.ended()
    await workstation.session.close()
    assert (await reach(client, job, "Done"))["exit_code"] == 4
    names = {desk.fingerprint: desk.added_by for desk in await client.desks()}
    assert names == {seat.fingerprint(name): "login at the broker" for name in ("laptop", "workstation")}


async def test_a_desk_that_is_forgotten_loses_its_running_session_at_once_and_others_keep_theirs(
    seat: Seat, client: BrokerClient
) -> None:
    seat.at("laptop")
    job = await submitted(client)
    laptop = await console(client, job)
    beside = await (await laptop.session.connection()).create_process("cat", encoding=None)
    seat.at("workstation")
    workstation = Screen(await open_session(client, job))
    await workstation.shows(b"ready")
    await client.remove_desk(seat.fingerprint("laptop"))
    await laptop.ended()
    await beside.wait_closed()
    assert laptop.session.status.state is SessionState.REFUSED
    assert "This desk was forgotten" in laptop.session.status.reason
    await eventually(lambda: workstation.session.status.viewers == 1)
    workstation.session.take()
    await eventually(lambda: workstation.session.status.writer)
    workstation.session.write(b"echo without$((1+1))it\n")
    await workstation.shows(b"without2it")
    assert b"without2it" not in laptop.streams[1]
    await laptop.session.close()
    seat.at("laptop")
    with pytest.raises(CrossDeskError, match="was forgotten") as refused:
        await open_session(client, job)
    assert refused.value.code == "desk_forgotten"
    seat.at("workstation")
    await vouch(client, (await public(seat, "laptop")), "laptop")
    seat.at("laptop")
    again = Screen(await open_session(client, job))
    await again.shows(b"without2it")
    found = {desk.name: desk.added_by for desk in await client.desks()}
    assert found["laptop"].startswith("desk ")
    for screen in (workstation, again):
        await screen.session.close()
    await client.cancel([job])
    await reach(client, job, "Canceled")


async def public(seat: Seat, name: str) -> str:
    return seat.keys[name].export_public_key().decode().strip()


async def asks_nobody(*_: object) -> None:
    """Instead of registering at the broker."""


async def test_a_change_that_the_broker_did_not_live_to_tell_is_told_after_its_next_start(
    seat: Seat, client: BrokerClient, running_broker: RunningBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat.at("laptop")
    job = await submitted(client)
    laptop = await console(client, job)
    # The desk is one that does not ask the broker whether it is still known: the agent must not let it in.
    monkeypatch.setattr(interactive, "_name_desk", asks_nobody)
    relay = running_broker.state_dir / "relay.json"
    os.kill(int(relay.read_text().partition('"pid": ')[2].rstrip("}")), signal.SIGKILL)
    await client.remove_desk(seat.fingerprint("laptop"))
    running_broker.kill()
    running_broker.start()
    await eventually(lambda: "does not know this desk" in laptop.session.status.reason)
    await laptop.session.close()
    async with await connect(running_broker.state_dir, start=False) as fresh:
        await fresh.cancel([job])
        await reach(fresh, job, "Canceled")


async def test_a_word_that_no_registered_desk_gave_adds_nobody(seat: Seat, client: BrokerClient) -> None:
    seat.at("laptop")
    await register_desk(client)
    seat.at("stranger")
    stranger = await public(seat, "stranger")
    with pytest.raises(CrossDeskError, match="not registered itself"):
        await vouch(client, stranger, "stranger")
    by = seat.fingerprint("laptop")
    with pytest.raises(CrossDeskError, match="too old"):
        await client.add_desk(NewDesk(key=stranger, by=by, time=1, signature="AAAA"))
    with pytest.raises(CrossDeskError, match="not that of the desk"):
        await client.add_desk(NewDesk(key=stranger, by=by, time=int(time.time()), signature="AAAA"))
    assert [desk.fingerprint for desk in await client.desks()] == [by]
