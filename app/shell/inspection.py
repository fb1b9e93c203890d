"""What the windows show, as JSON, for tests that drive them from outside.

Off unless the environment variable CROSSDESK_INSPECT names a path: then a UNIX socket there, open to its
owner only, answers every connection with one document and closes it. It shows; it changes nothing.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QAbstractListModel, QModelIndex, QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSlider,
    QTabBar,
    QTextEdit,
    QWidget,
)

VARIABLE = "CROSSDESK_INSPECT"
_ROWS = 60
_TEXT = 20_000
_CONTROLS = (
    QAbstractButton,
    QLineEdit,
    QComboBox,
    QPlainTextEdit,
    QTextEdit,
    QAbstractItemView,
    QSlider,
    QTabBar,
    QLabel,
)


async def serve() -> asyncio.Server | None:
    """Listen where the environment says; None where it says nothing."""
    path = os.environ.get(VARIABLE, "")
    if not path:
        return None
    listening = socket.socket(socket.AF_UNIX)
    os.fchmod(listening.fileno(), 0o600)  # before it has a name, so that nobody else can ever connect
    listening.bind(path)
    return await asyncio.start_unix_server(_answer, sock=listening)


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(json.dumps(shown(), ensure_ascii=True).encode())
    try:
        await writer.drain()
    except ConnectionError:
        return  # whoever asked has gone; nobody waits for the answer
    finally:
        writer.close()


def shown() -> dict[str, Any]:
    """All visible windows with their controls, and what has the keyboard."""
    windows = [window for window in QApplication.topLevelWidgets() if window.isVisible()]
    return {"focus": _name(QApplication.focusWidget()), "windows": [_window(window) for window in windows]}


def _window(window: QWidget) -> dict[str, Any]:
    found = [widget for kind in _CONTROLS for widget in window.findChildren(kind)]
    place = window.mapToGlobal(QPoint(0, 0))
    return {
        "title": window.windowTitle(),
        "kind": type(window).__name__,
        "frame": [place.x(), place.y(), window.width(), window.height()],
        "controls": [_control(widget) for widget in found if _is_seen(widget, window)],
    }


def _is_seen(widget: QWidget, window: QWidget) -> bool:
    return widget.isVisible() and widget.window() is window


def _control(widget: QWidget) -> dict[str, Any]:
    middle = widget.mapToGlobal(widget.rect().center())
    return {
        "kind": type(widget).__name__,
        "name": _name(widget),
        "at": [middle.x(), middle.y()],
        "enabled": widget.isEnabled(),
        "focus": widget.hasFocus(),
        **_content(widget),
    }


def _name(widget: QWidget | None) -> str:
    if widget is None:
        return ""
    interface = QAccessible.queryAccessibleInterface(widget)
    return str(interface.text(QAccessible.Text.Name)) if interface is not None else widget.accessibleName()


def _content(widget: QWidget) -> dict[str, Any]:
    match widget:
        case QAbstractButton():
            return {"text": widget.text(), "checked": widget.isChecked()}
        case QLineEdit() | QLabel():
            return {"text": widget.text()[:_TEXT]}
        case QComboBox():
            return {"text": widget.currentText()}
        case QPlainTextEdit() | QTextEdit():
            return {"text": widget.toPlainText()[:_TEXT]}
        case QTabBar():
            tabs = [widget.tabText(place) for place in range(widget.count())]
            points = [widget.mapToGlobal(widget.tabRect(tab).center()) for tab in range(widget.count())]
            middles = [[point.x(), point.y()] for point in points]
            return {"tabs": tabs, "current": widget.currentIndex(), "middles": middles}
        case QSlider():
            return {"value": widget.value(), "most": widget.maximum()}
        case QAbstractItemView():
            return _rows(widget)
    return {}


def _rows(view: QAbstractItemView) -> dict[str, Any]:
    model: QAbstractItemModel | None = view.model()  # Qt says None where there is none
    chosen = view.selectionModel()
    if model is None:
        return {"rows": [], "count": 0, "selected": []}
    count = model.rowCount(QModelIndex())
    rows = [_row(view, row) for row in range(min(count, _ROWS))]
    selected = sorted({index.row() for index in chosen.selectedIndexes()}) if chosen is not None else []
    return {"rows": rows, "count": count, "selected": selected}


def _row(view: QAbstractItemView, row: int) -> list[str]:
    model = view.model()
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(QModelIndex())
    cells = (model.index(row, column, QModelIndex()) for column in range(columns))
    return [str(model.data(cell, Qt.ItemDataRole.DisplayRole) or "") for cell in cells]
