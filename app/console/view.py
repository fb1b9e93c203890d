"""One interactive job on the screen: its terminal, where its session stands, its input, its transcript."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QMenu, QVBoxLayout, QWidget

from app.console.channel import Connect, ConsoleChannel
from app.console.emulator.transcript import Transcript
from app.console.forwards.panel import ForwardList
from app.console.lines.entry import LineEntry
from app.console.note_bar import NoteBar
from app.console.services import ServiceList
from app.console.splits.part import ConsolePart
from app.console.terminal.input_target import InputTarget
from app.console.terminal.search_bar import ConsoleSearch
from app.console.terminal.view import TerminalView
from app.console.toolbar import ConsoleToolbar
from app.context import Notice, Tone
from app.widgets.save_dialog import ask_where, not_saved
from broker_core.client.interactive import ENDED, SessionState, Status
from broker_core.client.printable import printable

if TYPE_CHECKING:
    from app.context import AppContext


LINES = "lines"
_NOTICE_FROM = 2
"""Attempts to connect in vain after which a broken connection becomes a notice."""
COPY, ALWAYS = "Copy", "Always from this program"
_SHOWN = 80
"""Characters of a text that are shown before it goes to the clipboard."""
_SAFE = ("http://", "https://", "mailto:")
TEXT, WRITTEN = "Text as it was shown (*.txt)", "What the program wrote, byte by byte (*.log)"


class InputClaim(Enum):
    """What the user of this console wants of a program's input that another console has."""

    NONE = "none"
    MISSED = "missed"
    """Keys were typed in vain, and the user knows who has it."""
    WANTED = "wanted"
    """It is taken as soon as there is a connection."""


