"""Small sheets over the window: keyboard shortcuts, and about the program."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.actions.table import ACTIONS, GROUPS
from app.theme.theme import Theme
from broker_core.version import VERSION

_COLUMNS = (("file", "view"), ("job",), ("jobs", "help"))
_MARGIN, _AROUND = 24, 92
"""Pixels beside what a sheet shows, and above and below it, with the button."""


def _sheet(parent: QWidget, title: str) -> tuple[QDialog, QVBoxLayout]:
    dialog = QDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    column = QVBoxLayout(dialog)
    column.setContentsMargins(_MARGIN, 20, _MARGIN, 16)
    column.setSpacing(16)
    return dialog, column


def _close(dialog: QDialog, column: QVBoxLayout) -> None:
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    column.addWidget(buttons)


def shortcuts(parent: QWidget) -> QDialog:
    """Return the sheet of all keys, made of the action table."""
    dialog, column = _sheet(parent, "Keyboard shortcuts")
    keys = QWidget()
    across = QHBoxLayout(keys)
    across.setContentsMargins(0, 0, _MARGIN // 2, 0)
    across.setSpacing(32)
    for groups in _COLUMNS:
        down = QVBoxLayout()
        for group in groups:
            down.addLayout(_group(group))
            down.addSpacing(12)
        down.addStretch(1)
        across.addLayout(down)
    area = QScrollArea(widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setAccessibleName("Keys")
    area.setWidget(keys)
    column.addWidget(area)
    _close(dialog, column)
    room = QSize(2 * _MARGIN + area.verticalScrollBar().sizeHint().width(), _AROUND)
    dialog.resize((keys.sizeHint() + room).boundedTo(parent.window().size() - QSize(_MARGIN, _MARGIN)))
    return dialog


def _group(group: str) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(6)
    head = QLabel(GROUPS[group])
    head.setProperty("role", "section")
    grid.addWidget(head, 0, 0, 1, 2)
    keyed = [action for action in ACTIONS if action.group == group and action.shortcut]
    for line, action in enumerate(keyed, 1):
        key = QLabel(action.shortcut)
        key.setProperty("role", "key")
        grid.addWidget(QLabel(action.text.rstrip("…")), line, 0)
        grid.addWidget(key, line, 1, Qt.AlignmentFlag.AlignRight)
    return grid


def about(parent: QWidget, theme: Theme, broker: str) -> QDialog:
    """Return the sheet that says what this is and under which licences."""
    dialog, column = _sheet(parent, "About CrossDesk")
    title = QLabel(f"CrossDesk {VERSION}")
    title.setFont(theme.font("title"))
    text = QLabel(
        "A desktop for running jobs on this machine, on clusters and on grids, with its own broker.\n\n"
        f"Connected to: {broker or 'no broker'}\n\n"
        "CrossDesk is free software under the Apache License 2.0. It comes with the typefaces Inter and "
        "JetBrains Mono (SIL Open Font License) and icons of the Lucide project (ISC License), and uses Qt "
        "through PySide6 (LGPL 3)."
    )
    text.setWordWrap(True)
    text.setMinimumWidth(420)
    column.addWidget(title)
    column.addWidget(text)
    _close(dialog, column)
    return dialog
