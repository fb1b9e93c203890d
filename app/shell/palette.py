"""The command palette (Ctrl+K): one field for actions, jobs, queries, help, samples and files."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsDropShadowEffect,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.shell.finder import Find, Finder
from app.theme.theme import Theme

_LINE, _WIDTH, _HEIGHT = 36, 620, 420
_FIND = Qt.ItemDataRole.UserRole


_Index = QModelIndex | QPersistentModelIndex


class _Lines(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Every line is equally high."""
        return QSize(200, _LINE)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Icon and title at the left, detail and kind at the right."""
        find: Find = index.data(_FIND)
        theme, box = self._theme, option.rect.adjusted(8, 0, -8, 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("selection"))
            painter.drawRoundedRect(box, 6, 6)
        icon = QRect(box.left() + 10, box.center().y() - 8, 16, 16)
        theme.icon(find.icon, "muted" if find.enabled else "faint").paint(painter, icon)
        small = theme.font("small")
        right = f"{find.detail}    {find.kind}" if find.detail else find.kind
        right = QFontMetrics(small).elidedText(right, Qt.TextElideMode.ElideLeft, box.width() // 2)
        room = QFontMetrics(small).horizontalAdvance(right)
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        side = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box.adjusted(0, 0, -12, 0), side | Qt.AlignmentFlag.AlignRight, right)
        painter.setFont(theme.font())
        painter.setPen(theme.color("text" if find.enabled else "muted"))
        inner = box.adjusted(38, 0, -24 - room, 0)
        title = QFontMetrics(theme.font()).elidedText(find.title, Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, side, title)
        painter.restore()


class Palette(QFrame):
    """Opens over the window, takes the keyboard, and goes with Escape or a click elsewhere."""

    def __init__(self, theme: Theme, finder: Finder, window: QWidget) -> None:
        super().__init__(window)
        self._finder, self._window = finder, window
        self.setProperty("role", "palette")
        self.setAccessibleName("Search and commands")
        shadow = QGraphicsDropShadowEffect(self, blurRadius=40, offset=QPointF(0, 0))
        shade = QColor(theme.color("shadow"))
        shade.setAlpha(90)
        shadow.setColor(shade)
        shadow.setYOffset(8)
        self.setGraphicsEffect(shadow)
        self.edit = QLineEdit(placeholderText="Search jobs, actions, help")
        self.edit.setAccessibleName("Search jobs, actions, help")
        self.edit.setFrame(False)
        self.list = QListWidget()
        self.list.setAccessibleName("What was found")
        self.list.setItemDelegate(_Lines(theme, self.list))
        self.list.setUniformItemSizes(True)
        self.nothing = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.nothing.setProperty("role", "muted")
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        line = QFrame()
        line.setProperty("role", "line")
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 4, 1, 8)
        column.setSpacing(4)
        for part in (self.edit, line, self.list, self.nothing):
            column.addWidget(part)
        self.edit.textChanged.connect(self._fill)
        self.list.itemClicked.connect(self._act)
        self.edit.installEventFilter(self)
        self.hide()

    def open_with(self, text: str = "") -> None:
        """Show the palette with a text in its field."""
        width = min(_WIDTH, self._window.width() - 64)
        height = min(_HEIGHT, self._window.height() - 120)
        self.setGeometry((self._window.width() - width) // 2, 56, width, height)
        self.edit.setText(text)
        self._fill(text)
        self.show()
        self.raise_()
        self.edit.setFocus()
        self.edit.selectAll()

    def _fill(self, text: str) -> None:
        self.list.clear()
        for find in self._finder.find(text):
            item = QListWidgetItem(find.title)
            item.setData(_FIND, find)
            why = "" if find.enabled else f", {find.detail}"
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{find.title}, {find.kind}{why}")
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self.list.setVisible(self.list.count() > 0)
        self.nothing.setText(f"No results for “{text.strip()}”.")
        self.nothing.setVisible(self.list.count() == 0)

    def _act(self, item: QListWidgetItem | None) -> None:
        if item is not None and item.data(_FIND).enabled:
            self.leave()
            item.data(_FIND).act()

    def leave(self) -> None:
        """Close and give the keyboard back."""
        self.hide()
        self._window.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrows move in the list while the field keeps the keyboard."""
        if event.type() == QEvent.Type.FocusOut and watched is self.edit:
            self.hide()
        return isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self._key(event)

    def _key(self, event: QKeyEvent) -> bool:
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
        if event.key() in steps and self.list.count():
            row = self.list.currentRow() + steps[Qt.Key(event.key())]
            self.list.setCurrentRow(max(0, min(self.list.count() - 1, row)))
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._act(self.list.currentItem())
        elif event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            return False
        return True