class ConsoleView(ConsolePart):
    """A session with one job, from its start to its end; closing it detaches, the program goes on."""

    told = Signal(object)
    """A `Status`, whenever it changes."""

    def __init__(
        self, context: AppContext, job: str, connect: Connect, parent: QWidget | None = None
    ) -> None:
        super().__init__(context, job, parent)
        self.status = Status()
        self.toolbar, self.terminal = ConsoleToolbar(context), TerminalView(context)
        self.search, self.entry = ConsoleSearch(context, self.terminal), LineEntry(context)
        self.forwards = ForwardList(context)
        self.lacking = NoteBar(context, "info", "warning")
        self.asks = NoteBar(context, "copy", "muted", COPY, ALWAYS)
        self._copying = self._why = ""
        self._may_copy = False
        self._claim = InputClaim.NONE
        self.transcript = Transcript()
        self.channel = ConsoleChannel(connect, job, *self.terminal.terminal.size)
        self.services = ServiceList(context, job, self.channel)
        self._lay_out()
        self._connect()
        self.channel.start()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (self.toolbar, self.services, self.lacking, self.asks, self.search):
            column.addWidget(part)
        column.addWidget(self.terminal, 1)
        for below in (self.entry, self.forwards):
            column.addWidget(below)
            below.hide()
        self.search.hide()
        self.setFocusProxy(self.terminal)

    def _connect(self) -> None:
        channel, terminal = self.channel, self.terminal
        channel.output.connect(self._output)
        channel.status.connect(self._status)
        channel.lost.connect(self._lost)
        channel.failed.connect(self._failed)
        channel.over.connect(self._ended)
        terminal.read.connect(channel.taken)
        terminal.typed.connect(self._typed)
        terminal.keyed.connect(self._typed_in_vain)
        terminal.answered.connect(self._answered)
        terminal.resized.connect(channel.resize)
        terminal.find_asked.connect(self.search.begin)
        terminal.link_opened.connect(self._open)
        terminal.clipboard_wanted.connect(self._clipboard)
        self.asks.chosen.connect(self._copy)
        self.entry.sent.connect(channel.write)
        self.entry.ended.connect(lambda: channel.do(lambda session: session.end_input()))
        self.entry.lost.connect(self._lines_lost)
        self.entry.left.connect(terminal.setFocus)
        self.toolbar.tool.connect(self._tool)
        self.toolbar.acted.connect(self._acted)
        self.toolbar.closed.connect(self.close_asked)
        menu = QMenu(self.toolbar.split)
        menu.aboutToShow.connect(lambda: self.fill(menu))
        self.toolbar.split.setMenu(menu)
        self.toolbar.signal_chosen.connect(lambda name: channel.do(lambda session: session.signal(name)))
        self.forwards.added.connect(channel.forward)
        self.forwards.removed.connect(channel.unforward)
        self.forwards.opened.connect(self._open)
        channel.unforwarded.connect(self.forwards.entry.say)
        terminal.save_asked.connect(self.save)

    @property
    def over(self) -> bool:
        """The program has ended, or its session cannot be had."""
        return self.status.state in ENDED

    def join(self, name: str) -> None:
        """This console was put beside another one: it can be closed, and is called so."""
        self.closable = True
        self.toolbar.call(name)
        self.toolbar.close_part.show()

    def take_over(self) -> None:
        """Have the input as soon as there is a connection, whoever has it then."""
        self._claim = InputClaim.WANTED
        self._take_if_wanted()

    def _take_if_wanted(self) -> None:
        wanted = self._claim is InputClaim.WANTED
        if wanted and self.status.viewers and self.status.state is SessionState.CONNECTED:
            self._claim = InputClaim.NONE
            if not self.status.writer:
                self._acted("take")

    def close_session(self) -> None:
        """Detach."""
        self.channel.close()
        self.transcript.close()

    def save(self) -> QFileDialog:
        """Ask where to, and save everything that the program wrote so far."""
        return ask(self, self.save_to)

    def save_to(self, path: str, *, text: bool = True) -> None:
        """Save the transcript into a file, as it was shown, or else byte by byte."""
        target, copy = Path(path), self.transcript.copy()
        write = partial(copy.write, target)
        if text:
            size, lines = self.terminal.terminal.size, self.status.mode == LINES
            write = partial(copy.write_text, target, *size, lines=lines)
        self.context.run(saved(self.context, target, write), "saving the transcript")

    def _output(self, stream: int, data: bytes, past: bool) -> None:
        if problem := self.transcript.add(data):
            self.context.notify(Notice(f"The transcript ends here: {problem}.", Tone.WARNING))
        self.terminal.feed(data, past=past, by_lines=self.status.mode == LINES)

    def _status(self, status: Status) -> None:
        if self.status.attempt and status.attempt != self.status.attempt:
            self._remark("The job was started anew")
        self._tell_of_cut(status)
        self.status = status
        if status.writer and self._claim is InputClaim.MISSED:
            self._claim = InputClaim.NONE
        self.toolbar.show_status(status)
        self.lacking.tell(status.notice)
        self.alone = bool(status.notice)
        self.terminal.input = _target(status)
        self.entry.show_status(status)
        lines = status.mode == LINES and status.state not in ENDED
        if lines and not self.entry.isVisible():
            self.entry.show()
            self.setFocusProxy(self.entry.line)
        elif not lines:
            self.setFocusProxy(self.terminal)
            self.entry.hide()
        self.forwards.show_forwards(status.forwards)
        self.forwards.setEnabled(status.state not in ENDED)
        self.services.show_services(status.services, over=self.over)
        self._take_if_wanted()
        self.told.emit(status)

    def _tell_of_cut(self, status: Status) -> None:
        """A connection that does not come back at once is told wherever the user looks (CB-UI-12)."""
        topic = f"buffering {self.job}"
        if status.state is not SessionState.BUFFERING:
            if self.status.state is SessionState.BUFFERING:
                self.context.withdraw(topic)
        elif status.retries == _NOTICE_FROM != self.status.retries:
            row = self.context.jobs.row(self.job)
            name = printable(str(row["name"])) if row is not None else self.job
            words = f"No connection to “{name}”. It runs on, and its output is kept at the node."
            self.context.notify(Notice(words, Tone.WARNING, job=self.job, topic=topic))

    def _lost(self, stream: int, count: int) -> None:
        self._remark(f"{count:,} bytes of output were not kept by the node")

    def _ended(self) -> None:
        """Nothing follows; where the program has not ended, its session could not be had."""
        if not self.over:
            self._status(replace(self.status, state=SessionState.REFUSED, reason=self._why, silent=0))

    def _failed(self, words: str) -> None:
        self._why = words
        self._remark(words)

    def _remark(self, words: str) -> None:
        """A line of ours between those of the program."""
        self.terminal.feed(f"\r\n\x1b[0;7m {_on_one_line(words)} \x1b[0m\r\n".encode())

    def _typed(self, data: bytes) -> None:
        """What is typed at the screen of a program that reads lines belongs into the line below it."""
        if self.status.mode != LINES:
            self.channel.write(data)
        elif self.entry.isVisible():
            self.entry.take(data.decode("utf-8", "replace"))

    def _typed_in_vain(self) -> None:
        """Another console has the input: say so, once until this one had it."""
        settled = self.status.writer or self._claim is not InputClaim.NONE
        if self.status.state is SessionState.CONNECTED and not settled:
            self._claim = InputClaim.MISSED
            who = "Another" if self.status.taken else "No"
            self.context.notify(
                Notice(f"{who} console has the input of this program; “Take over” moves it.", Tone.WARNING)
            )

    def _answered(self, data: bytes) -> None:
        if self.status.mode != LINES:
            self.channel.write(data)

    def _lines_lost(self, count: int) -> None:
        lines = "1 line" if count == 1 else f"{count:,} lines"
        self.context.notify(
            Notice(
                f"Another desk types now: {lines} may not have arrived. Arrow up brings them back.",
                Tone.WARNING,
            )
        )

    def _tool(self, name: str) -> None:
        if name == "find":
            self.search.begin()
        elif name == "save":
            self.save()
        else:
            self._show_forwards()

    def _show_forwards(self) -> None:
        shown = self.toolbar.tools["forwards"].isChecked()
        self.forwards.setVisible(shown)
        (self.forwards.entry.target if shown else self.terminal).setFocus()

    def _acted(self, wish: str) -> None:
        if wish == "take":
            self.channel.do(lambda session: session.take())
        elif wish == "reconnect":
            self.channel.do(lambda session: session.reconnect())
        elif wish == "windows":
            self.channel.do(lambda session: session.forwards.display(os.environ.get("DISPLAY", "")))

    def _open(self, address: str) -> None:
        """Links are written by programs of others: only what a browser or mail program takes is opened."""
        if not (address.startswith(_SAFE) and QDesktopServices.openUrl(QUrl(address))):
            self.context.notify(Notice(f"The link was not opened: {address[:200]}", Tone.WARNING))

    def _clipboard(self, text: str) -> None:
        """A program wants a text on the clipboard. It may be a machine of others: the user is asked."""
        self._copying = text
        if self._may_copy:
            self._copy(COPY)
            return
        start = _on_one_line(text[:_SHOWN])
        more = "…" if len(text) > _SHOWN else ""
        self.asks.ask(f"The program wants to copy {len(text):,} characters to the clipboard: “{start}{more}”")

    def _copy(self, choice: str) -> None:
        self._may_copy = self._may_copy or choice == ALWAYS
        QGuiApplication.clipboard().setText(self._copying)
        self.terminal.setFocus()


