"""An agent is told which desks it may let in: by the key of the broker that started it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import asyncssh

from broker_core.interactive.channel.contact import Contact
from broker_core.interactive.channel.frames import DESKS_PATH, BadFrame, FrameReader, read_word, word
from broker_core.interactive.channel.rendezvous import DESK, NoRendezvous, meet
from broker_core.interactive.shadow.link import speak

PATIENCE = 10.0
"""Seconds for meeting the agent, and for its answer."""
KEEPALIVE = 15.0


async def introduce(contact: Contact, key: asyncssh.SSHKey, desks: Sequence[str]) -> None:
    """Have the agent let these desks in, and no others; raises NoRendezvous where it could not be told."""
    reasons = []
    for place in contact.places:
        try:
            meeting = await meet(place, DESK, contact.token, PATIENCE)
            speaking = await speak(meeting, contact, key, KEEPALIVE)
        except NoRendezvous as error:
            reasons.append(str(error))
            continue
        try:
            async with asyncio.timeout(PATIENCE):
                await _tell(speaking, desks)
        except (OSError, TimeoutError, asyncssh.Error, BadFrame) as error:
            raise NoRendezvous(f"the agent was not told: {error or type(error).__name__}") from error
        finally:
            speaking.abort()
        return
    raise NoRendezvous(" ".join(reasons) or "There is no place to meet.")


async def _tell(speaking: asyncssh.SSHClientConnection, desks: Sequence[str]) -> None:
    reader, writer = await speaking.open_unix_connection(DESKS_PATH, encoding=None)
    writer.write(word("desks", keys=list(desks)))
    for _, content in FrameReader().feed(await reader.read(-1)):
        said = read_word(content)
        if said.get("known") == len(desks):
            return
        raise BadFrame(str(said.get("reason", "it has another list")))
    raise BadFrame("it does not answer")
