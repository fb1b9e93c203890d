"""The way without a relay: the desk listens for a moment, and the agent, asked to, calls it (CB-IA-02).

The request travels over the relay inside SSH and carries a token of its own, so that neither the relay nor a
stranger can answer in the agent's place; its key is checked on the new connection all the same.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import socket

import asyncssh

from broker_core.interactive.channel.frames import DIRECT_PATH, BadFrame, FrameReader, read_word, word
from broker_core.interactive.channel.rendezvous import (
    AGENT,
    GO,
    NoRendezvous,
    new_token,
    read_hello,
    read_line,
)
from broker_core.interactive.relay.relay import CannotListen, listen
from broker_core.interactive.relay.settings import RelaySettings

DIRECT_TIME = 1.0
"""Seconds that the agent has to come; a network that swallows its call delays a session so long."""
AT_THE_DOOR = 16
"""Connections that may be saying who they are; more are sent away."""

log = logging.getLogger("crossdesk.shadow")


async def called_directly(relayed: asyncssh.SSHClientConnection, ports: range) -> socket.socket:
    """A connection that the agent at the end of `relayed` made to a port of ours; raises NoRendezvous.

    We listen only meanwhile, on one port, and on the address alone from which we reached the relay. Where
    that is this machine's loopback interface nothing would be gained.
    """
    host = str(relayed.get_extra_info("sockname")[0])
    if not ports or ipaddress.ip_address(host.partition("%")[0]).is_loopback:
        raise NoRendezvous("the relay is the shortest way")
    try:
        door = listen(RelaySettings(address=host, first_port=ports.start, last_port=ports.stop - 1))
    except CannotListen as error:
        raise NoRendezvous(str(error)) from error
    token = new_token()
    arriving = asyncio.ensure_future(arrival(door, token))
    asking = asyncio.ensure_future(_failed(relayed, host, door.getsockname()[1], token))
    try:
        await asyncio.wait([arriving, asking], timeout=DIRECT_TIME, return_when=asyncio.FIRST_COMPLETED)
        if arriving.done():
            return arriving.result()
        raise NoRendezvous(asking.result() if asking.done() else f"the agent does not reach {host}")
    except OSError as error:
        raise NoRendezvous(f"the agent cannot be let in: {error}") from error
    finally:
        for task in (arriving, asking):
            task.cancel()
        await asyncio.gather(arriving, asking, return_exceptions=True)
        door.close()


async def _failed(relayed: asyncssh.SSHClientConnection, host: str, port: int, token: str) -> str:
    """Ask the agent to call us; returns the reason if it says that it cannot."""
    try:
        reader, writer = await relayed.open_unix_connection(DIRECT_PATH, encoding=None)
        writer.write(word("direct", host=host, port=port, token=token))
        for _, content in FrameReader().feed(await reader.read(-1)):
            return str(read_word(content).get("reason"))
    except (OSError, asyncssh.Error, BadFrame, ValueError) as error:
        return f"the agent cannot be asked: {error}"
    return "the agent does not say why"


async def arrival(door: socket.socket, token: str) -> socket.socket:
    """The first connection that names the token."""
    loop = asyncio.get_running_loop()
    accepting = asyncio.ensure_future(loop.sock_accept(door))
    greeting: set[asyncio.Task[socket.socket | None]] = set()
    try:
        while True:
            done, _ = await asyncio.wait([accepting, *greeting], return_when=asyncio.FIRST_COMPLETED)
            for one in greeting & done:
                greeting.discard(one)
                if (come := one.result()) is not None:
                    return come
            if accepting.done():
                stranger = accepting.result()[0]
                accepting = asyncio.ensure_future(loop.sock_accept(door))
                if len(greeting) < AT_THE_DOOR:
                    greeting.add(asyncio.ensure_future(_greeted(stranger, token)))
                else:
                    stranger.close()
    finally:
        for task in (accepting, *greeting):
            task.cancel()
        await asyncio.gather(accepting, *greeting, return_exceptions=True)


async def _greeted(stranger: socket.socket, token: str) -> socket.socket | None:
    """The connection, if it is the agent's; else it is closed."""
    come = None
    try:
        stranger.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        said = read_hello(await read_line(stranger))
        if said is not None and said[0] == AGENT and hmac.compare_digest(said[1], token):
            await asyncio.get_running_loop().sock_sendall(stranger, GO)
            come = stranger
    except (OSError, NoRendezvous) as error:
        log.debug("A stranger at the direct port was sent away: %s", error)
    finally:
        if come is None:
            stranger.close()
    return come
