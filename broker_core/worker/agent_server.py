"""The SSH end of the agent: who is let in, and what a desk may open beside the program (CB-I2G-03)."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import asyncssh

from broker_core.interactive.channel.frames import (
    DESK_USER,
    DESKS_PATH,
    DIRECT_PATH,
    DISPLAY_PATH,
    PARAMETERS_PATH,
    SCREEN_PATH,
    SERVICES_PATH,
    STREAM_PATH,
    TUNNEL_PATH,
    BadFrame,
    FrameReader,
    read_word,
    word,
)
from broker_core.worker.agent_command import PLAIN_SHELL, login_shell, run_command
from broker_core.worker.agent_dial import DirectCall
from broker_core.worker.agent_display import Display
from broker_core.worker.agent_session import AgentSession
from broker_core.worker.agent_viewer import Viewer
from broker_core.worker.agent_windows import Windows
from broker_core.worker.sub_channels.boxed_files import FilesInBox
from broker_core.worker.sub_channels.parameters import JobParameters, ParameterChannel
from broker_core.worker.sub_channels.screen.stream import ScreenChannel, ScreenStream
from broker_core.worker.sub_channels.services import JobServices, ServiceChannel
from broker_core.worker.sub_channels.tunnels import AgentTunnels, TunnelPass

log = logging.getLogger("crossdesk.agent")
WINDOW = 1 << 20
PACKET = 64 * 1024 + 256
LOGIN_TIME = 30
CIPHERS = ("aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com")
NOWHERE = "/dev/null/nothing"
"""A directory that cannot be."""
_LOOPBACK = ("", "localhost", "127.0.0.1", "::1")


class DeskList(asyncssh.SSHUNIXSession[bytes]):
    """One message with the keys of all desks; answered when it is in force."""

    def __init__(self, admit: Callable[[list[str]], None]) -> None:
        self._admit = admit
        self._reader = FrameReader()

    def connection_made(self, channel: asyncssh.SSHUNIXChannel[bytes]) -> None:
        """Wait for the message."""
        self._channel = channel

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """Take the list over; one that is not understood changes nothing."""
        try:
            for _, content in self._reader.feed(data):
                keys = [str(key) for key in read_word(content)["keys"]]
                self._admit(keys)
                self._answer(word("desks", known=len(keys)))
        except (BadFrame, KeyError, TypeError, ValueError) as error:
            log.warning("The list of desks is not understood: %s", error)
            self._answer(word("desks", reason=str(error)))

    def eof_received(self) -> bool:
        """The answer may still come."""
        return True

    def _answer(self, said: bytes) -> None:
        self._channel.write(said)
        self._channel.write_eof()


class WholeFiles(asyncssh.SFTPServer):
    """Files for a client of the user's own, which wants to hear that its server ended well."""

    def exit(self) -> None:
        """The client has what it wanted."""
        if self.channel.get_subsystem() == "sftp":
            self.channel.exit(0)


