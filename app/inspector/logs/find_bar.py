"""Find in a log: a line of text, the number of hits, next and previous."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QWidget

from app.inspector.logs.search import MOST, Hits, LogQuery, search
from app.inspector.logs.spool import LogSpool
from app.widgets.labels import label

if TYPE_CHECKING:
    from app.context import AppContext
    from app.inspector.logs.view import LogView

_AFTER_TYPING_MS = 150


class FindBar(QWidget):
    """Searches in a thread while the user types; goes on as the log grows."""

    def __init__(self, context: AppContext, view: LogView, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context, self._view = context, view
        self.spool = LogSpool()
        self.hits, self._query, self._at = Hits(), LogQuery(""), -1
        self._turn, self._searching = 0, False
        self.text, self.told = QLineEdit(), label(role="small")
        self.regex, self.back, self.on, self.shut = (QToolButton() for _ in range(4))
        self._lay_out()
        self._typed = QTimer(self, singleShot=True, interval=_AFTER_TYPING_MS)
        self._typed.timeout.connect(self._begin_search)
        self.text.textChanged.connect(lambda: self._typed.start())
        self.regex.toggled.connect(lambda: self._begin_search())
        self.back.clicked.connect(lambda: self.step(-1))
        self.on.clicked.connect(lambda: self.step(1))
        self.shut.clicked.connect(self.close_bar)
        self.text.installEventFilter(self)

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 0, 8, 8)
        row.setSpacing(2)
        self.text.setPlaceholderText("Find in this log")
        self.text.setAccessibleName("Find in this log")
        self.text.setClearButtonEnabled(True)
        row.addWidget(self.text, 1)
        row.addSpacing(6)
        row.addWidget(self.told)
        for button, icon, said in (
            (self.regex, "", "Regular expression"),
            (self.back, "chevron-up", "Previous hit"),
            (self.on, "chevron-down", "Next hit"),
            (self.shut, "x", "Close"),
        ):
            button.setToolTip(said)
            button.setAccessibleName(said)
            if icon:
                button.setIcon(self._context.theme.icon(icon))
            row.addWidget(button)
        self.regex.setText(".*")
        self.regex.setCheckable(True)

    def begin(self) -> None:
        """Open, ready to type."""
        self.show()
        self.text.setFocus()
        self.text.selectAll()

    def close_bar(self) -> None:
        """Close, and take the marks away."""
        self._turn += 1
        self.hits, self._query, self._at = Hits(), LogQuery(""), -1
        self.text.blockSignals(True)
        self.text.clear()
        self.text.blockSignals(False)
        self.told.clear()
        self._view.mark(None, -1)
        self.hide()

    def say(self, text: str) -> None:
        """Say something about the log in the place of the number of hits."""
        self.show()
        self.told.setText(text)

    def set_spool(self, spool: LogSpool) -> None:
        """Search in another file."""
        self.spool = spool
        if self._query.text:
            self._begin_search()

    def more(self) -> None:
        """The log has grown: search what is new."""
        if self._query.text and not self._searching and not self.hits.problem and not self.hits.full:
            self._run()

    def _begin_search(self) -> None:
        self._turn += 1
        self._query = LogQuery(self.text.text(), self.regex.isChecked())
        self.hits, self._at, self._searching = Hits(), -1, False
        if not self._query.text:
            self.told.clear()
            self._view.mark(None, -1)
            return
        expression = self._query.expression()
        self._view.mark(expression if expression.isValid() else None, -1)
        self.told.setText("Searching…")
        self._run()

    def _run(self) -> None:
        self._searching = True
        self._context.run(self._search(self._turn, self.spool, self._query, self.hits), "searching the log")

    async def _search(self, turn: int, spool: LogSpool, query: LogQuery, hits: Hits) -> None:
        await asyncio.to_thread(search, spool, query, hits, lambda: turn == self._turn)
        if turn != self._turn:
            return
        self._searching = False
        if hits.problem:
            self._view.mark(None, -1)
        if self._at < 0 and hits.offsets:
            self._jump(self._first_from_here())
        self._tell()

    def _first_from_here(self) -> int:
        rows = self._view.top()
        for place, offset in enumerate(self.hits.offsets[:2000]):
            if self.spool.row_of(offset) >= rows:
                return place
        return 0

    def step(self, by: int) -> None:
        """Go to the next (1) or the previous (-1) hit, round the end."""
        if self.hits.offsets:
            self._jump((self._at + by) % len(self.hits.offsets))
            self._tell()

    def _jump(self, place: int) -> None:
        self._at = place
        row = self.spool.row_of(self.hits.offsets[place])
        self._view.go_to(row)
        self._view.mark(self._query.expression(), row)

    def _tell(self) -> None:
        number = len(self.hits.offsets)
        if self.hits.problem:
            self.told.setText(self.hits.problem)
        elif not number:
            self.told.setText("Not found")
        else:
            self.told.setText(f"{self._at + 1:,} of {number:,}" + ("+" if number >= MOST else ""))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Return goes on, Shift+Return goes back, Escape closes."""
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.close_bar()
                self._view.setFocus()
                return True
        return super().eventFilter(watched, event)
