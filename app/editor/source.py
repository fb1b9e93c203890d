"""The text of a description: numbered lines, squiggles under problems, matching brackets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QEvent, QRect, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QToolTip, QWidget

from app.description.code_font import code_font
from app.description.highlighter import Highlighter
from app.description.lexical import bracket_pair
from app.editor.gutter import Gutter
from app.theme.theme import Theme
from app.widgets.severity import SQUIGGLES
from broker_core.wire.checks import DiagnosticView

_WIDE = 0x10000
_INDENT = "    "
_BRACKETS_UPTO = 200_000
"""Characters beyond which brackets are no longer matched at every move of the cursor."""


def to_qt(text: str, offset: int) -> int:
    """UTF-16 units before the character at `offset`."""
    before = text[:offset]
    return len(before) if before.isascii() else len(before) + sum(ord(char) >= _WIDE for char in before)


def to_python(text: str, position: int) -> int:
    """Characters before the UTF-16 unit at `position`."""
    if text.isascii():
        return min(position, len(text))
    units = 0
    for offset, char in enumerate(text):
        if units >= position:
            return offset
        units += 2 if ord(char) >= _WIDE else 1
    return len(text)


def cursor_for(document: QTextDocument, start: int, end: int) -> QTextCursor:
    """A cursor that selects the characters from `start` to `end`, clamped to the document."""
    text = document.toPlainText()
    last = document.characterCount() - 1
    cursor = QTextCursor(document)
    cursor.setPosition(min(to_qt(text, max(start, 0)), last))
    cursor.setPosition(min(to_qt(text, max(end, 0)), last), QTextCursor.MoveMode.KeepAnchor)
    return cursor


class SourceEditor(QPlainTextEdit):
    """The text side of the editor."""

    completionAsked = Signal()
    """The user pressed Ctrl+Space."""
    typed = Signal(str)
    """The user typed this; the text holds it already."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.problems: tuple[DiagnosticView, ...] = ()
        self._marked = (0, 0)
        self.setAccessibleName(self.tr("Description text"))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setAcceptDrops(False)
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setProperty("frame", "none")
        self.setStyleSheet("QPlainTextEdit { padding: 0 }")
        self.highlighter = Highlighter(self.document(), theme)
        self.gutter = Gutter(self, self)
        self._connect()
        self._dress()

    def _connect(self) -> None:
        self.blockCountChanged.connect(self._make_room)
        self.updateRequest.connect(self._scroll_gutter)
        self.cursorPositionChanged.connect(self._mark_up)
        self.theme.changed.connect(self._dress)

    def _dress(self) -> None:
        self.setFont(code_font(self.theme))
        self.setTabStopDistance(self.fontMetrics().horizontalAdvance(_INDENT))
        self._make_room()
        self._mark_up()

    def text(self) -> str:
        """The whole text."""
        return self.toPlainText()

    def replace(self, start: int, end: int, text: str, join: bool = False) -> None:
        """Replace the characters from `start` to `end` as one step that can be undone.

        With `join` the step becomes part of the one before, so that one undo takes both back.
        """
        cursor = cursor_for(self.document(), start, end)
        cursor.joinPreviousEditBlock() if join else cursor.beginEditBlock()
        cursor.insertText(text)
        cursor.endEditBlock()

    def show_problems(self, problems: Sequence[DiagnosticView]) -> None:
        """Draw squiggles and marks for these problems in place of the old ones."""
        self.problems = tuple(problems)
        self._mark_up()
        self.gutter.update()

    def problems_of_line(self, line: int) -> list[DiagnosticView]:
        """The problems on a line (1-based); those of the whole description stand on line 1."""
        return [problem for problem in self.problems if max(problem.line, 1) == line]

    def mark(self, start: int, end: int) -> None:
        """Mark the characters from `start` to `end` and show them; an empty stretch takes the mark away."""
        self._marked = (start, end)
        if end > start:
            self.setTextCursor(cursor_for(self.document(), start, start))
            self.centerCursor()
        self._mark_up()

    def go_to(self, problem: DiagnosticView) -> None:
        """Put the cursor on a problem and show it."""
        end = max(problem.end, problem.start)
        self.setTextCursor(cursor_for(self.document(), problem.start, end))
        self.centerCursor()
        self.setFocus()

    def select_line(self, line: int) -> None:
        """Select a line (1-based)."""
        cursor = QTextCursor(self.document().findBlockByNumber(line - 1))
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)

    def visible_blocks(self) -> Iterator[tuple[QTextBlock, QRect]]:
        """The lines on the screen with their rectangles in the viewport."""
        block, offset = self.firstVisibleBlock(), self.contentOffset()
        while block.isValid():
            rect = self.blockBoundingGeometry(block).translated(offset).toRect()
            if rect.top() > self.viewport().height():
                return
            if block.isVisible():
                yield block, rect
            block = block.next()

    def block_at(self, y: int) -> QTextBlock:
        """The line at a height of the viewport, in pixels."""
        blocks = list(self.visible_blocks())
        return next((block for block, rect in blocks if rect.top() <= y <= rect.bottom()), blocks[-1][0])

    def cursor_offset(self) -> int:
        """Where the cursor stands, in characters of `text()`."""
        return to_python(self.text(), self.textCursor().position())

    def set_cursor_offset(self, offset: int) -> None:
        """Put the cursor before the character at `offset`."""
        self.setTextCursor(cursor_for(self.document(), offset, offset))

    def _mark_up(self) -> None:
        self.setExtraSelections([self._current_line(), *self._mark(), *self._squiggles(), *self._brackets()])
        self.gutter.update()

    def _current_line(self) -> QTextEdit.ExtraSelection:
        line = QTextEdit.ExtraSelection()
        line.format.setBackground(self.theme.color("sunken"))
        line.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        line.cursor = self.textCursor()
        line.cursor.clearSelection()
        return line

    def _mark(self) -> Iterator[QTextEdit.ExtraSelection]:
        start, end = self._marked
        if end > start:
            shown = QTextCharFormat()
            shown.setBackground(self.theme.color("find"))
            yield _selection(cursor_for(self.document(), start, end), shown)

    def _squiggles(self) -> Iterator[QTextEdit.ExtraSelection]:
        for problem in self.problems:
            under = QTextCharFormat()
            under.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            under.setUnderlineColor(self.theme.color(SQUIGGLES[problem.severity]))
            end = max(problem.end, problem.start + 1)
            yield _selection(cursor_for(self.document(), problem.start, end), under)

    def _brackets(self) -> Iterator[QTextEdit.ExtraSelection]:
        text = self.text() if self.document().characterCount() < _BRACKETS_UPTO else ""
        pair = bracket_pair(text, to_python(text, self.textCursor().position()))
        if pair is None:
            return
        token = "negative" if pair[1] is None else "selection"
        for place in pair:
            if place is not None:
                shown = QTextCharFormat()
                shown.setBackground(QColor(self.theme.color(token)))
                yield _selection(cursor_for(self.document(), place, place + 1), shown)

    def _make_room(self) -> None:
        self.setViewportMargins(self.gutter.sizeHint().width(), 0, 0, 0)
        self._place_gutter()

    def _place_gutter(self) -> None:
        inside = self.contentsRect()
        self.gutter.setGeometry(inside.left(), inside.top(), self.gutter.sizeHint().width(), inside.height())

    def _scroll_gutter(self, rect: QRect, dy: int) -> None:
        if dy:
            self.gutter.scroll(0, dy)
        else:
            self.gutter.update(0, rect.y(), self.gutter.width(), rect.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the margin as high as the text."""
        super().resizeEvent(event)
        self._place_gutter()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the text; an empty description says how to begin."""
        super().paintEvent(event)
        if self.document().isEmpty():
            painter = QPainter(self.viewport())
            painter.setPen(self.theme.color("muted"))
            hint = self.tr('Start with Executable = "…"; or choose a template. Ctrl+Space completes.')
            painter.drawText(self.viewport().rect().adjusted(6, 24, -6, 0), Qt.AlignmentFlag.AlignTop, hint)

    def event(self, event: QEvent) -> bool:
        """Explain the problem under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self.viewport().mapFromGlobal(event.globalPos())
            at = to_python(self.text(), self.cursorForPosition(place).position())
            found = [p.message for p in self.problems if p.start <= at <= max(p.end, p.start + 1)]
            QToolTip.showText(event.globalPos(), "\n".join(found), self)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Type; Tab indents by four blanks, Return keeps the indent, Ctrl+Space completes."""
        if event.key() == Qt.Key.Key_Space and event.modifiers() == Qt.KeyboardModifier.ControlModifier:
            self.completionAsked.emit()
            return
        if event.key() == Qt.Key.Key_Tab and not self.textCursor().hasSelection():
            self.insertPlainText(_INDENT)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers():
            self.insertPlainText("\n" + self._indent())
        else:
            super().keyPressEvent(event)
        if event.text() and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.typed.emit(event.text())

    def _indent(self) -> str:
        line = self.textCursor().block().text()
        return line[: len(line) - len(line.lstrip(" "))]


def _selection(cursor: QTextCursor, style: QTextCharFormat) -> QTextEdit.ExtraSelection:
    selection = QTextEdit.ExtraSelection()
    selection.cursor, selection.format = cursor, style
    return selection
