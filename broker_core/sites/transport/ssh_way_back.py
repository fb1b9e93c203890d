"""A port at the login host that leads back to the broker's relay, over the connection that is open anyway."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Awaitable, Callable, Sequence
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
    from broker_core.sites.transport.dialing import SshRoute

_ADDRESSES = """
getent ahostsv4 "$(uname -n)" 2>/dev/null | cut -d' ' -f1
hostname -I 2>/dev/null | tr ' ' '\n'
:
"""
"""Prints addresses of the login host: first those under which it is known by its name, then all."""
_LISTENING = """
for table in /proc/net/tcp /proc/net/tcp6; do
    [ ! -r "$table" ] || sed -n 's/^ *[0-9]*: \\([0-9A-F]*\\):%04X [0-9A-F:]* 0A .*/\\1/p' "$table"
done
"""
"""Prints the local addresses of a port, as the kernel writes them."""
_HERE = "127.0.0.1"
_MOST = 4
"""Ports of one site that are kept."""
_PAUSE = 10.0
"""Seconds before a port is asked for again that could not be had."""
_LOOPBACK = (
    f"At its login host only processes there reach the way back (GatewayPorts of its SSH server). {REMEDY}"
)
_FORBIDDEN = f"Its SSH server allows no port that leads back (AllowTcpForwarding). {REMEDY}"


class SshWayBack:
    """The ports of one site, made again on each new connection when they are next asked for."""

    def __init__(self, run: Callable[[str], Awaitable[Reply]], host: str) -> None:
        """`run`: runs a script at the login host; `host`: what the site is called by the broker's machine."""
        self._run, self._host = run, host
        self._line: SshRoute | None = None
        self._relay: RelayPlace | None = None
        self._known: tuple[int, ...] = ()
        """Ports of now and of earlier connections, those of now first."""
        self._made = WayBack(())
        self._again = 0.0
        """When ports are asked for again that a dead connection still keeps, by the monotonic clock."""

    async def over(self, line: SshRoute, relay: RelayPlace, ports: Sequence[int], *, wide: bool) -> WayBack:
        """The way back over a connection; `wide`: for nodes that are other machines too.

        `ports`: of earlier times, wanted again. Raises LinkLost.
        """
        if self._line is not line or self._relay != relay:
            await line.lead_nowhere()
            self._known = tuple(dict.fromkeys((*self._known, *ports)))[:_MOST]
            self._made, self._again = WayBack(()), 0.0
            self._line, self._relay = line, relay
        if set(self._known) - set(self._made.ports) or not self._made.ports:
            now = time.monotonic()
            if now >= self._again:
                self._again = now + _PAUSE
                self._made = await self._make(line, relay, wide=wide)
        return self._made

    async def _make(self, line: SshRoute, relay: RelayPlace, *, wide: bool) -> WayBack:
        address = await self._outside() if wide else ""
        target = (_HERE, relay[1]) if is_wildcard(relay[0]) else relay
        held = list(self._made.ports)
        for port in self._known:
            # A server takes a port for its IPv6 alone where somebody else has it.
            if port not in held and not await self._listening(port):
                held += filter(None, [await line.lead_back(address or "localhost", port, target)])
        if not held:
            held += filter(None, [await line.lead_back(address or "localhost", 0, target)])
        self._known = tuple(dict.fromkeys((*held, *self._known)))[:_MOST]
        direct = await plain_way(relay, self._host) if relay[0] != target[0] else WayBack(())
        if not held:
            return WayBack(direct.places, _FORBIDDEN)
        bound = await self._listening(held[0]) or {_HERE}
        own = [_HERE] if bound & {_HERE, *WILDCARDS} else []
        outside = [address] if address and bound & {address, *WILDCARDS} else []
        places = tuple((host, held[0]) for host in (*own, *outside))
        hint = _LOOPBACK if wide and not outside else REMEDY
        return WayBack((*places, *direct.places), hint, tuple(held))

    async def _listening(self, port: int) -> set[str]:
        """Addresses there at which somebody listens on a port."""
        listed = (await self._run(_LISTENING % port)).out.decode("ascii", "replace").split()
        return {_address(one) for one in listed}

    async def _outside(self) -> str:
        """The address at which nodes know the login host; empty where it has none."""
        found = (await self._run(_ADDRESSES)).out.decode("ascii", "replace").split()
        return next((one for one in found if "." in one and not one.startswith("127.")), "")


def _address(written: str) -> str:
    """An address as in /proc/net/tcp; those of IPv6 are only told apart as far as it matters here."""
    if len(written) == 8:
        return socket.inet_ntoa(struct.pack("=I", int(written, 16)))
    return WILDCARDS[1] if not written.strip("0") else "::1"
