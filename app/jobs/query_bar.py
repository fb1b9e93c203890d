"""The query line above the jobs table: text, completion, what is wrong with it, saving."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QStringListModel, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from app.theme.theme import Theme
from app.widgets.tool_button import tool_button
from broker_core.jobs.query import JobQuery, complete, parse

_BELOW, _FRAME = 2, 40
"""Pixels between the field and its offers, and around the longest of them: frame, padding, scroll bar."""
_PAUSE = 150
"""Milliseconds after the last key until the query is applied."""


class QueryBar(QWidget):
    """Emits `changed` with a parsed query once typing pauses."""

    changed = Signal(object)
    """Query."""

    def __init__(
        self, theme: Theme, tags: Callable[[], Sequence[str]] = tuple, parent: QWidget | None = None
    ) -> None:
        """`tags`: gives the tags in use, for completion."""
        super().__init__(parent)
        self._tags = tags
        self.edit = QLineEdit(placeholderText="Filter jobs, e.g. state:running cpu:>4 name:ann*")
        self.edit.setAccessibleName("Filter jobs")
        self.edit.setClearButtonEnabled(True)
        self.edit.addAction(theme.icon("list-filter", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self.count = QLabel()
        self.count.setProperty("role", "small")
        self.save = tool_button(
            theme.icon("bookmark-plus", "muted"), "Save this query (Ctrl+D)", "Save this query"
        )
        self.problem = QLabel()
        self.problem.setProperty("role", "negative")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self._lay_out()
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE)
        self._pause.timeout.connect(self._apply)
        self.edit.textEdited.connect(self._typed)
        self.edit.textChanged.connect(lambda _: self._pause.start())
        self._completing()

    def _lay_out(self) -> None:
        line = QHBoxLayout()
        line.setSpacing(8)
        line.addWidget(self.edit, 1)
        line.addWidget(self.save)
        line.addWidget(self.count)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 12, 8)
        column.setSpacing(4)
        column.addLayout(line)
        column.addWidget(self.problem)

    def _completing(self) -> None:
        self._offers = QStringListModel(self)
        self._completer = QCompleter(self._offers, self)
        self._completer.setWidget(self.edit)
        self._completer.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        popup = self._completer.popup()
        assert popup is not None  # made by the completer for this mode
        self._popup = popup
        self._popup.setProperty("role", "offers")
        self._completer.activated.connect(self._accept)

    def _typed(self, text: str) -> None:
        self._found = complete(text, self.edit.cursorPosition(), self._tags()) if text else []
        if not self._found:
            self._popup.hide()
            return
        about = (f"{one.text.strip()}    {one.about}" if one.text.endswith(":") else one.text.strip()
                 for one in self._found)  # fmt: skip
        self._offers.setStringList(list(about))
        box = self.edit.cursorRect()
        box.setBottom(self.edit.rect().bottom() + _BELOW)
        box.setWidth(self._popup.sizeHintForColumn(0) + _FRAME)
        self._completer.complete(box)
        self._popup.setCurrentIndex(self._offers.index(-1, 0))

    def _accept(self, chosen: str) -> None:
        word = chosen.split("    ")[0]
        offer = next((one for one in self._found if one.text.strip() == word), None)
        if offer:
            text, cursor = self.edit.text(), self.edit.cursorPosition()
            self.edit.setText(text[: offer.start] + offer.text + text[cursor:])
            self.edit.setCursorPosition(offer.start + len(offer.text))
            if offer.text.endswith(":"):
                QTimer.singleShot(0, self, lambda: self._typed(self.edit.text()))

    def show_text(self, text: str) -> None:
        """Put a query in and apply it at once."""
        self.edit.setText(text)
        self._pause.stop()
        self._apply()

    def _apply(self) -> None:
        query = parse(self.edit.text())
        self.problem.setVisible(bool(query.problems))
        self.problem.setText(query.problems[0].message if query.problems else "")
        self.edit.setProperty("state", "bad" if query.problems else "")
        self.edit.style().polish(self.edit)
        self.save.setEnabled(bool(query.text.strip()) and not query.problems)
        self.changed.emit(query)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape empties the query."""
        if event.key() == Qt.Key.Key_Escape:
            self.show_text("")
        else:
            super().keyPressEvent(event)

    def parsed(self) -> JobQuery:
        """The query as it stands."""
        return parse(self.edit.text())
