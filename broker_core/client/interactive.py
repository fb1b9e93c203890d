"""The door to interactive jobs: `open_session` and what a session tells (CB-IA-01).

A session belongs to the event loop that opened it; a window runs one in a thread of its own. It reaches the
job's agent by itself, and again after every cut, until the program has ended or the session is closed.
"""

from __future__ import annotations

import asyncio
import base64
import time
from dataclasses import replace

from broker_core.client import keyring_access
from broker_core.client.commands.sessions import SessionCommands
from broker_core.client.desk_settings import listen_place
from broker_core.client.line_link import LineLink
from broker_core.errors import BadRequest, Busy, CrossDeskError, Unreachable
from broker_core.interactive.channel.contact import Contact, FlowSettings, NotYet, SessionOver
from broker_core.interactive.channel.rendezvous import Endpoint, read_ports
from broker_core.interactive.channel.stream_link import StreamListener
from broker_core.interactive.shadow.desk_key import DeskKeyPair, desk_key
from broker_core.interactive.shadow.session import SessionOptions, ShadowSession
from broker_core.interactive.shadow.session_events import (
    ENDED,
    Event,
    ForwardView,
    Gap,
    OutputReceived,
    ServiceState,
    ServiceView,
    SessionState,
    Status,
)
from broker_core.wire.interactive import ContactState, DeskView, NewDesk, SessionContact, vouched_text

__all__ = [
    "ENDED",
    "Event",
    "ForwardView",
    "Gap",
    "OutputReceived",
    "ServiceState",
    "ServiceView",
    "SessionOptions",
    "SessionState",
    "ShadowSession",
    "Status",
    "open_session",
    "register_desk",
    "vouch",
]
NOTICE = (
    "No terminal: the plain agent is used ({why}). Lines go to and fro, Enter sends them; there is no window "
    "size, no display, and there are no forwards and no files (SFTP). The broker and the site see what "
    "passes. Help, Agents and consoles, says how to have the better agent."
)
WAIT = 10.0
"""Seconds that the broker waits for an agent before it answers that it is not there."""


async def register_desk(client: SessionCommands, *, again: bool = False) -> DeskKeyPair:
    """Make sure that the broker knows this desk, so that agents let it in, those that run too.

    A desk that was forgotten is registered only where that is wished for, by `again`. Where this desk
    listens, jobs that start afterwards are told. Raises CrossDeskError for a keyring that nobody unlocks.
    """
    pair = await _own_key()
    await _name_desk(client, pair, again=again)
    return pair


async def _own_key() -> DeskKeyPair:
    try:
        async with asyncio.timeout(keyring_access.PATIENCE):
            return await keyring_access.in_background(desk_key)
    except TimeoutError:
        raise CrossDeskError(
            "The key of this desk is in the keyring, which nobody unlocked.",
            remedy="Unlock the keyring, then try again.",
        ) from None


async def _name_desk(client: SessionCommands, pair: DeskKeyPair, *, again: bool = False) -> None:
    door = listen_place()
    told = "" if door is None else str(door)
    await client.add_desk(NewDesk(key=pair.public, name=pair.name, again=again, door=told))


async def vouch(client: SessionCommands, key: str, name: str) -> list[DeskView]:
    """Register another desk by the word of this one, which must be registered itself."""
    pair = await asyncio.to_thread(desk_key)
    now = int(time.time())
    signature = base64.b64encode(pair.signed(vouched_text(key, now))).decode()
    by = pair.key.get_fingerprint()
    return await client.add_desk(NewDesk(key=key, name=name, by=by, time=now, signature=signature))


async def open_session(
    client: SessionCommands, job: str, options: SessionOptions | None = None
) -> ShadowSession:
    """Begin a session with an interactive job, also before it runs; raises what the broker says of it.

    Where the program is not to be shown a batch job will do: an agent is brought there once it runs. The
    client must stay open as long as the session, in the same loop.
    """
    pair = await register_desk(client)
    wanted = options or SessionOptions()
    known: Contact | None = None

    async def introduce() -> Contact:
        nonlocal known
        try:
            if known is not None:  # a desk that was forgotten meanwhile would be sent away again and again
                await _name_desk(client, pair)
            answer = await client.session_contact(job, WAIT)
            if answer.state is ContactState.NONE and not wanted.attached:
                await client.bring_agent(job)
                raise NotYet("The job gets an agent once it runs.", place=job)
        except (Unreachable, Busy):
            if known is None:
                raise
            return known
        if answer.state is ContactState.OVER and known is not None and known.carried is not None:
            # The rest of the output is at the broker when the job has ended.
            return replace(known, attempt=answer.attempt)
        known = _carried(client, answer) if answer.agent == "plain" else _contact(answer)
        return known

    session = ShadowSession(introduce, pair.key, replace(wanted, listen=listen_place()))
    session.start()
    return session


def _carried(client: SessionCommands, said: SessionContact) -> Contact:
    """The contact of a program whose lines the broker carries."""
    over = said.state is ContactState.OVER
    notice = "" if over else NOTICE.format(why=said.missing.rstrip(".") or "the node runs no other")

    def link(listener: StreamListener) -> LineLink:
        return LineLink(client, said.job, said.node, listener)

    return Contact(said.job, "", (), "", said.node, said.attempt, link, notice, _manners(said))


def _manners(said: SessionContact) -> FlowSettings:
    told = said.manners
    return FlowSettings(told.buffer, told.flush_time, read_ports(told.ports))


def _contact(said: SessionContact) -> Contact:
    """The contact, if the agent is there; raises NotYet, SessionOver or BadRequest."""
    if said.state is ContactState.WAITING:
        raise NotYet(said.reason, place=said.job)
    if said.state is ContactState.OVER:
        over = SessionOver(said.reason, place=said.job)
        over.exit_code, over.signal, over.dead = said.exit_code, said.signal, said.dead
        raise over
    if said.state is not ContactState.THERE:
        raise BadRequest(said.reason, place=said.job)
    places = tuple(Endpoint(place.host, place.port) for place in said.places)
    return Contact(
        said.job, said.token, places, said.host_key, said.node, said.attempt, manners=_manners(said)
    )
