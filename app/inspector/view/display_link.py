"""What the View tab has of a program's display, and sends to it. Imported late; in the session's thread."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QImage

from app.inspector.view.display_pixels import DisplayPixels
from app.inspector.view.job_session import JobSession
from broker_core.client.interactive import ShadowSession
from broker_core.client.printable import printable
from broker_core.interactive.channel.pictures import Grid, ScreenPicture


@dataclass(frozen=True, slots=True)
class DisplayFrame:
    """The whole display as it is after a picture."""

    image: QImage
    number: int
    delay: int
    """Milliseconds that an earlier picture took from the node to this window and back; 0: not known."""
    size: int
    """Bytes that came over the network for it."""
    exact: bool
    """Every pixel is as it is at the node: nothing is out of video."""


class DisplayLink(QObject):
    """Follows the display; pictures are unpacked and put together in the thread of the session."""

    begun = Signal(QSize, str)
    """A display of this size will be seen; without video, if there is a reason for that."""
    pictured = Signal(object)
    """A `DisplayFrame`; `confirm` is to be called when it is painted."""
    control = Signal(bool, bool, int)
    """Input of this desk goes to the program; that of any does; desks that see the display."""
    refused = Signal(str)
    """There is nothing to see, and why."""
    waits = Signal(str)
    """Why nothing arrives now; empty: it does."""
    over = Signal(str)
    """Nothing follows, and why."""

    def __init__(self, session: JobSession) -> None:
        """`session` was joined for this."""
        super().__init__()
        self._pixels = DisplayPixels(Grid(0, 0))
        self._session = session
        self._viewer = _Viewer(self)
        session.keep(self)
        session.waits.connect(self.waits)
        session.over.connect(self.over)
        session.do(lambda session: session.forwards.screen.follow(self._viewer))

    def close(self) -> None:
        """Leave; the program goes on."""
        self._session.do(lambda session: session.forwards.screen.leave(self._viewer))
        self._session.leave()

    def confirm(self, number: int) -> None:
        """A frame is painted: others may come."""
        self._session.do(lambda session: session.forwards.screen.shown(number))

    def take_input(self, *, take: bool) -> None:
        """Have mouse and keyboard go to the program, or no longer."""

        def act(session: ShadowSession) -> None:
            screen = session.forwards.screen
            screen.take_input() if take else screen.release_input()

        self._session.do(act)

    def move(self, x: int, y: int) -> None:
        """The pointer is at this pixel."""
        self._session.do(lambda session: session.forwards.screen.move(x, y))

    def button(self, number: int, down: bool) -> None:
        """A button, as X11 counts them, is pressed or released."""
        self._session.do(lambda session: session.forwards.screen.button(number, down=down))

    def key(self, symbol: int, down: bool) -> None:
        """A key, by its symbol in X11, is pressed or released."""
        self._session.do(lambda session: session.forwards.screen.key(symbol, down=down))

    # In the thread of the session.

    def begin(self, grid: Grid, without_video: str) -> None:
        """The display has this size; its first picture is the whole of it."""
        self._pixels = DisplayPixels(grid)
        self.begun.emit(QSize(grid.width, grid.height), without_video)

    def put_together(self, picture: ScreenPicture) -> None:
        """Paint a picture over what there is; raises BadPicture."""
        image, exact = self._pixels.put(picture), self._pixels.exact
        self.pictured.emit(DisplayFrame(image, picture.number, picture.delay, picture.size, exact))


class _Viewer:
    """What the session tells, as signals."""

    shows_video = True

    def __init__(self, link: DisplayLink) -> None:
        self._link = link

    def begin(self, grid: Grid, without_video: str) -> None:
        self._link.begin(grid, printable(without_video))

    def show(self, picture: ScreenPicture) -> None:
        self._link.put_together(picture)

    def control(self, *, mine: bool, taken: bool, viewers: int) -> None:
        self._link.control.emit(mine, taken, viewers)

    def refuse(self, reason: str) -> None:
        self._link.refused.emit(printable(reason))
