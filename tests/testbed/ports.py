"""Ports for servers of tests that have to be told where to listen."""

from __future__ import annotations

import secrets
import socket
from pathlib import Path

_FIRST = 10_240
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_port() -> int:
    """A port on which nothing listens now, at any address of this machine.

    It is below those that the kernel gives to connections and to whoever leaves the choice to it: nobody
    gets it by chance before the server does, or while the server is stopped for a while.
    """
    beyond = max(int(_RANGE.read_text().split()[0]), 2 * _FIRST)
    while True:
        port = _FIRST + secrets.randbelow(beyond - _FIRST)
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
        return port
