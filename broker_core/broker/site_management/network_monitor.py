"""Hears from the kernel when the network of this machine is another one: a cable, a radio, a tunnel."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable

log = logging.getLogger("crossdesk.sites")
PAUSE = 1.0
"""Seconds that news are gathered: a network that comes up is told in many pieces."""
_LINK, _ADDRESS_4, _ROUTE_4, _ADDRESS_6, _ROUTE_6 = 0x1, 0x10, 0x40, 0x100, 0x400
_GROUPS = _LINK | _ADDRESS_4 | _ROUTE_4 | _ADDRESS_6 | _ROUTE_6
_PART = 65536


class NetworkMonitor:
    """Calls back a moment after addresses or routes changed; where the kernel cannot be asked, never."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._socket: socket.socket | None = None
        self._timer: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """Begin to listen."""
        try:
            heard = socket.socket(
                socket.AF_NETLINK,
                socket.SOCK_RAW | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC,
                socket.NETLINK_ROUTE,
            )
        except (AttributeError, OSError) as error:
            log.info("Changes of the network are not told here: %s", error)
            return
        try:
            heard.bind((0, _GROUPS))
        except OSError as error:
            heard.close()
            log.info("Changes of the network are not told here: %s", error)
            return
        self._socket = heard
        asyncio.get_running_loop().add_reader(heard, self._read)

    def close(self) -> None:
        """Listen no more."""
        if self._timer is not None:
            self._timer.cancel()
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket)
            self._socket.close()
            self._socket = None

    def _read(self) -> None:
        assert self._socket is not None
        # More than the kernel kept for us is told as an error; that there were news is all that counts.
        with contextlib.suppress(OSError):
            self._socket.recv(_PART)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PAUSE, self._tell)

    def _tell(self) -> None:
        self._timer = None
        self._changed()
