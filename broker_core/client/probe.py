"""A short look at who answers on a broker's socket, without an event loop."""

from __future__ import annotations

import http.client
import socket
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

SECONDS = 5.0
"""Longest wait for an answer."""


class _SocketConnection(http.client.HTTPConnection):
    """HTTP over a UNIX socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("broker", timeout=SECONDS)
        self._path = path

    def connect(self) -> None:
        """Connect to the path instead of a host."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def ask(path: Path, method: str, target: str) -> tuple[int, bytes] | None:
    """Status and body of one request, or None if nobody answers."""
    try:
        with closing(_SocketConnection(path)) as connection:
            connection.request(method, target, headers={"connection": "close"})
            # The answer holds the socket too, also where it breaks off.
            with connection.getresponse() as answer:
                return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return None


def listens(path: Path) -> bool:
    """True if something accepts connections on the socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(SECONDS)
        try:
            link.connect(str(path))
        except BlockingIOError:
            return True  # so many wait to be accepted that no more can
        except OSError:
            return False
        return True


def info(path: Path) -> dict[str, Any] | None:
    """What the broker says about itself (fields of BrokerInfo), or None if no broker answers."""
    got = ask(path, "GET", "/v1/broker")
    if got is None or got[0] != 200:
        return None
    try:
        said = orjson.loads(got[1])
    except orjson.JSONDecodeError:
        return None
    return said if isinstance(said, dict) and "version" in said else None
