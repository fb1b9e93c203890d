"""A port at the login host that leads back to the broker's relay, over the connection that is open anyway."""

from __future__ import annotations

import socket
import struct
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from broker_core.sites.transport.contract import Reply
from broker_core.sites.transport.way_back import (
    REMEDY,
    WILDCARDS,
    RelayPlace,
    WayBack,
    is_wildcard,
    plain_way,
)

if TYPE_CHECKING:
    from broker_core.sites.transport.dialing import Line

_NAME = """
getent ahostsv4 "$(uname -n)" 2>/dev/null | { read -r address rest && printf %s "$address"; }
:
"""
"""Prints the address under which the cluster knows its login host."""
_LISTENING = """
for table in /proc/net/tcp /proc/net/tcp6; do
    [ ! -r "$table" ] || sed -n 's/^ *[0-9]*: \\([0-9A-F]*\\):%04X [0-9A-F:]* 0A .*/\\1/p' "$table"
done
"""
"""Prints the local addresses of a port, as the kernel writes them."""
_HERE = "127.0.0.1"
_LOOPBACK = (
    f"At its login host only processes there reach the way back (GatewayPorts of its SSH server). {REMEDY}"
)
_FORBIDDEN = f"Its SSH server allows no port that leads back (AllowTcpForwarding). {REMEDY}"


class SshWayBack:
    """The port of one site, made again on each new connection when it is next asked for."""

    def __init__(self, run: Callable[[str], Awaitable[Reply]], host: str) -> None:
        """`run`: runs a script at the login host; `host`: what the site is called by the broker's machine."""
        self._run, self._host = run, host
        self._line: Line | None = None
        self._relay: RelayPlace | None = None
        self._made = WayBack(())

    async def over(self, line: Line, relay: RelayPlace, port: int, *, wide: bool) -> WayBack:
        """The way back over a connection; `wide`: for nodes that are other machines too.

        `port`: is asked for first. Raises LinkLost.
        """
        if self._line is not line or self._relay != relay:
            self._made = await self._make(line, relay, self._made.port or port, wide=wide)
            self._line, self._relay = line, relay
        return self._made

    async def _make(self, line: Line, relay: RelayPlace, port: int, *, wide: bool) -> WayBack:
        name = (await self._run(_NAME)).out.decode("ascii", "replace") if wide else ""
        address = name if name and not name.startswith("127.") else ""
        target = (_HERE, relay[1]) if is_wildcard(relay[0]) else relay
        there = await line.lead_back(address or "localhost", port, target)
        direct = await plain_way(relay, self._host) if relay[0] != target[0] else WayBack(())
        if not there:
            return WayBack(direct.places, _FORBIDDEN)
        listed = (await self._run(_LISTENING % there)).out.decode("ascii", "replace").split()
        bound = {_address(one) for one in listed} or {_HERE}
        own = [_HERE] if bound & {_HERE, *WILDCARDS} else []
        outside = [address] if address and bound & {address, *WILDCARDS} else []
        places = tuple((host, there) for host in (*own, *outside))
        return WayBack((*places, *direct.places), _LOOPBACK if wide and not outside else REMEDY, there)


def _address(written: str) -> str:
    """An address as in /proc/net/tcp; those of IPv6 are only told apart as far as it matters here."""
    if len(written) == 8:
        return socket.inet_ntoa(struct.pack("=I", int(written, 16)))
    return WILDCARDS[1] if not written.strip("0") else "::1"
