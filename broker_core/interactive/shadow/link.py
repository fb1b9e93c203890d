"""One connection from a desk to an agent: met, proven by keys, with the streams of the program on it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any

import asyncssh

from broker_core.errors import VersionsDiffer
from broker_core.interactive.channel.contact import Contact
from broker_core.interactive.channel.frames import (
    DESK_USER,
    PART,
    STREAM_PATH,
    BadFrame,
    FrameReader,
    heard,
    keys,
    word,
)
from broker_core.interactive.channel.liveness import Liveness
from broker_core.interactive.channel.rendezvous import NoRendezvous
from broker_core.interactive.channel.stream_link import StreamLink, StreamListener, deliver

WINDOW = 1 << 20
"""Bytes on their way at most: an echo comes after them, and over a long way no more fit into a round trip."""
PACKET = 64 * 1024 + 256
LOGIN_TIME = 20.0
FAREWELL = 2.0
"""Seconds that the last bytes get on their way to the agent."""
ACK_BYTES, ACK_TIME = 256 * 1024, 0.1
"""Output is confirmed after so many bytes, or seconds."""
CIPHERS = ("aes128-gcm@openssh.com", "chacha20-poly1305@openssh.com")


class ShadowLink(asyncssh.SSHUNIXSession[bytes]):
    """The streams on an open connection."""

    def __init__(
        self, connection: asyncssh.SSHClientConnection, listener: StreamListener, answer_time: float
    ) -> None:
        self.connection = connection
        self._listener = listener
        self._silence = Liveness(self._ask, listener.silent, answer_time)
        self._reader = FrameReader()
        self.lost: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        """As in `StreamLink`."""
        self._due: dict[int, int] = {}
        self._fetched = asyncio.Event()
        """The agent knows that we have everything, or is not to be told of it."""
        self._fetched.set()
        self._unconfirmed = 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, channel: asyncssh.SSHUNIXChannel[bytes]) -> None:
        """Keep the channel."""
        self._channel = channel

    def connection_lost(self, error: Exception | None) -> None:
        """The connection broke, or the agent closed it."""
        self._silence.stop()
        self._fetched.set()
        if self._timer is not None:
            self._timer.cancel()
        if not self.lost.done():
            self.lost.set_result(str(error) if error else "the agent closed the connection")

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """Frames of the agent."""
        self._silence.heard()
        try:
            for kind, content in self._reader.feed(data):
                deliver(kind, content, self._listener, self._word)
        except VersionsDiffer as error:
            if not self.lost.done():
                self.lost.set_exception(error)
            self.connection.abort()
        except (BadFrame, ValueError) as error:
            self.break_off(f"the agent is not understood: {error}")

    def eof_received(self) -> bool:
        """The agent leaves."""
        return False

    def say(self, what: str, **values: Any) -> None:
        """Send a message."""
        if not self._channel.is_closing():
            self._channel.write(word(what, **values))
            if what == "done":
                self._fetched.clear()

    async def wait_fetched(self) -> None:
        """Wait until the agent has heard that we have everything, but not for long.

        What is under way to somebody who is writing himself is lost where we leave: the job would then wait
        for a desk that has all of it.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FAREWELL):
                await self._fetched.wait()

    def _word(self, message: dict[str, Any]) -> None:
        if message["what"] == "fetched":
            self._fetched.set()
        else:
            self._listener.word(message)

    def type(self, offset: int, data: bytes) -> None:
        """Send input, in frames of the size that the agent takes."""
        if not self._channel.is_closing():
            for start in range(0, len(data), PART):
                self._channel.write(keys(offset + start, data[start : start + PART]))
            self._silence.asked()

    def _ask(self) -> None:
        """Input of no bytes changes nothing, and is confirmed as any other."""
        if not self._channel.is_closing():
            self._channel.write(keys(0, b""))

    def arrived(self, stream: int, offset: int, size: int) -> None:
        """Confirm output soon."""
        self._due[stream] = offset
        self._unconfirmed += size
        if self._unconfirmed >= ACK_BYTES:
            self.confirm()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(ACK_TIME, self.confirm)

    def confirm(self) -> None:
        """Confirm all output that arrived."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._unconfirmed = 0
        if not self._channel.is_closing():
            for stream, offset in self._due.items():
                self._channel.write(heard(stream, offset))
        self._due.clear()

    def listen(self, wanted: bool) -> None:
        """Take output, or let the agent wait."""
        if wanted:
            self._silence.heard()
            self._channel.resume_reading()
        else:
            self._silence.stop()
            self._channel.pause_reading()

    def break_off(self, reason: str) -> None:
        """Cut the connection for a reason."""
        if not self.lost.done():
            self.lost.set_result(reason)
        self.connection.abort()


async def speak(
    connection: socket.socket, contact: Contact, key: asyncssh.SSHKey, keepalive: float, session: str = ""
) -> asyncssh.SSHClientConnection:
    """Speak SSH with the agent whose key the broker named; raises NoRendezvous, the socket is closed then.

    `session`: its name; the agent ends older connections of it.
    """
    try:
        trusted = asyncssh.import_public_key(contact.host_key)
        async with asyncio.timeout(LOGIN_TIME):
            return await asyncssh.run_client(
                connection,
                config=None,
                known_hosts=([trusted], [], []),
                client_keys=[key],
                agent_path=None,
                username=f"{DESK_USER}-{session}" if session else DESK_USER,
                preferred_auth="publickey",
                encryption_algs=CIPHERS,
                compression_algs=None,
                keepalive_interval=keepalive,
                keepalive_count_max=3,
                rekey_bytes=1 << 34,
            )
    except Exception as error:
        connection.close()
        raise _not_met(error) from error
    except BaseException:
        connection.close()
        raise


async def open_link(
    speaking: asyncssh.SSHClientConnection, listener: StreamListener, answer_time: float
) -> ShadowLink:
    """The streams of the program on a connection; raises NoRendezvous, the connection is ended then."""
    try:
        _, link = await speaking.create_unix_connection(
            lambda: ShadowLink(speaking, listener, answer_time),
            STREAM_PATH,
            encoding=None,
            window=WINDOW,
            max_pktsize=PACKET,
        )
    except Exception as error:
        speaking.abort()
        raise _not_met(error) from error
    assert isinstance(link, ShadowLink)
    return link


async def farewell(speaking: asyncssh.SSHClientConnection, link: StreamLink | None) -> None:
    """End a connection with the link over it; an agent that takes nothing more is not waited for."""
    if isinstance(link, ShadowLink):
        await link.wait_fetched()
    speaking.close()
    closed = asyncio.ensure_future(speaking.wait_closed())
    await asyncio.wait([closed], timeout=FAREWELL)
    speaking.abort()
    await closed


def _not_met(error: Exception) -> NoRendezvous:
    """In words; what is no failure of the network or of the other side is raised as it is.

    What somebody changed on the way can show as any of these, ValueError from undecodable packets too.
    """
    if isinstance(error, asyncssh.HostKeyNotVerifiable):
        return NoRendezvous("somebody answers who is not the job's agent")
    if isinstance(error, asyncssh.PermissionDenied):
        return NoRendezvous("the agent does not know this desk's key")
    if isinstance(error, OSError | TimeoutError | asyncssh.Error | ValueError):
        return NoRendezvous(f"no connection to the agent: {error or type(error).__name__}")
    raise error
