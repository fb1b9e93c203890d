"""The UNIX socket of a broker: made 0600, and every connection is asked who it is."""

from __future__ import annotations

import asyncio
import pwd
import socket
import struct
from functools import lru_cache
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from broker_core.errors import CrossDeskError

_CREDENTIALS = struct.Struct("3i")


def peer_uid(connection: socket.socket) -> int:
    """User id of the process at the other end of a UNIX socket, as the kernel says."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, uid, _ = _CREDENTIALS.unpack(raw)
    return int(uid)


@lru_cache(maxsize=64)
def user_name(uid: int) -> str:
    """Login name of a user id; the number itself where it has no name."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


class PeerProtocol(HttpToolsProtocol):
    """HTTP over a UNIX socket; the peer's user id is put into the request's state as `uid`."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Ask the kernel who is at the other end, once for each connection."""
        super().connection_made(transport)
        self.app_state = {**self.app_state, "uid": peer_uid(transport.get_extra_info("socket"))}


class ApiListener:
    """Serves an ASGI application on a UNIX socket until closed."""

    def __init__(self, application: Any, path: Path) -> None:
        self.path = path
        self._config = uvicorn.Config(
            application,
            http=PeerProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=3600,
        )
        self._state = ServerState()
        self._server: asyncio.AbstractServer | None = None

    async def open(self) -> None:
        """Begin to accept connections. An old socket of this name is replaced: the caller holds the lock."""
        self._config.load()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(
            self._protocol, sock=bound_socket(self.path), backlog=1024
        )

    def stop_accepting(self) -> None:
        """Take no new connection; those that are open go on."""
        if self._server is not None:
            self._server.close()
        self.path.unlink(missing_ok=True)

    async def close(self, patience: float) -> None:
        """Stop accepting, let open requests finish for at most `patience` seconds, then cut them off."""
        self.stop_accepting()
        for connection in list(self._state.connections):
            connection.shutdown()
        if self._state.tasks:
            await asyncio.wait(self._state.tasks, timeout=patience)
        left = [task for task in self._state.tasks if not task.done()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _protocol(self) -> asyncio.Protocol:
        return PeerProtocol(config=self._config, server_state=self._state, app_state={})


def bound_socket(path: Path) -> socket.socket:
    """A listening-ready UNIX socket at `path`, only for its owner; its folder is made 0700.

    Raises CrossDeskError with place and remedy where that cannot be done.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.parent.chmod(0o700)
        path.unlink(missing_ok=True)
        listening.bind(str(path))
        path.chmod(0o600)
    except OSError as error:
        listening.close()
        raise CrossDeskError(
            f"The broker's socket cannot be made: {error.strerror}.",
            place=str(path),
            code="no_socket",
            remedy="Make the folder writable for you, or choose another state directory.",
        ) from error
    listening.setblocking(False)
    return listening
