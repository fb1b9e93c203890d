"""The log itself: paints the rows on screen straight from the spool, whatever the size of the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QRegularExpression, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.inspector.logs.ansi import plain
from app.inspector.logs.page import ScreenLine, last_top, screen_lines
from app.inspector.logs.spool import LogSpool

if TYPE_CHECKING:
    from app.context import AppContext

_MOST_COPIED = 50_000
"""Rows that one copy to the clipboard may take."""
FIND, ERROR = QKeySequence("Ctrl+F"), QKeySequence("F8")
_OWN_KEYS = (
    FIND,
    ERROR,
    QKeySequence("Ctrl+C"),
    QKeySequence("Ctrl+A"),
    QKeySequence("Home"),
    QKeySequence("End"),
)
Place = tuple[int, int]
"""Row and character."""


class LogView(QAbstractScrollArea):
    """A read-only view of a spool: numbers, wrap, follow, selection, marks of a search."""

    follow_changed = Signal(bool)
    find_asked = Signal()
    error_asked = Signal()

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._spool = LogSpool()
        self.following, self.wrap = True, False
        self._mark: QRegularExpression | None = None
        self._hit = -1
        self._from: Place = (0, 0)
        self._to: Place = (0, 0)
        self._lines: list[ScreenLine] = []
        self._longest = 0
        self._placing = False
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Log")
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.horizontalScrollBar().valueChanged.connect(self.viewport().update)
        self._tell = QTimer(self, singleShot=True, interval=400)
        self._tell.timeout.connect(self._describe)
        context.theme.changed.connect(self._remeasure)
        self._remeasure()

    # What the pane does with it

    def show_spool(self, spool: LogSpool) -> None:
        """Show another file from its beginning, or its end if following."""
        self._spool, self._longest = spool, 0
        self._from = self._to = (0, 0)
        self.mark(None, -1)
        self._place(0)
        self.refresh()

    def refresh(self) -> None:
        """There is more to show. What is being read stays where it is, unless the end is followed."""
        self._placing = True
        bar = self.verticalScrollBar()
        bar.setRange(0, last_top(self._spool, self._fitting(), self._columns()))
        bar.setPageStep(max(1, self._fitting() - 1))
        if self.following:
            bar.setValue(bar.maximum())
        self._placing = False
        self._read()

    def follow(self, on: bool) -> None:
        """Follow the end, or stop."""
        if on != self.following:
            self.following = on
            self.follow_changed.emit(on)
        if on:
            self.refresh()

    def set_wrap(self, on: bool) -> None:
        """Wrap long rows, or let them run out to the right."""
        self.wrap = on
        self.horizontalScrollBar().setValue(0)
        self.refresh()

    def mark(self, expression: QRegularExpression | None, row: int) -> None:
        """Mark what matches; `row` is the one that was jumped to, or -1."""
        self._mark, self._hit = expression, row
        self.viewport().update()

    def go_to(self, row: int) -> None:
        """Bring a row into view, a third from the top, and stop following."""
        self.follow(False)
        if not any(line.row == row for line in self._lines[:-1]):
            self._place(max(0, row - self._fitting() // 3))
        self.viewport().update()

    def top(self) -> int:
        """Return the first row on screen."""
        return self.verticalScrollBar().value()

    def visible_text(self) -> str:
        """Return what is on screen."""
        return "\n".join(line.text for line in self._lines)

    def selected_text(self) -> str:
        """Return the selected text, at most _MOST_COPIED rows of it."""
        start, end = sorted((self._from, self._to))
        if start == end:
            return ""
        rows = self._spool.read_rows(start[0], min(end[0] - start[0] + 1, _MOST_COPIED))
        texts = [plain(row.raw) for row in rows]
        if texts and start[0] + len(texts) - 1 == end[0]:
            texts[-1] = texts[-1][: end[1]]
        if texts:
            texts[0] = texts[0][start[1] :]
        return "".join(
            ("\n" if place and row.first else "") + text
            for place, (row, text) in enumerate(zip(rows, texts, strict=True))
        )

    def select_all(self) -> None:
        """Select the whole log."""
        self._from, self._to = (0, 0), (max(0, self._spool.rows - 1), 1 << 30)
        self.viewport().update()

    def copy(self) -> None:
        """Copy the selected text."""
        if text := self.selected_text():
            QGuiApplication.clipboard().setText(text)

    # Measures

    def _remeasure(self) -> None:
        self._font = self._context.theme.font("mono")
        metrics = QFontMetricsF(self._font)
        self._line, self._char = metrics.height() + 2, metrics.horizontalAdvance("0")
        self._ascent = metrics.ascent() + 1
        self.refresh()

    def _gutter(self) -> float:
        return self._char * (max(3, len(str(max(1, self._spool.index.lines)))) + 2)

    def _fitting(self) -> int:
        return max(1, int(self.viewport().height() / self._line))

    def _columns(self) -> int:
        room = self.viewport().width() - self._gutter() - 8
        return max(10, int(room / self._char)) if self.wrap else 0

    # Reading

    def _place(self, row: int) -> None:
        self._placing = True
        self.verticalScrollBar().setValue(row)
        self._placing = False
        self._read()

    def _scrolled(self) -> None:
        if self._placing:
            return
        bar = self.verticalScrollBar()
        self.following, before = bar.value() >= bar.maximum(), self.following
        if before != self.following:
            self.follow_changed.emit(self.following)
        self._read()

    def _read(self) -> None:
        self._lines = screen_lines(self._spool, self.top(), self._fitting() + 1, self._columns())
        longest = max((len(line.text) for line in self._lines), default=0)
        self._longest = 0 if self.wrap else max(self._longest, longest)
        room = self.viewport().width() - self._gutter() - 16
        across = self.horizontalScrollBar()
        across.setRange(0, max(0, int(self._longest * self._char - room)))
        across.setPageStep(int(max(1.0, room)))
        across.setSingleStep(int(self._char * 4))
        self._tell.start()
        self.viewport().update()

    def _describe(self) -> None:
        self.setAccessibleDescription(self.visible_text())

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the screen lines and their numbers."""
        painter = QPainter(self.viewport())
        theme, gutter = self._context.theme, self._gutter()
        painter.fillRect(self.viewport().rect(), theme.color("surface"))
        painter.setFont(self._font)
        left = gutter + 8 - self.horizontalScrollBar().value()
        for place, line in enumerate(self._lines):
            top = place * self._line
            painter.setClipRect(QRectF(gutter, top, self.viewport().width(), self._line))
            self._paint_back(painter, line, left, top)
            self._paint_text(painter, line, left, top)
        painter.setClipping(False)
        painter.setPen(theme.color("faint"))
        for place, line in enumerate(self._lines):
            if line.number:
                box = QRectF(0, place * self._line, gutter - self._char, self._line)
                painter.drawText(
                    box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, str(line.number)
                )

    def _paint_back(self, painter: QPainter, line: ScreenLine, left: float, top: float) -> None:
        theme = self._context.theme
        if line.row == self._hit:
            painter.fillRect(QRectF(0, top, self.viewport().width(), self._line), theme.color("accent-soft"))
        if self._mark is not None:
            found = self._mark.globalMatch(line.text)
            while found.hasNext():
                one = found.next()
                box = QRectF(
                    left + one.capturedStart() * self._char,
                    top,
                    one.capturedLength() * self._char,
                    self._line,
                )
                painter.fillRect(box, theme.color("find"))
        start, end = sorted((self._from, self._to))
        if start != end and start[0] <= line.row <= end[0]:
            begin = max(0, start[1] - line.start) if line.row == start[0] else 0
            stop = min(len(line.text), end[1] - line.start) if line.row == end[0] else len(line.text) + 1
            if stop > begin:
                painter.fillRect(
                    QRectF(left + begin * self._char, top, (stop - begin) * self._char, self._line),
                    theme.color("selection"),
                )

    def _paint_text(self, painter: QPainter, line: ScreenLine, left: float, top: float) -> None:
        for run in line.runs:
            if left > self.viewport().width():
                return
            painter.setPen(self._context.theme.color(run.token))
            if run.bold:
                bold = self._context.theme.font("mono")
                bold.setBold(True)
                painter.setFont(bold)
            skipped = max(0, int(-left / self._char))
            shown = run.text[skipped : skipped + int(self.viewport().width() / self._char) + 2]
            painter.drawText(QPointF(left + skipped * self._char, top + self._ascent), shown)
            if run.bold:
                painter.setFont(self._font)
            left += len(run.text) * self._char

    # Mouse and keys

    def _at(self, point: QPoint) -> Place:
        if not self._lines:
            return (0, 0)
        line = self._lines[max(0, min(int(point.y() / self._line), len(self._lines) - 1))]
        left = self._gutter() + 8 - self.horizontalScrollBar().value()
        column = max(0, round((point.x() - left) / self._char))
        return (line.row, line.start + min(column, len(line.text)))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._to = self._at(event.position().toPoint())
            if not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self._from = self._to
            self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._to = self._at(event.position().toPoint())
            if event.position().y() < 0:
                self.verticalScrollBar().setValue(self.top() - 1)
            elif event.position().y() > self.viewport().height():
                self.verticalScrollBar().setValue(self.top() + 1)
            self.viewport().update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.angleDelta().y() > 0:
            self.follow(False)
        super().wheelEvent(event)

    def event(self, event: QEvent) -> bool:
        """Keep keys of the window's actions that mean something else in a log."""
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            keys = QKeySequence(event.keyCombination())
            if keys in _OWN_KEYS:
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar, key = self.verticalScrollBar(), event.key()
        keys = QKeySequence(event.keyCombination())
        if keys == FIND:
            self.find_asked.emit()
        elif keys == ERROR:
            self.error_asked.emit()
        elif event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif key == Qt.Key.Key_Home:
            bar.setValue(0)
        elif key == Qt.Key.Key_End:
            self.follow(True)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            bar.setValue(bar.value() + (1 if key == Qt.Key.Key_Down else -1))
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            bar.setValue(bar.value() + bar.pageStep() * (1 if key == Qt.Key.Key_PageDown else -1))
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.refresh()
