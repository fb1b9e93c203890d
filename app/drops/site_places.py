"""Where sites stand in the window, so that something can be dropped on one."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QWidget

from app.shell.sidebar import Sidebar
from app.sites.card import SiteCard

Places = list[tuple[str, QRect]]
"""Name of a site and the rectangle of its line or card, in the window's coordinates."""


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


def site_at(places: Places, at: QPoint) -> tuple[str, QRect]:
    """Return the site at a point and its rectangle; an empty name for none."""
    return next(((name, box) for name, box in places if box.contains(at)), ("", QRect()))
