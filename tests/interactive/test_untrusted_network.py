"""Relay and network are untrusted: they see nothing, change nothing, and let nobody in (CB-IA-08)."""

from __future__ import annotations

import random
from dataclasses import replace

import asyncssh

from broker_core.interactive.channel.contact import Contact
from broker_core.interactive.shadow.session import ShadowSession
from broker_core.interactive.shadow.session_events import SessionState
from tests.interactive.pair import QUICK, Bench, Screen
from tests.interactive.terminals import SHELL, ready
from tests.interactive.wire import Wire
from tests.waiting import eventually

SECRET = b"the-secret-of-the-session"


async def test_an_eavesdropper_on_both_sides_reads_nothing(made: Bench) -> None:
    wire = Wire(made.place)
    wire.keeps = True
    made.place = await wire.open()
    await made.start_agent(SHELL)
    screen = await ready(made)
    screen.session.write(b"echo " + SECRET + b"\n")
    await screen.shows(SECRET)
    assert len(wire.seen) > 1000
    assert SECRET not in wire.seen
    assert b"ready" not in wire.seen
    await wire.close()


async def test_what_a_meddler_changes_never_arrives(made: Bench) -> None:
    chance, spoiled = random.Random(5), [0]

    def spoil(data: bytes) -> bytes:
        if len(data) < 40 or data.startswith(b"CROSSDESK") or chance.random() > 0.03:
            return data
        spoiled[0] += 1
        place = chance.randrange(len(data))
        return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]

    wire = Wire(made.place, spoil)
    made.place = await wire.open()
    script = "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done"
    await made.start_agent(["/bin/sh", "-c", script], mode="lines", max_retries=0, keepalive=0.5)
    screen = Screen(made.desk(replace(QUICK, keepalive=0.5)))
    await screen.ended(60)
    assert screen.session.status.state is SessionState.CLOSED
    assert bytes(screen.streams[1]) == b"".join(b"line %d\n" % number for number in range(3000))
    assert spoiled[0] > 0
    await wire.close()


async def test_a_desk_that_the_broker_did_not_introduce_is_not_let_in(made: Bench) -> None:
    await made.start_agent(SHELL)
    stranger = Screen(made.desk(key=asyncssh.generate_private_key("ssh-ed25519")))
    await eventually(lambda: "does not know this desk" in stranger.session.status.reason)
    assert stranger.session.status.state is SessionState.STARTING
    assert not stranger.streams[1]
    owner = await ready(made)
    owner.session.write(b"echo mine\n")
    await owner.shows(b"mine")


async def test_somebody_who_poses_as_the_agent_is_found_out(made: Bench) -> None:
    await made.start_agent(SHELL)

    async def lied_to() -> Contact:
        other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
        return replace(await made.contact(), host_key=other)

    session = ShadowSession(lied_to, made.key, QUICK)
    made.sessions.append(session)
    session.start()
    await eventually(lambda: "not the job's agent" in session.status.reason)
    assert session.write(b"echo " + SECRET + b"\n")
    await eventually(lambda: session.status.retries > 3)
    assert session.status.sent == 0