class DeskServer:
    """Serves desks on connections that the agent made."""

    def __init__(
        self,
        session: AgentSession,
        directory: Path,
        private: Path,
        environment: Mapping[str, str],
        screen: ScreenStream,
        box: tuple[str, ...] = (),
    ) -> None:
        """`directory`: the job's; `private`: a directory of the agent alone, removed at its end; `box`: what
        comes before the words of a command in the job's box."""
        self._box = box
        self.session = session
        self.directory = directory
        self._cookies = str(private / "Xauthority")
        """Secrets of forwarded displays; the file of the account is not touched."""
        self.environment = environment
        self.key = asyncssh.generate_private_key("ssh-ed25519")
        self.desks = {_public(text) for text in session.settings.keys}
        """Public keys that are let in."""
        introducer = session.settings.introducer
        self.introducer = _public(introducer) if introducer else b""
        """The key of the broker."""
        self.windows: Windows | None = None
        self.screen = screen
        self.services = JobServices(directory)
        self.parameters = JobParameters(directory)
        self._doors: dict[asyncssh.SSHServerConnection, Door] = {}
        """Those who are let in, by their connections."""
        self.tunnels = AgentTunnels(self.serve, self.key.export_public_key().decode().strip())

    async def serve(self, connection: socket.socket, tunnel: TunnelPass | None = None) -> None:
        """Speak SSH on a connection until it ends; who is not let in is gone at once.

        `tunnel`: it comes out of one, whose owner uses a client of his own and may be away for long.
        """
        keepalive = self.session.settings.keepalive if tunnel is None else 0
        try:
            served = await asyncssh.run_server(
                connection,
                config=None,
                server_factory=lambda: Door(self, tunnel),
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
        await served.wait_closed()

    async def show(self, display: Display) -> None:
        """Carry windows of the program to desks from now on."""
        session = self.session
        session.display = display.name
        self.windows = Windows(display, session.settings.display_wait, self._shows, session.windows_wait)
        await self.windows.start()

    def admit(self, keys: list[str]) -> None:
        """Let these desks in, and no others: who is here and not among them is cut off at once."""
        self.desks = {_public(text) for text in keys}
        for connection, door in list(self._doors.items()):
            if not door.welcome:
                log.warning("A desk is not let in any more")
                connection.abort()

    def entered(self, connection: asyncssh.SSHServerConnection, door: Door) -> None:
        """Somebody was let in; an older connection of the same session is dead, and would hold its ports."""
        for older, other in list(self._doors.items()):
            if door.session and other.session == door.session:
                older.abort()
        self._doors[connection] = door

    def left(self, connection: asyncssh.SSHServerConnection) -> None:
        """A connection is no more."""
        self._doors.pop(connection, None)

    def close(self) -> None:
        """End all connections; what is on its way still arrives."""
        if self.windows is not None:
            self.windows.close()
        self.screen.close()
        self.tunnels.close()
        for connection in list(self._doors):
            connection.close()

    async def closed(self) -> None:
        """Return when they are ended."""
        await asyncio.gather(*(one.wait_closed() for one in list(self._doors)))

    def files(self, channel: asyncssh.SSHServerChannel[bytes]) -> asyncssh.SFTPServer:
        """SFTP into the job's directory; for the broker, which wants none, into nothing.

        A client of the user's own is shown all files, as his account sees them, from that directory on.
        """
        connection = channel.get_connection()
        inside = self._allows(connection)
        if inside and self._box:
            return FilesInBox(channel, self.directory)
        if inside and self._tunneled(connection):
            return WholeFiles(channel)
        return asyncssh.SFTPServer(channel, chroot=os.fsencode(self.directory if inside else NOWHERE))

    async def command(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        """Run a command, or a shell, in the job's directory beside the program."""
        connection = process.channel.get_connection()
        if not self._allows(connection) or process.subsystem:
            process.exit(1)
            return
        shown: dict[str, str] = {}
        if display := process.channel.get_x11_display():
            shown = {"DISPLAY": display, "XAUTHORITY": self._cookies}
        if agent := process.channel.get_agent_path():
            shown["SSH_AUTH_SOCK"] = agent
        shell = login_shell() if self._tunneled(connection) else PLAIN_SHELL
        await run_command(process, self.directory, {**self.environment, **shown}, shell, self._box)

    def _allows(self, connection: Any) -> bool:
        """Whether who is at the other end may have more than the program."""
        door = connection.get_owner()
        return isinstance(door, Door) and door.allowed

    def _tunneled(self, connection: Any) -> bool:
        """Whether it is a client of the user's own, which expects what sshd gives."""
        door = connection.get_owner()
        return isinstance(door, Door) and door.tunnel is not None

    def _shows(self, offers: list[asyncssh.SSHServerConnection]) -> asyncssh.SSHServerConnection:
        """Who shows a new window: the desk that writes, else the one that came last."""
        writer = self.session.writer
        if isinstance(writer, Viewer) and writer.connection in offers:
            return writer.connection
        return offers[-1]


class Door(asyncssh.SSHServer):
    """Lets registered desks in, by their keys alone; and the broker, to tell which those are."""

    def __init__(self, server: DeskServer, tunnel: TunnelPass | None) -> None:
        self._server, self.tunnel = server, tunnel
        self._key = b""
        self.session = ""
        """Name of the desk's session; empty where it is none."""

    @property
    def welcome(self) -> bool:
        """Whether the one behind it is known now."""
        return self._key in self._server.desks or self._introduces

    @property
    def allowed(self) -> bool:
        """Files, commands and forwards: for desks, where the agent gives them."""
        return self._server.session.settings.forwards and self._key in self._server.desks

    @property
    def _introduces(self) -> bool:
        return bool(self._key) and self._key == self._server.introducer

    def connection_made(self, connection: asyncssh.SSHServerConnection) -> None:
        """Keep it for the channels."""
        self._connection = connection

    def connection_lost(self, error: Exception | None) -> None:
        """Whoever it was is gone."""
        self._server.left(self._connection)

    def auth_completed(self) -> None:
        """Somebody proved who it is; a desk may have been forgotten meanwhile."""
        if self.welcome:
            self._server.entered(self._connection, self)
        else:
            self._connection.abort()

    def begin_auth(self, username: str) -> bool:
        """Nobody comes in without a key."""
        return True

    def public_key_auth_supported(self) -> bool:
        """Keys are the only way."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """True for a desk that the broker introduced, and for the broker."""
        if self.tunnel is not None:
            self._key = self.tunnel.desk if key.public_data == self.tunnel.key else b""
            return self.welcome
        self._key = key.public_data
        self.session = username.partition(f"{DESK_USER}-")[2]
        return self.welcome

    def unix_connection_requested(self, dest_path: str) -> Any:
        """The program's streams, a call without a relay, or a UNIX socket on the node."""
        if self._introduces:
            return DeskList(self._server.admit) if dest_path == DESKS_PATH else False
        if dest_path == DIRECT_PATH:
            return DirectCall(self._server.serve)
        if dest_path == TUNNEL_PATH and self.tunnel is None:
            return self.allowed and self._tunnel()
        if dest_path == SERVICES_PATH:
            return self.allowed and self._beside(ServiceChannel(self._server.services))
        if dest_path == PARAMETERS_PATH:
            return self.allowed and self._beside(ParameterChannel(self._server.parameters))
        if dest_path == SCREEN_PATH:
            return self.allowed and self._wide(ScreenChannel(self._server.screen))
        if dest_path != STREAM_PATH:
            return self.allowed
        return self._wide(Viewer(self._server.session))

    def _wide(self, session: asyncssh.SSHUNIXSession[bytes]) -> Any:
        channel = self._connection.create_unix_channel(encoding=None, window=WINDOW, max_pktsize=PACKET)
        return channel, session

    def _beside(self, session: asyncssh.SSHUNIXSession[bytes]) -> Any:
        return self._connection.create_unix_channel(encoding=None), session

    def _tunnel(self) -> Any:
        channel = self._connection.create_unix_channel(encoding=None)
        return channel, self._server.tunnels.channel(self._key)

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        """A port that the node can reach."""
        return self.allowed

    def server_requested(self, listen_host: str, listen_port: int) -> bool:
        """A port for the job's own processes that leads to the desk: on the loopback interface only."""
        return self.allowed and listen_host in _LOOPBACK

    def unix_server_requested(self, listen_path: str) -> Any:
        """Windows of the program, or a UNIX socket in the job's directory, that lead to the desk."""
        if listen_path == DISPLAY_PATH:
            windows = self._server.windows
            return windows.offer(self._connection) if self.allowed and windows is not None else False
        path = Path(self._server.directory, listen_path)
        inside = path.parent.resolve().is_relative_to(self._server.directory.resolve())
        if not self.allowed or not inside or path.exists():
            return False
        return self._socket(listen_path, path)

    async def _socket(self, asked: str, path: Path) -> SocketListener:
        """Listen at a path as it was asked for: in full it may be longer than a socket's may be."""
        return SocketListener(await self._connection.forward_local_path(asked, asked), path)

    def tun_requested(self, unit: int | None) -> bool:
        """A private network, where the node's kernel lets us have one."""
        return self.allowed and os.access("/dev/net/tun", os.W_OK)


class SocketListener(asyncssh.SSHListener):
    """A UNIX socket that leads to a desk; its file goes with it, or with the desk's connection."""

    def __init__(self, inner: asyncssh.SSHListener, path: Path) -> None:
        super().__init__()
        self._inner, self._path = inner, path

    def close(self) -> None:
        """Listen no longer."""
        self._inner.close()
        self._path.unlink(missing_ok=True)

    async def wait_closed(self) -> None:
        """Return when it is closed."""
        await self._inner.wait_closed()


def _public(text: str) -> bytes:
    return asyncssh.import_public_key(text).public_data
