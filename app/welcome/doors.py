"""The ways in at the top of the first page, and what was done before: recent jobs and own templates."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget
from shiboken6 import isValid

from app import units
from app.jobs import folding
from app.jobs.batch_totals import BatchBook
from app.stores.refresh import Refresh
from app.welcome.fitting_button import FittingButton
from app.widgets.labels import label
from app.widgets.state_glyph import StateGlyph, style_of_row
from app.widgets.tool_button import tool_button
from broker_core.client.printable import printable

if TYPE_CHECKING:
    from app.context import AppContext
    from app.stores.named_texts import NamedText
    from app.theme.theme import Theme

DOORS = (
    ("file.run", "scroll-text", "Run my script", "Choose a script or program of yours, or drop it here."),
    ("site.add", "server", "Connect a cluster", "Name its host; what is there is found out."),
    ("sample", "flask-conical", "Try a sample", "One click runs it here; nothing has to be set up."),
)
"""Id of the action (the samples are on the page itself), icon, name, and a sentence."""
_RECENT, _ASKED_FOR = 5, 1000
"""Jobs and batches shown at most, and the jobs among which they are found."""


class DoorButton(QPushButton):
    """A button as large as a card: an icon, its name, and a sentence below."""

    def __init__(self, context: AppContext, icon: str, title: str, about: str) -> None:
        super().__init__()
        self.setProperty("kind", "door")
        self.setAccessibleName(title)
        self.setAccessibleDescription(about)
        picture, head, text = QLabel(), label(title, "strong"), label(about, "muted", wrap=True)
        paint = partial(_paint, context.theme, picture, icon)
        context.theme.changed.connect(paint)
        paint()
        text.setAlignment(Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(6)
        for part in (picture, head, text):
            part.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            column.addWidget(part)
        column.setStretch(2, 1)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        inner = self.layout()
        return inner.totalHeightForWidth(width) if inner is not None else -1

    def sizeHint(self) -> QSize:
        """That of what it holds; buttons know of their own text only."""
        return QSize(220, self.heightForWidth(220))

    def minimumSizeHint(self) -> QSize:
        return QSize(160, self.heightForWidth(160))


def _paint(theme: Theme, picture: QLabel, icon: str) -> None:
    if isValid(picture):
        picture.setPixmap(theme.icon(icon, "accent").pixmap(QSize(24, 24)))


class RecentJobs(QWidget):
    """The jobs and batches submitted last, one on a line; hidden while there are none."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context, self._asking = context, Refresh()
        self._book = BatchBook(context.jobs)
        self.lines: list[tuple[str, QPushButton]] = []
        """Id of the newest job and its line."""
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        context.jobs.changed.connect(self._changed)
        context.link.changed.connect(self.ask)
        self.hide()

    def _changed(self, ids: set[str]) -> None:
        if ids:
            self._book.take(ids)
        else:
            self._book.clear()
        if self.window().isVisible() and len(self._context.jobs):
            self.ask()

    def ask(self) -> None:
        """Ask the broker for the newest jobs."""
        if self._context.link.up and self._asking.begin():
            self._context.run(self._ask(), "reading the newest jobs")

    async def _ask(self) -> None:
        try:
            page = await self._context.client.jobs_page(limit=_ASKED_FOR, latest=True)
        finally:
            repeat = self._asking.end()
        columns = page.columns
        count = len(columns["id"])
        rows = [{name: values[at] for name, values in columns.items()} for at in range(count)]
        newest = {row["batch"] or row["id"]: row for row in reversed(rows)}
        shown = sorted(newest.values(), key=lambda row: row["submitted"], reverse=True)[:_RECENT]
        await self._book.ready(row["batch"] for row in shown if row["batch"])
        self._show(shown)
        if repeat:
            self.ask()

    def _show(self, rows: list[dict[str, Any]]) -> None:
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        self.lines = []
        if rows:
            self._column.addWidget(heading("Recent jobs"))
        for row in rows:
            self._column.addWidget(self._line(row))
        self.setVisible(bool(rows))

    def _line(self, row: dict[str, Any]) -> QWidget:
        line = QWidget()
        across = QHBoxLayout(line)
        across.setContentsMargins(0, 0, 0, 0)
        across.setSpacing(8)
        glyph = StateGlyph(self._context.theme)
        totals = self._book.totals(row["batch"]) if row["batch"] else None
        if totals:
            tally = totals.tally(self._context.sites.unheard)
            style, words = folding.style_of_batch(tally), folding.summary(tally)
            button = FittingButton(printable(f"{totals.name}  ·  {units.count(len(totals), 'job')}"))
            button.clicked.connect(partial(self._context.show_batch, row["batch"]))
        else:
            style = style_of_row(row)
            words, button = style.word, FittingButton(printable(row["name"]))
            button.clicked.connect(partial(self._context.show_job, row["id"]))
        glyph.show_style(style)
        button.setProperty("kind", "quiet")
        when = label(f"{words} · {units.since(row['submitted'], time.time())}", "muted")
        for part in (glyph, button, when):
            across.addWidget(part)
        across.addStretch(1)
        self.lines.append((row["id"], button))
        return line


class OwnTemplateList(QWidget):
    """The user's templates, favorites first; hidden while there are none."""

    used = Signal(object)
    """NamedText to begin a job from."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        context.templates.changed.connect(self.fill)
        self.fill()

    def fill(self) -> None:
        """Make all lines anew."""
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        found = self._context.templates.all
        if found:
            self._column.addWidget(heading("Your templates"))
        for one in found:
            self._column.addWidget(self._line(one))
        self.setVisible(bool(found))

    def _line(self, one: NamedText) -> QWidget:
        line, templates = QWidget(), self._context.templates
        across = QHBoxLayout(line)
        across.setContentsMargins(0, 0, 0, 0)
        across.setSpacing(4)
        star = "accent" if one.favorite else "faint"
        tip = "Take it from the top" if one.favorite else "Put it first"
        pin = tool_button(self._context.theme.icon("bookmark", star), tip, f"{tip}: {one.name}")
        pin.clicked.connect(lambda: templates.set_favorite(one.name, not one.favorite))
        begin = FittingButton(printable(one.name))
        begin.setProperty("kind", "quiet")
        begin.setAccessibleDescription("Begin a job from this template")
        begin.clicked.connect(lambda: self.used.emit(one))
        gone = tool_button(self._context.theme.icon("x", "muted"), "Remove", f"Remove: {one.name}")
        gone.clicked.connect(lambda: templates.remove(one.name))
        for part in (pin, begin, gone):
            across.addWidget(part)
        across.addStretch(1)
        return line


def heading(text: str) -> QLabel:
    """The heading of a part of the first page."""
    made = label(text, "section")
    made.setContentsMargins(0, 12, 0, 4)
    return made
