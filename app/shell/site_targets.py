"""Where sites stand in the window, so that something can be dropped on one."""

from __future__ import annotations

from PySide6.QtCore import QRect
from PySide6.QtWidgets import QWidget

from app.drops.target import Places
from app.shell.sidebar import Sidebar
from app.sites.card import SiteCard


def site_places(window: QWidget) -> Places:
    """Return the lines and cards that can be seen now."""
    found: Places = []
    for sidebar in window.findChildren(Sidebar):
        if sidebar.isVisible():
            lines = sidebar.list.viewport()
            found += [(name, _within(box, lines, window)) for name, box in sidebar.site_lines()]
    for card in window.findChildren(SiteCard):
        shown = card.visibleRegion().boundingRect()
        if card.isVisible() and not shown.isEmpty():
            found.append((card.site.name, _within(shown, card, window)))
    return [(name, box) for name, box in found if not box.isEmpty()]


def _within(box: QRect, widget: QWidget, window: QWidget) -> QRect:
    return QRect(widget.mapTo(window, box.topLeft()), box.size())
