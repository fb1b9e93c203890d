"""Services of a job as lines with a button that opens them in the browser (CB-I2G-03)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.console.channel import Connect, ConsoleChannel
from app.context import Notice, Tone
from app.widgets.csv_file import Written
from app.widgets.export import offer_gathered
from app.widgets.labels import give_way, label
from broker_core.client.interactive import ENDED, ServiceState, ServiceView, Status
from broker_core.client.printable import printable

if TYPE_CHECKING:
    from app.context import AppContext

_ICON = 16
_WORDS = {
    ServiceState.STARTING: "is starting",
    ServiceState.READY: "is ready",
    ServiceState.ENDED: "has ended",
    ServiceState.REFUSED: "is not opened",
}
_ICONS = {
    ServiceState.STARTING: ("hourglass", "muted"),
    ServiceState.READY: ("circle-check", "positive"),
    ServiceState.ENDED: ("circle-x", "muted"),
    ServiceState.REFUSED: ("circle-alert", "warning"),
}
_NONE = "The job serves no page so far. Help, Interactive jobs, says how a program tells of one."


class ServiceLine(QWidget):
    """One service: its state, its name, and the button."""

    opened = Signal(str)
    """Its name."""

    def __init__(self, context: AppContext, view: ServiceView) -> None:
        super().__init__()
        self._context = context
        self.sign, self.words, self.button = QLabel(), label(wrap=True), QPushButton("Open")
        give_way(self.words)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 4, 8, 4)
        row.setSpacing(8)
        row.addWidget(self.sign)
        row.addWidget(self.words, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)
        self.button.clicked.connect(lambda: self.opened.emit(self.view.name))
        context.theme.changed.connect(self._dress)
        self.show_view(view)

    def show_view(self, view: ServiceView) -> None:
        """Bring it up to date."""
        self.view = view
        name, problem = printable(view.name), printable(view.problem)
        self.words.setText(f"{name} {_WORDS[view.state]}{f': {problem}' if problem else ''}")
        ready = view.state is ServiceState.READY
        self.button.setVisible(ready)
        self.button.setProperty("kind", "primary")
        self.button.setAccessibleName(f"Open {name} in the browser")
        self.button.setToolTip("Open it in the browser, over this session")
        self._dress()

    def _dress(self) -> None:
        icon, tone = _ICONS[self.view.state]
        self.sign.setPixmap(self._context.theme.icon(icon, tone).pixmap(_ICON, _ICON))


class ServiceList(QFrame):
    """All services of a session; hidden while there are none."""

    def __init__(self, context: AppContext, job: str, channel: ConsoleChannel) -> None:
        super().__init__()
        self._context, self._job, self._channel = context, job, channel
        self.lines: dict[str, ServiceLine] = {}
        self.setProperty("role", "banner-muted")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 4, 0, 4)
        self._column.setSpacing(0)
        channel.addressed.connect(self._browse)
        channel.unopened.connect(lambda why: context.notify(Notice(why, Tone.WARNING)))
        offer_gathered(context, self, "services", "service", self.gather)
        self.hide()

    async def gather(self) -> Written:
        """All services as a table; what they are called and say is fit to be shown."""
        views = [line.view for line in self.lines.values()]
        rows = [[printable(one.name), str(one.state), printable(one.problem)] for one in views]
        return Written(["service", "state", "problem"], rows)

    def show_services(self, views: Sequence[ServiceView], *, over: bool) -> None:
        """Show what there is; what ends with its session is `over`."""
        wanted = {one.name: _ended(one) if over else one for one in views}
        for name in set(self.lines) - set(wanted):
            self.lines.pop(name).deleteLater()
        for name, view in wanted.items():
            if name in self.lines:
                self.lines[name].show_view(view)
            else:
                line = self.lines[name] = ServiceLine(self._context, view)
                line.opened.connect(self._channel.open_service)
                self._column.addWidget(line)
        self.setVisible(bool(self.lines))
        self._open_first(wanted)

    def _open_first(self, wanted: dict[str, ServiceView]) -> None:
        """Open the page of a job that was submitted for that, once."""
        opening = self._context.jobs.opening
        ready = next((name for name, view in wanted.items() if view.state is ServiceState.READY), None)
        if ready is not None and self._job in opening:
            opening.discard(self._job)
            self._channel.open_service(ready)

    def _browse(self, address: str) -> None:
        """Give an address to the browser. It has the token, so that no notice and no log tells it."""
        if not QDesktopServices.openUrl(QUrl(address, QUrl.ParsingMode.StrictMode)):
            words = "No browser could be opened. `crossdesk job services JOB --url` prints the address."
            self._context.notify(Notice(words, Tone.WARNING))


class ServicesView(QWidget):
    """Services of a job without a console: while this is there, so is an agent beside its program."""

    def __init__(self, context: AppContext, job: str, connect: Connect) -> None:
        super().__init__()
        self.status = Status()
        self.channel = ConsoleChannel(connect, job, 80, 24, attached=False)
        self.services = ServiceList(context, job, self.channel)
        self.words = label("Looking for services of the job.", "muted", wrap=True)
        self.words.setContentsMargins(12, 8, 12, 8)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (self.services, self.words):
            column.addWidget(part)
        column.addStretch(1)
        self.channel.status.connect(self._status)
        self.channel.failed.connect(self.words.setText)
        self.channel.start()

    @property
    def over(self) -> bool:
        """The job has ended, or no agent can be beside it."""
        return self.status.state in ENDED

    def close_session(self) -> None:
        """Leave; opened pages answer no longer."""
        self.channel.close()

    def _status(self, status: Status) -> None:
        self.status = status
        self.services.show_services(status.services, over=self.over)
        if status.reason:
            self.words.setText(printable(status.reason))
        elif not status.services:
            self.words.setText(_NONE)
        self.words.setVisible(bool(status.reason) or not status.services)


def _ended(view: ServiceView) -> ServiceView:
    return ServiceView(view.name, ServiceState.ENDED, "")
