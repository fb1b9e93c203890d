"""The SSH end of the agent: who is let in, and what a desk may open beside the program (CB-I2G-03)."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import asyncssh

from broker_core.interactive.frames import DIRECT_PATH, STREAM_PATH
from broker_core.worker.agent_command import run_command
from broker_core.worker.agent_direct import DirectCall
from broker_core.worker.agent_session import AgentSession
from broker_core.worker.agent_viewer import Viewer

log = logging.getLogger("crossdesk.agent")
WINDOW = 1 << 20
PACKET = 64 * 1024 + 256
LOGIN_TIME = 30
CIPHERS = ("aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com")
_LOOPBACK = ("", "localhost", "127.0.0.1", "::1")


class DeskServer:
    """Serves desks on connections that the agent made."""

    def __init__(
        self, session: AgentSession, directory: Path, private: Path, environment: Mapping[str, str]
    ) -> None:
        """`directory`: the job's; `private`: a directory of the agent alone, removed at its end."""
        self.session = session
        self.directory = directory
        self._cookies = str(private / "Xauthority")
        """Secrets of forwarded displays; the file of the account is not touched."""
        self.environment = environment
        self.key = asyncssh.generate_private_key("ssh-ed25519")
        self.desks = {_public(text) for text in session.settings.keys}
        """Public keys that are let in."""
        self._connections: set[asyncssh.SSHServerConnection] = set()

    async def serve(self, connection: socket.socket) -> None:
        """Speak SSH on a connection until it ends; who is not let in is gone at once."""
        keepalive = self.session.settings.keepalive
        try:
            served = await asyncssh.run_server(
                connection,
                config=None,
                server_factory=lambda: Door(self),
                server_host_keys=[self.key],
                process_factory=self.command,
                sftp_factory=self.files if self.session.settings.forwards else None,
                encoding=None,
                line_editor=False,
                allow_scp=True,
                x11_forwarding=self.session.settings.forwards,
                x11_auth_path=self._cookies,
                encryption_algs=CIPHERS,
                compression_algs=None,
                keepalive_interval=keepalive,
                keepalive_count_max=3,
                login_timeout=LOGIN_TIME,
                rekey_bytes=1 << 34,
            )
        except (OSError, TimeoutError, asyncssh.Error, ValueError) as error:
            # What somebody changed on the way shows as any of these, ValueError from undecodable packets too.
            log.info("Somebody was not let in: %s", error or type(error).__name__)
            connection.close()
            return
        self._connections.add(served)
        try:
            await served.wait_closed()
        finally:
            self._connections.discard(served)

    def close(self) -> None:
        """End all connections; what is on its way still arrives."""
        for connection in self._connections:
            connection.close()

    async def closed(self) -> None:
        """Return when they are ended."""
        await asyncio.gather(*(one.wait_closed() for one in list(self._connections)))

    def files(self, channel: asyncssh.SSHServerChannel[bytes]) -> asyncssh.SFTPServer:
        """SFTP into the job's directory."""
        return asyncssh.SFTPServer(channel, chroot=os.fsencode(self.directory))

    async def command(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        """Run a command, or a shell, in the job's directory beside the program."""
        if not self.session.settings.forwards or process.subsystem:
            process.exit(1)
            return
        shown: dict[str, str] = {}
        if display := process.channel.get_x11_display():
            shown = {"DISPLAY": display, "XAUTHORITY": self._cookies}
        await run_command(process, self.directory, {**self.environment, **shown})


class Door(asyncssh.SSHServer):
    """Lets registered desks in, by their keys alone."""

    def __init__(self, server: DeskServer) -> None:
        self._server = server
        self._allowed = server.session.settings.forwards

    def connection_made(self, connection: asyncssh.SSHServerConnection) -> None:
        """Keep it for the channels."""
        self._connection = connection

    def begin_auth(self, username: str) -> bool:
        """Nobody comes in without a key."""
        return True

    def public_key_auth_supported(self) -> bool:
        """Keys are the only way."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """True for a desk that the broker introduced."""
        return key.public_data in self._server.desks

    def unix_connection_requested(self, dest_path: str) -> Any:
        """The program's streams, a call without a relay, or a UNIX socket on the node."""
        if dest_path == DIRECT_PATH:
            return DirectCall(self._server.serve)
        if dest_path != STREAM_PATH:
            return self._allowed
        channel = self._connection.create_unix_channel(encoding=None, window=WINDOW, max_pktsize=PACKET)
        return channel, Viewer(self._server.session)

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        """A port that the node can reach."""
        return self._allowed

    def server_requested(self, listen_host: str, listen_port: int) -> bool:
        """A port for the job's own processes that leads to the desk: on the loopback interface only."""
        return self._allowed and listen_host in _LOOPBACK

    def unix_server_requested(self, listen_path: str) -> bool:
        """A UNIX socket in the job's directory that leads to the desk."""
        inside = os.path.realpath(os.path.dirname(listen_path) or ".")
        return self._allowed and (inside + "/").startswith(os.path.realpath(self._server.directory) + "/")

    def tun_requested(self, unit: int | None) -> bool:
        """A private network, where the node's kernel lets us have one."""
        return self._allowed and os.access("/dev/net/tun", os.W_OK)


def _public(text: str) -> bytes:
    return asyncssh.import_public_key(text).public_data
