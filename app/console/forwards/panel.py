"""The forwards of a session: ports and sockets of one side that lead to the other (CB-I2G-03)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.console.forwards.entry import ForwardEntry
from app.units import size
from app.widgets.labels import give_way, label
from app.widgets.tool_button import tool_button
from broker_core.client.interactive import ForwardView

if TYPE_CHECKING:
    from app.context import AppContext

_ROOM = 132
"""Pixels that the list takes at most; beyond that it scrolls."""
_KINDS = {
    "local": "From here",
    "socket": "Socket",
    "remote": "From the node",
    "dynamic": "SOCKS proxy",
    "x11": "Windows",
}


class ForwardRow(QFrame):
    """One forward, with what went through it."""

    copied = Signal(str)
    opened = Signal(str)
    removed = Signal(object)

    def __init__(self, context: AppContext, shown: ForwardView) -> None:
        super().__init__()
        self.shown = shown
        self.way, self.told = label(wrap=True), label(role="small", wrap=True)
        self.problem = label(role="negative", wrap=True)
        words = QVBoxLayout()
        words.setSpacing(0)
        for part in (self.way, self.told, self.problem):
            give_way(part)
            words.addWidget(part)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 2, 8, 2)
        row.setSpacing(4)
        row.addLayout(words, 1)
        for icon, said, act in (
            ("copy", "Copy the address", lambda: self.copied.emit(self.shown.listen)),
            ("external-link", "Open in the browser", lambda: self.opened.emit(self.shown.listen)),
            ("x", "Remove the forward", lambda: self.removed.emit(self.shown)),
        ):
            if icon == "external-link" and (shown.kind != "local" or "/" in shown.listen):
                continue
            button = tool_button(context.theme.icon(icon), said, f"{said}: {shown.listen}")
            button.clicked.connect(act)
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        self.show_view(shown)

    def show_view(self, shown: ForwardView) -> None:
        """Bring the counters up to date."""
        self.shown = shown
        self.way.setText(f"{shown.listen} → {shown.target}")
        ends = f"{shown.connections} connection{'' if shown.connections == 1 else 's'}"
        way = f"{size(shown.sent)} sent, {size(shown.received)} received"
        self.told.setText(f"{_KINDS.get(shown.kind, shown.kind.capitalize())} · {way} · {ends}")
        self.problem.setText(shown.problem)
        self.problem.setVisible(bool(shown.problem))


class ForwardList(QWidget):
    """All forwards, and a line to add one."""

    added = Signal(str, object, object)
    """`local`, `remote` or `dynamic`, where it listens, and where it leads to (`Where`)."""
    removed = Signal(object)
    """A `ForwardView` that is no longer wanted."""
    opened = Signal(str)
    """An address of the browser."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.rows: dict[tuple[str, str, str], ForwardRow] = {}
        self.entry = ForwardEntry()
        self.entry.added.connect(self.added)
        self.empty = label(
            "No forwards. A port of this machine can lead to a server that the job runs, and a port of the "
            "node to a server here.",
            "muted",
            wrap=True,
        )
        give_way(self.empty)
        self._lay_out()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 8)
        column.setSpacing(4)
        inside = QWidget()
        self._list = QVBoxLayout(inside)
        self._list.setContentsMargins(0, 0, 0, 0)
        self._list.setSpacing(0)
        self._list.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.empty.setContentsMargins(12, 4, 12, 4)
        column.addWidget(self.empty)
        self._scroll = scroll = QScrollArea(widgetResizable=True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(inside)
        scroll.hide()
        column.addWidget(scroll)
        column.addWidget(self.entry)

    def show_forwards(self, forwards: tuple[ForwardView, ...]) -> None:
        """Show what there is; rows that stay are kept."""
        wanted = {(one.kind, one.listen, one.target): one for one in forwards}
        for key in set(self.rows) - set(wanted):
            row = self.rows.pop(key)
            self._list.removeWidget(row)
            row.deleteLater()
        for key, one in wanted.items():
            if key in self.rows:
                self.rows[key].show_view(one)
            else:
                self._append(key, one)
        self.empty.setVisible(not self.rows)
        self._scroll.setVisible(bool(self.rows))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Words wrap anew."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """As high as the rows are, up to a limit."""
        wanted = self._list.totalHeightForWidth(self.width()) if self.rows else 0
        self._scroll.setFixedHeight(min(_ROOM, wanted))

    def _append(self, key: tuple[str, str, str], shown: ForwardView) -> None:
        row = self.rows[key] = ForwardRow(self._context, shown)
        row.copied.connect(QGuiApplication.clipboard().setText)
        row.opened.connect(lambda address: self.opened.emit(f"http://{address}/"))
        row.removed.connect(self.removed)
        self._list.addWidget(row)
