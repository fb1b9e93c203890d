"""How nodes of a site reach the broker's own relay: the way back that interactive jobs need (CB-GCB-01)."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from dataclasses import dataclass

WILDCARDS = ("0.0.0.0", "::")  # noqa: S104 - nothing listens here
"""Addresses to listen on that stand for all."""
RelayPlace = tuple[str, int]
"""Host and port at which a relay is met."""
_ELSEWHERE = "192.0.2.1"
"""An address for documentation: nothing is sent there, but a route towards it shows the usual interface."""
REMEDY = (
    "Run a relay that nodes reach (crossdesk-relay configure) and name it in broker.toml:"
    ' relay = "HOST:PORT"; or let the broker\'s own one be reached from outside: relay_address = "0.0.0.0".'
)


@dataclass(frozen=True, slots=True)
class WayBack:
    """Where agents at a site are to call."""

    places: tuple[RelayPlace, ...]
    """Best known ones, all tried by the agent; empty where there is none."""
    hint: str = ""
    """Why a node may not get through, and what to do then."""
    ports: tuple[int, ...] = ()
    """Ports of the site that lead here, to be asked for again after a cut: agents know them."""


async def plain_way(relay: RelayPlace, towards: str) -> WayBack:
    """The way without any help: nodes at `towards` (empty: on this machine's own network) call the relay."""
    return await asyncio.to_thread(_plain_way, relay, towards)


def _plain_way(relay: RelayPlace, towards: str) -> WayBack:
    host, port = relay
    if is_wildcard(host):
        address = _address_towards(towards or _ELSEWHERE)
        return WayBack(((address, port),), f"They are told to call {address}, port {port}. {REMEDY}")
    if not is_loopback(host):
        return WayBack((relay,), f"They are told to call {host}, port {port}. {REMEDY}")
    hint = f"The broker's relay listens on the broker's machine alone. {REMEDY}"
    return WayBack((relay,) if not towards or _is_here(towards) else (), hint)


def is_wildcard(host: str) -> bool:
    """True for an address to listen on that stands for all."""
    return host in WILDCARDS


def is_loopback(host: str) -> bool:
    """True for an address that only this machine reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_here(host: str) -> bool:
    """True for a name or address of this machine."""
    try:
        found = socket.getaddrinfo(host, 0, type=socket.SOCK_DGRAM)
    except OSError:
        return False
    return all(_can_bind(family, address) for family, _, _, _, address in found)


def _can_bind(family: int, address: tuple[object, ...]) -> bool:
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind(address)
        except OSError:
            return False
    return True


def _address_towards(host: str) -> str:
    """The address of this machine that others see when it talks to `host`; its loopback where it has none."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, 9, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect(address)  # sends nothing
            return str(probe.getsockname()[0])
    except OSError:
        return "127.0.0.1"