def _target(status: Status) -> InputTarget:
    """Where what is typed goes in a session that stands so."""
    if status.state in ENDED:
        return InputTarget.NOBODY
    return InputTarget.LINE if status.mode == LINES else InputTarget.SCREEN


def _on_one_line(text: str) -> str:
    """Without characters that a terminal or a label would obey."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())


class Save(Protocol):
    """Saves into a file, as text or byte by byte."""

    def __call__(self, path: str, *, text: bool) -> None: ...


def ask(parent: QWidget, save: Save) -> QFileDialog:
    """Ask for a file, and for text or bytes; then save."""

    def write(path: Path) -> None:
        save(str(path), text=dialog.selectedNameFilter() == TEXT)

    filters = TEXT, WRITTEN
    dialog = ask_where(
        parent, "Save the transcript", write, name="console.txt", suffix="txt", filters=filters
    )
    dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix("txt" if chosen == TEXT else "log"))
    return dialog


async def saved(context: AppContext, path: Path, write: Callable[[], int]) -> None:
    """Write in a thread of its own and say so; raises CrossDeskError."""
    try:
        size = await asyncio.to_thread(write)
    except OSError as error:
        raise not_saved("The transcript", path, error) from error
    context.notify(Notice(f"The transcript is in {path}, {size:,} bytes.", Tone.GOOD))
