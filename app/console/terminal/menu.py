"""What the right button offers in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu

from app.console.emulator.links import link_at
from app.console.terminal.clipboard import put

if TYPE_CHECKING:
    from app.console.terminal.surface import TerminalSurface


def offer(view: TerminalSurface, event: QContextMenuEvent) -> None:
    """Open the menu, unless the program wants the mouse; Shift keeps it from that."""
    shift = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
    if view.terminal.takes_mouse and not shift and event.reason() is not event.Reason.Keyboard:
        return
    menu = terminal_menu(view, link_at(view.terminal, view.cell_at(event.pos())))
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(event.globalPos())


def terminal_menu(view: TerminalSurface, link: str = "") -> QMenu:
    """Make the menu of a terminal; keys are shown, the terminal itself listens to them."""
    menu = QMenu(view.viewport())
    if link:
        menu.addAction("Open the link", lambda: view.link_opened.emit(link))
        menu.addAction("Copy the link", lambda: put(link))
        menu.addSeparator()
    copy = menu.addAction("Copy", lambda: view.copy())
    copy.setShortcut(QKeySequence("Ctrl+Shift+C"))
    copy.setEnabled(view.terminal.has_selection)
    paste = menu.addAction("Paste", lambda: view.paste())
    paste.setShortcut(QKeySequence("Ctrl+Shift+V"))
    paste.setEnabled(bool(QGuiApplication.clipboard().text()))
    menu.addAction("Select all", lambda: _select_all(view))
    menu.addSeparator()
    menu.addAction("Find…", view.find_asked.emit).setShortcut(QKeySequence("Ctrl+Shift+F"))
    menu.addAction("Clear scrollback", lambda: _forget(view))
    menu.addAction("Save the transcript…", view.save_asked.emit)
    menu.addSeparator()
    menu.addAction("Zoom in", lambda: view.zoom(1)).setShortcut(QKeySequence("Ctrl++"))
    menu.addAction("Zoom out", lambda: view.zoom(-1)).setShortcut(QKeySequence("Ctrl+-"))
    menu.addAction("Reset zoom", lambda: view.zoom(0)).setShortcut(QKeySequence("Ctrl+0"))
    return menu


def _select_all(view: TerminalSurface) -> None:
    view.terminal.select_all()
    view.refresh()


def _forget(view: TerminalSurface) -> None:
    view.terminal.forget_scroll_back()
    view.refresh()
