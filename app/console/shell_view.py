"""A shell in the job's directory, as a part of its console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from app.console.channel import Connect
from app.console.shell_channel import ShellChannel
from app.console.splits.part import SHELL, ConsolePart
from app.console.terminal.search_bar import ConsoleSearch
from app.console.terminal.view import TerminalView
from app.console.toolbar import menu_button
from app.widgets.labels import label
from app.widgets.tool_button import tool_button
from broker_core.client.interactive import SessionState, Status

if TYPE_CHECKING:
    from app.context import AppContext

_LATE = (SessionState.STARTING, SessionState.BUFFERING, SessionState.REFUSED)


class ShellView(ConsolePart):
    """Runs one shell at a time; where it ended another one can be started."""

    shows = SHELL

    def __init__(
        self, context: AppContext, job: str, connect: Connect, parent: QWidget | None = None
    ) -> None:
        super().__init__(context, job, parent)
        self._connect = connect
        self.closable = True
        self.word, self.told = label("Shell", "strong"), label("is starting", "muted", fluid=True)
        self.again = QPushButton("Start again")
        self.terminal = TerminalView(context)
        self.search = ConsoleSearch(context, self.terminal)
        self.channel: ShellChannel | None = None
        self._lay_out()
        self.terminal.typed.connect(self._write)
        self.terminal.answered.connect(self._write)
        self.terminal.resized.connect(self._resize)
        self.terminal.read.connect(self._taken)
        self.terminal.find_asked.connect(self.search.begin)
        self.again.clicked.connect(self._start)
        self.setFocusProxy(self.terminal)
        self._start()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        row = QHBoxLayout()
        row.setContentsMargins(12, 6, 8, 6)
        row.setSpacing(8)
        row.addWidget(self.word)
        row.addWidget(self.told, 1)
        row.addWidget(self.again)
        tools = QHBoxLayout()
        tools.setSpacing(4)
        split = menu_button(self.context, "columns-2", "Split this part")
        menu = QMenu(split)
        menu.aboutToShow.connect(lambda: self.fill(menu))
        split.setMenu(menu)
        close = tool_button(self.context.theme.icon("x"), "Close this part: the shell is ended")
        close.clicked.connect(self.close_asked)
        tools.addWidget(split)
        tools.addWidget(close)
        row.addLayout(tools)
        column.addLayout(row)
        column.addWidget(self.search)
        column.addWidget(self.terminal, 1)
        self.search.hide()

    def close_session(self) -> None:
        """End the shell."""
        if self.channel is not None:
            self.channel.close()

    def _start(self) -> None:
        self.close_session()
        self.again.hide()
        self.channel = channel = ShellChannel(self._connect, self.job, *self.terminal.terminal.size)
        channel.output.connect(self._output)
        channel.opened.connect(self._opened)
        channel.status.connect(self._status)
        channel.ended.connect(self._ended)
        channel.failed.connect(self._ended)
        self._say("is starting")
        channel.start()

    def _status(self, status: Status) -> None:
        if status.state in _LATE and status.reason:
            self._say(status.reason)

    def _output(self, stream: int, data: bytes, past: bool) -> None:
        self.terminal.feed(data, past=past)

    def _opened(self, node: str) -> None:
        self._say(f"in the job's directory at {node}")

    def _say(self, words: str) -> None:
        self.told.setText(words)
        self.told.setToolTip(words)

    def _ended(self, words: str) -> None:
        self._say(words)
        self.again.show()

    def _write(self, data: bytes) -> None:
        if self.channel is not None:
            self.channel.write(data)

    def _resize(self, columns: int, rows: int) -> None:
        if self.channel is not None:
            self.channel.resize(columns, rows)

    def _taken(self, size: int) -> None:
        if self.channel is not None:
            self.channel.taken(size)
