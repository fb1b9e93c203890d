"""Small sheets over the window: keyboard shortcuts, about the program, and what went wrong in it."""

from __future__ import annotations

import platform
import traceback

from PySide6.QtCore import QSize, Qt, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.actions.table import ACTIONS, GROUPS
from app.theme.theme import Theme
from app.widgets.labels import label
from broker_core.version import VERSION

_COLUMNS = (("file", "view"), ("job",), ("jobs", "help"))
_MARGIN, _AROUND = 24, 92
"""Pixels beside what a sheet shows, and above and below it, with the button."""
_DETAILS = QSize(640, 360)


def _sheet(parent: QWidget, title: str) -> tuple[QDialog, QVBoxLayout]:
    """Return a dialog over a window, with the column that its parts stand in."""
    dialog = QDialog(parent)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.setWindowTitle(title)
    column = QVBoxLayout(dialog)
    column.setContentsMargins(_MARGIN, 20, _MARGIN, 16)
    column.setSpacing(16)
    return dialog, column


def _close(dialog: QDialog, column: QVBoxLayout) -> QDialogButtonBox:
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    column.addWidget(buttons)
    return buttons


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


def problem_details(error: BaseException, doing: str) -> str:
    """Return all that whoever mends it wants to know."""
    about = f"CrossDesk {VERSION}, Python {platform.python_version()}, Qt {qVersion()}, {platform.platform()}"
    return f"{about}\nWhile {doing}\n\n" + "".join(traceback.format_exception(error))


def problem(parent: QWidget, theme: Theme, details: str) -> QDialog:
    """Return the sheet with the details of the last problem of the window itself; empty: there was none."""
    dialog, column = _sheet(parent, "Problem details")
    if not details:
        column.addWidget(label("Nothing went wrong in this window since it was opened.", wrap=True))
        _close(dialog, column)
        return dialog
    column.addWidget(label("The window goes on, and no job is touched. Its log has these lines.", wrap=True))
    text = QPlainTextEdit(details, readOnly=True)
    text.setFont(theme.font("mono"))
    text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    text.setAccessibleName("Details")
    column.addWidget(text, 1)
    copy = QPushButton("Copy")
    copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(details))
    _close(dialog, column).addButton(copy, QDialogButtonBox.ButtonRole.ActionRole)
    dialog.resize(_DETAILS)
    return dialog
