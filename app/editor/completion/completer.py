"""The completion pop-up: candidates at the left, the documentation of the chosen one beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QListWidget, QListWidgetItem

from app.editor.completion.candidates import candidates, of_tags
from app.editor.completion.context import CompletionContext, Suggestion, place_at
from app.editor.source import SourceEditor
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from app.context import AppContext

_ICONS = {"attribute": "braces", "value": "list-tree", "function": "command", "resource": "server"}
_ROWS = 8
_WIDTHS = (230, 320)
_ACCEPT = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab)
_MOVE = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class Completer(QFrame):
    """Serves one SourceEditor: comes while a name is typed or at Ctrl+Space; the text keeps the focus."""

    def __init__(self, source: SourceEditor, context: AppContext) -> None:
        super().__init__(source, Qt.WindowType.ToolTip | Qt.WindowType.FramelessWindowHint)
        self._source, self._context = source, context
        self._tags: dict[str, list[str]] | None = None
        """Run-time tags and the sites that show them; None until they were asked for."""
        self._place: CompletionContext | None = None
        self.found: list[Suggestion] = []
        self.setObjectName("completer")
        self.setAccessibleName(self.tr("Completions"))
        self.list = QListWidget()
        self.about = QLabel()
        self._lay_out()
        source.installEventFilter(self)
        source.completionAsked.connect(lambda: self.offer(asked=True))
        source.typed.connect(self._typed)

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(1, 1, 1, 1)
        row.setSpacing(0)
        self.setFrameShape(QFrame.Shape.Box)
        self.list.setFixedWidth(_WIDTHS[0])
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setAccessibleName(self.tr("Completions"))
        self.list.currentRowChanged.connect(self._explain)
        self.list.itemClicked.connect(lambda _item: self.accept())
        self.about.setFixedWidth(_WIDTHS[1])
        self.about.setWordWrap(True)
        self.about.setMargin(12)
        self.about.setTextFormat(Qt.TextFormat.PlainText)
        self.about.setAlignment(Qt.AlignmentFlag.AlignTop)
        for part in (self.list, self.about):
            row.addWidget(part)

    def offer(self, asked: bool = False) -> None:
        """Show what may be written at the cursor; hide when there is nothing.

        Unasked it comes only once something is typed, or where the choice is short.
        """
        text, at = self._source.text(), self._source.cursor_offset()
        self._place = place_at(text, at)
        if self._tags is None and self._place and of_tags(self._place):
            self._tags = {}
            self._context.run(self._ask(asked), "reading the tags of sites")
        self.found = candidates(self._place, text, self._tags or {}) if self._place else []
        if not self.found or not (asked or self._worth_it()):
            self.hide()
            return
        self._fill(self.found)
        self._move_to_cursor()
        self.show()

    async def _ask(self, asked: bool) -> None:
        try:
            self._tags = {one.name: one.sites for one in await self._context.client.tags()}
        except CrossDeskError:
            self._tags = None  # asked again with the next letter
            return
        at = place_at(self._source.text(), self._source.cursor_offset())
        if self._tags and self._source.hasFocus() and at and of_tags(at):
            self.offer(asked)

    def _worth_it(self) -> bool:
        place = self._place
        if place is None or [found.text for found in self.found] == [place.prefix]:
            return False
        return bool(place.prefix) or place.after_scope or (place.in_string and len(self.found) < _ROWS)

    def _fill(self, found: Sequence[Suggestion]) -> None:
        self.list.clear()
        for candidate in found:
            item = QListWidgetItem(self._source.theme.icon(_ICONS[candidate.kind], "muted"), candidate.text)
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        height = self.list.sizeHintForRow(0) * min(_ROWS, len(found)) + 4
        self.setFixedHeight(max(height, 120))

    def _move_to_cursor(self) -> None:
        rect = self._source.cursorRect()
        below = self._source.viewport().mapToGlobal(rect.bottomLeft() + QPoint(-4, 4))
        screen = self._source.screen().availableGeometry()
        if below.y() + self.height() > screen.bottom():
            below.setY(below.y() - self.height() - rect.height() - 8)
        below.setX(max(screen.left(), min(below.x(), screen.right() - sum(_WIDTHS) - 4)))
        self.move(below)

    def _explain(self, row: int) -> None:
        self.about.setText(self.found[row].documentation if 0 <= row < len(self.found) else "")

    def accept(self) -> None:
        """Write the chosen candidate in place of what was typed."""
        row = self.list.currentRow()
        if self._place is None or not 0 <= row < len(self.found):
            return
        end = self._place.start + len(self._place.prefix)
        self._source.replace(self._place.start, end, self.found[row].insert)
        self._source.set_cursor_offset(self._place.start + _cursor_in(self.found[row].insert))
        self.hide()

    def _typed(self, text: str) -> None:
        if text.isalnum() or text in ("_", ".", '"') or (self.isVisible() and not text.isspace()):
            self.offer()
        else:
            self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the keys that choose, while the pop-up is open."""
        if event.type() == QEvent.Type.FocusOut:
            self.hide()
        if event.type() == QEvent.Type.KeyPress and self.isVisible() and isinstance(event, QKeyEvent):
            return self._key(event)
        return False

    def _key(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        if key in _ACCEPT and not event.modifiers():
            self.accept()
        elif key in _MOVE:
            step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -_ROWS}.get(key, _ROWS)
            row = self.list.currentRow() + step
            self.list.setCurrentRow(max(0, min(row, self.list.count() - 1)))
        elif key == Qt.Key.Key_Escape:
            self.hide()
        else:
            if key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home, Qt.Key.Key_End):
                self.hide()
            return False
        return True


def _cursor_in(insert: str) -> int:
    """Where the cursor goes after `insert` was written: inside empty quotes or brackets, else behind it."""
    for empty in ('""', "{}", "()"):
        at = insert.find(empty)
        if at >= 0:
            return at + 1
    return len(insert)
