"""The screen on its way to desks, captured when one is ready for a picture; and input from one desk."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from typing import Any

import asyncssh

from broker_core.interactive.channel.frames import (
    HEARD,
    WORD,
    BadFrame,
    FrameReader,
    output,
    read_place,
    read_word,
    word,
)
from broker_core.interactive.channel.pictures import EXACT, IN_FLIGHT, TILE, VP9, Grid, PackedPicture
from broker_core.worker.sub_channels.screen import video_libraries
from broker_core.worker.sub_channels.screen.capture import ScreenCapture
from broker_core.worker.sub_channels.screen.key_map import UnknownKey
from broker_core.worker.sub_channels.screen.video_libraries import NoVideo
from broker_core.worker.sub_channels.screen.viewer_pictures import RATE, ViewerPictures
from broker_core.worker.sub_channels.screen.virtual_screen import VirtualScreen

log = logging.getLogger("crossdesk.agent")
MOST_RATE = 60
"""Pictures a second that show what input does, at most."""
REACTION = 0.012
"""Seconds after which the program may have reacted to input."""
NOT_ASKED = "The program has no display: its description asks for one by InteractiveDisplay."
ENDED = "The display of the program has ended."
PROGRAM_ENDED = "The program has ended; the job does when its console has been read, or a little later."
NO_CODEC = "The node's agent and this desk have no way in common to show pictures: update the older one."


class ScreenStream:
    """One screen and the desks that see it."""

    def __init__(self, screen: VirtualScreen | None, problem: str, ended: Callable[[], bool]) -> None:
        """`problem`: why there is none, if there is a reason; `ended`: whether the program has."""
        self.screen, self.problem = screen, problem or NOT_ASKED
        self._ended = ended
        self._viewers: list[ScreenChannel] = []
        self._controller: ScreenChannel | None = None
        self._wake, self._reacted = asyncio.Event(), asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        if screen is not None:
            self._capture = ScreenCapture(screen)
            self._tasks = [asyncio.ensure_future(self._run()), asyncio.ensure_future(self._serve(screen))]

    def close(self) -> None:
        """Show nothing more."""
        for task in self._tasks:
            task.cancel()
        self._end(ENDED)

    def join(self, viewer: ScreenChannel) -> None:
        """A desk sees the screen from now on, the whole of it first."""
        if viewer in self._viewers:
            return
        viewer.begin(self._capture.grid)
        self._viewers.append(viewer)
        self._tell_control()
        self._wake.set()

    def leave(self, viewer: ScreenChannel) -> None:
        """A desk is gone."""
        if viewer in self._viewers:
            self._viewers.remove(viewer)
        self.let_go(viewer)

    def ready(self) -> None:
        """A desk has shown what it was sent."""
        self._wake.set()

    def take(self, viewer: ScreenChannel) -> None:
        """Input comes from this desk from now on."""
        self._release()
        self._controller = viewer
        self._tell_control()

    def let_go(self, viewer: ScreenChannel) -> None:
        """This desk sends no more input."""
        if self._controller is viewer:
            self._release()
            self._controller = None
            self._tell_control()

    def input(self, viewer: ScreenChannel, message: dict[str, Any]) -> None:
        """Pass input on, if it comes from the desk that has it. Raises KeyError, ValueError, TypeError."""
        if self.screen is None or viewer is not self._controller:
            return
        device, what = self.screen.input, message["what"]
        asyncio.get_running_loop().call_later(REACTION, self._reacted.set)
        if what == "pointer":
            x, y = int(message["x"]), int(message["y"])
            device.move(max(0, min(x, self.screen.width - 1)), max(0, min(y, self.screen.height - 1)))
        elif what == "button":
            device.button(int(message["number"]), down=bool(message["down"]))
        elif what == "key":
            try:
                device.key(int(message["symbol"]), down=bool(message["down"]))
            except UnknownKey as error:
                log.info("A key is not pressed: %s", error)

    def _release(self) -> None:
        if self.screen is not None:
            self.screen.input.release_all()

    def _tell_control(self) -> None:
        for viewer in self._viewers:
            taken = self._controller is not None
            viewer.say("control", mine=viewer is self._controller, taken=taken, viewers=len(self._viewers))

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._wake.wait()
            if self._ended():
                self._end(PROGRAM_ENDED)
                return
            begun = loop.time()
            ready = [viewer for viewer in self._viewers if viewer.wants_picture]
            if not ready:
                self._wake.clear()
                continue
            makers = [viewer.pictures for viewer in ready]
            pictures, work = await asyncio.to_thread(self._pictures, makers, begun)
            for viewer, picture in zip(ready, pictures, strict=True):
                if picture is not None:
                    viewer.show(picture, begun)
            # A screen that is very large leaves time for the program.
            await asyncio.sleep(max(begun + 1 / MOST_RATE - loop.time(), work / 2))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(begun + 1 / RATE):
                    await self._reacted.wait()
            self._reacted.clear()

    def _pictures(
        self, makers: list[ViewerPictures], now: float
    ) -> tuple[list[PackedPicture | None], float]:
        """What the desks miss that are ready, and the processor time that it took. Runs beside the loop."""
        begun = time.thread_time()
        self._capture.take(now)
        pictures = [one.next(self._capture, now) for one in makers]
        return pictures, time.thread_time() - begun

    async def _serve(self, screen: VirtualScreen) -> None:
        """Carry input until the X server ends."""
        await screen.input.serve()
        self._end(ENDED)

    def _end(self, reason: str) -> None:
        """No desk sees anything more."""
        if self.screen is not None:
            self.screen.input.close()
            self.screen, self.problem = None, reason
        for viewer in list(self._viewers):
            viewer.refuse(self.problem)


class ScreenChannel(asyncssh.SSHUNIXSession[bytes]):
    """One desk that sees the screen."""

    def __init__(self, stream: ScreenStream) -> None:
        self._stream = stream
        self._reader = FrameReader()
        self._without_video = ""
        self._grid = Grid(0, 0)
        self.pictures = ViewerPictures(video=False)
        self._unshown: dict[int, float] = {}
        """Number to the time of capture, of pictures that are on their way."""
        self._delay = 0.0

    @property
    def wants_picture(self) -> bool:
        """It has shown nearly all that it was sent."""
        return len(self._unshown) < IN_FLIGHT

    def connection_made(self, channel: asyncssh.SSHUNIXChannel[bytes]) -> None:
        """Wait for what it can show."""
        self._channel = channel

    def connection_lost(self, error: Exception | None) -> None:
        """The desk is gone."""
        self._stream.leave(self)

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        """Input, and word of what is shown; a desk that is not understood is listened to no longer."""
        try:
            for kind, content in self._reader.feed(data):
                if kind == HEARD:
                    self._confirmed(read_place(content)[1])
                elif kind == WORD:
                    self._take(read_word(content))
        except (BadFrame, KeyError, ValueError, TypeError, OverflowError) as error:
            log.warning("A desk that sees the screen is not understood: %s", error)
            self._channel.abort()

    def begin(self, grid: Grid) -> None:
        """Tell what will be seen; without video, why."""
        self._grid = grid
        self.pictures = ViewerPictures(video=not self._without_video)
        codec = EXACT if self._without_video else VP9
        self.say(
            "screen",
            width=grid.width,
            height=grid.height,
            tile=TILE,
            codec=codec,
            without_video=self._without_video,
        )

    def show(self, picture: PackedPicture, captured: float) -> None:
        """Send a picture."""
        if self._channel.is_closing():
            return
        self._unshown[picture.number] = captured
        for codec, part in picture.parts(self._grid, round(self._delay * 1000)):
            self._channel.write(output(codec, picture.number, part))

    def say(self, what: str, **values: Any) -> None:
        """Send a message."""
        if not self._channel.is_closing():
            self._channel.write(word(what, **values))

    def refuse(self, reason: str) -> None:
        """Say why there is nothing to see, and end."""
        self.say("refused", reason=reason)
        self._channel.close()

    def _take(self, message: dict[str, Any]) -> None:
        what = message["what"]
        if what == "show":
            self._begin(list(message["codecs"]))
        elif what == "take":
            self._stream.take(self)
        elif what == "release":
            self._stream.let_go(self)
        else:
            self._stream.input(self, message)

    def _begin(self, codecs: list[Any]) -> None:
        if self._stream.screen is None:
            self.refuse(self._stream.problem)
        elif EXACT not in codecs:
            self.refuse(NO_CODEC)
        else:
            self._without_video = _why_without_video(codecs)
            self._stream.join(self)

    def _confirmed(self, number: int) -> None:
        captured = self._unshown.get(number)
        if captured is not None:
            now = asyncio.get_running_loop().time()
            self._delay = now - captured
            self.pictures.shown(self._delay, now)
        for one in [one for one in self._unshown if one <= number]:
            del self._unshown[one]
        self._stream.ready()


def _why_without_video(codecs: list[Any]) -> str:
    """Empty: this node makes video, and the desk shows it."""
    if VP9 not in codecs:
        return "the desk shows none"
    try:
        video_libraries.load()
    except NoVideo as error:
        return f"the node makes none: {error}"
    return ""
