"""The virtual screen of a job's program at this desk, over as many connections as it takes."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

import asyncssh

from broker_core.interactive.channel.frames import (
    HEARD,
    OUTPUT,
    SCREEN_PATH,
    WORD,
    BadFrame,
    FrameReader,
    heard,
    read_place,
    read_word,
    word,
)
from broker_core.interactive.channel.pictures import (
    EXACT,
    LEAST_SIDE,
    MOST_SIDE,
    TILE,
    TILES,
    VP9,
    BadPicture,
    Grid,
    PictureReader,
    ScreenPicture,
)

WINDOW = 1 << 20
PACKET = 64 * 1024 + 256
OLD_AGENT = "The agent at the node shows no displays: it is of an earlier version, or carries lines alone."
OLDER = "the agent at the node is of an earlier version"
_LONGEST = 500


class ScreenViewer(Protocol):
    """Who shows a screen."""

    shows_video: bool
    """Whether frames of VP9 may come."""

    def begin(self, grid: Grid, without_video: str) -> None:
        """A screen of this size is seen from now on; its first picture is the whole of it.

        `without_video`: why there is none, if there is a reason: words of others, perhaps.
        """
        ...

    def show(self, picture: ScreenPicture) -> None:
        """Something changed; `RemoteScreen.shown` is to be called when it is seen. May raise BadPicture."""
        ...

    def control(self, *, mine: bool, taken: bool, viewers: int) -> None:
        """Whether input of this desk, or of any, goes to the program, and how many desks see the screen."""
        ...

    def refuse(self, reason: str) -> None:
        """There is nothing to see on this connection, and why: words of others, perhaps."""
        ...


class RemoteScreen:
    """Follows the screen as soon as somebody wants to see it."""

    def __init__(self) -> None:
        self._viewer: ScreenViewer | None = None
        self._connection: asyncssh.SSHClientConnection | None = None
        self._channel: ScreenReceiver | None = None
        self._opening: asyncio.Task[None] | None = None

    def follow(self, viewer: ScreenViewer) -> None:
        """Show the screen to this viewer from now on."""
        self._viewer = viewer
        if self._connection is not None:
            self.connected(self._connection)

    def leave(self, viewer: ScreenViewer) -> None:
        """Show it to this viewer no longer."""
        if viewer is not self._viewer:
            return
        self._viewer = None
        if self._opening is not None:
            self._opening.cancel()
        if self._channel is not None:
            self._channel.leave()
            self._channel = None

    def connected(self, connection: asyncssh.SSHClientConnection) -> None:
        """A new connection is there: go on over it, without waiting."""
        self._connection = connection
        if self._viewer is None:
            return
        if self._opening is not None:
            self._opening.cancel()
        self._opening = asyncio.ensure_future(self._open(connection, self._viewer))

    def shown(self, number: int) -> None:
        """All pictures up to this one are seen: others may come."""
        if self._channel is not None:
            self._channel.shown(number)

    def take_input(self) -> None:
        """Mouse and keyboard of this desk go to the program from now on."""
        self._say("take")

    def release_input(self) -> None:
        """They do no more; whatever is down goes up."""
        self._say("release")

    def move(self, x: int, y: int) -> None:
        """The pointer is at this pixel."""
        self._say("pointer", x=x, y=y)

    def button(self, number: int, *, down: bool) -> None:
        """A button of the mouse, as X11 counts them, is pressed or released."""
        self._say("button", number=number, down=down)

    def key(self, symbol: int, *, down: bool) -> None:
        """A key, by its symbol in X11, is pressed or released."""
        self._say("key", symbol=symbol, down=down)

    async def close(self) -> None:
        """Show nothing more."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)

    async def _open(self, connection: asyncssh.SSHClientConnection, viewer: ScreenViewer) -> None:
        self._channel = None
        try:
            _, channel = await connection.create_unix_connection(
                lambda: ScreenReceiver(viewer),
                SCREEN_PATH,
                encoding=None,
                window=WINDOW,
                max_pktsize=PACKET,
            )
        except (OSError, asyncssh.Error):
            if not connection.is_closed():
                viewer.refuse(OLD_AGENT)
            return
        assert isinstance(channel, ScreenReceiver)
        self._channel = channel
        channel.say("show", codecs=_codecs(viewer))

    def _say(self, what: str, **values: Any) -> None:
        if self._channel is not None:
            self._channel.say(what, **values)


class ScreenReceiver(asyncssh.SSHUNIXSession[bytes]):
    """The pictures on one connection; what is none ends it."""

    def __init__(self, viewer: ScreenViewer) -> None:
        self._viewer = viewer
        self._reader = FrameReader()
        self._pictures: PictureReader | None = None

    def connection_made(self, channel: asyncssh.SSHUNIXChannel[bytes]) -> None:
        """Keep the channel."""
        self._channel = channel

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """Pictures and messages of the agent."""
        try:
            for kind, content in self._reader.feed(data):
                if kind == OUTPUT:
                    self._take_part(*read_place(content))
                elif kind == WORD:
                    self._take(read_word(content))
                elif kind == HEARD:
                    raise BadPicture("pictures are confirmed here, not at the node")
        except (BadFrame, ValueError, KeyError, TypeError, OverflowError) as error:
            why = str(error) if isinstance(error, BadFrame | BadPicture) else "a message is not understood"
            self._viewer.refuse(f"What arrives from the node is not shown: {why}.")
            self._channel.abort()

    def shown(self, number: int) -> None:
        """All pictures up to this one are seen."""
        if self._pictures is not None and not self._channel.is_closing():
            self._pictures.shown(number)
            self._channel.write(heard(TILES, number))

    def say(self, what: str, **values: Any) -> None:
        """Send a message."""
        if not self._channel.is_closing():
            self._channel.write(word(what, **values))

    def leave(self) -> None:
        """See nothing more: the node sends no pictures for it."""
        self._channel.close()

    def _take_part(self, codec: int, number: int, data: bytes) -> None:
        if self._pictures is None:
            raise BadPicture("its screen has no size")
        picture = self._pictures.add(codec, number, data)
        if picture is not None:
            self._viewer.show(picture)

    def _take(self, message: dict[str, Any]) -> None:
        what = message["what"]
        if what == "screen":
            self._begin(message)
        elif what == "control":
            mine, taken = bool(message["mine"]), bool(message["taken"])
            self._viewer.control(mine=mine, taken=taken, viewers=int(message["viewers"]))
        elif what == "refused":
            self._viewer.refuse(str(message["reason"])[:_LONGEST])

    def _begin(self, message: dict[str, Any]) -> None:
        if self._pictures is not None:
            raise BadPicture("its screen has two sizes")
        grid = Grid(int(message["width"]), int(message["height"]))
        if not all(LEAST_SIDE <= side <= MOST_SIDE for side in (grid.width, grid.height)):
            raise BadPicture("its screen has an impossible size")
        codec = message["codec"]
        if codec not in _codecs(self._viewer) or message["tile"] != TILE:
            raise BadPicture("its codec is unknown")
        self._pictures = PictureReader(grid, video=codec == VP9)
        self._viewer.begin(grid, str(message.get("without_video", OLDER))[:_LONGEST])


def _codecs(viewer: ScreenViewer) -> list[str]:
    return [VP9, EXACT] if viewer.shows_video else [EXACT]
