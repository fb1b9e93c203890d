"""The sidebar: queries with live counts, the user's own below, sites with their connection."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.context import Notice
from app.sites.site_style import heard_sentence, sidebar_count, site_style
from app.stores.saved_queries import SavedQuery, tag_query
from app.widgets import glyphs
from app.widgets.state_style import StateShape

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.sites import SiteView

KIND, _VALUE, COUNT, _ICON, _TOKEN, _SHAPE = (Qt.ItemDataRole.UserRole + place for place in range(6))
_PLACES: tuple[tuple[str, tuple[tuple[str, str, str], ...]], ...] = (
    ("Views", (
        ("view.sites", "Sites", "server"),
        ("view.resources", "Resources", "cpu"),
        ("view.slots", "Slots", "rows-2"),
        ("view.scheduler", "Scheduler", "list-tree"),
        ("view.match", "Where could it run?", "route"),
        ("view.statistics", "Statistics", "chart-column"),
    )),
    ("Tools", (("view.simulation", "Simulator", "flask-conical"),)),
)  # fmt: skip
"""Headings with their places: id of the action, name, icon. A heading without places is left out."""
_QUERIES = ("query", "own", "tag")
"""Kinds of entries that show the jobs of a query."""
_TAGS = 8
"""Tags that are listed, of more those with the most jobs; the filter completes all of them."""
_TAGS_MS = 300
"""How long changed jobs are gathered before the tags are looked at."""
_LEAST_WIDTH, _SHARE = 160, 0.22
"""Pixels that the sidebar asks for at least, and the part of the window that it asks for at most."""
_Index = QModelIndex | QPersistentModelIndex


class _Line(QStyledItemDelegate):
    """Paints icon, name and count of an entry; a heading is small and grey."""

    def __init__(self, context: AppContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = context.theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Headings are as high as entries, with air above."""
        height = self._theme.height()
        return QSize(120, height + 8 if index.data(KIND) == "heading" else height)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Paint one line."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if index.data(KIND) == "heading":
            self._heading(painter, option.rect, index.data())
        else:
            self._entry(painter, option, index)
        painter.restore()

    def _heading(self, painter: QPainter, box: QRect, text: str) -> None:
        font = self._theme.font("small")
        font.setWeight(font.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(self._theme.color("muted"))
        painter.drawText(box.adjusted(16, 8, -8, -2), Qt.AlignmentFlag.AlignVCenter, text)

    def _entry(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        theme, box = self._theme, option.rect.adjusted(8, 1, -8, -1)
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if chosen or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.color("selection" if chosen else "hover"))
            painter.drawRoundedRect(box, 6, 6)
        token = index.data(_TOKEN) or ("accent" if chosen else "muted")
        icon = QRect(box.left() + 8, box.center().y() - 7, 16, 16)
        shape = index.data(_SHAPE)
        if shape is not None:
            glyphs.paint(painter, QRectF(icon), StateShape(shape), theme.color(token))
        else:
            theme.icon(index.data(_ICON) or "bookmark", token).paint(painter, icon)
        self._words(painter, box, index.data(), index.data(COUNT) or "", chosen)

    def width_of(self, item: QListWidgetItem) -> int:
        """Pixels in which an entry is seen whole, the chosen one too, which is heavier."""
        if item.data(KIND) == "heading":
            return 0
        count = QFontMetrics(self._theme.font("small")).horizontalAdvance(item.data(COUNT) or "")
        name = QFontMetrics(self._theme.font("medium")).horizontalAdvance(item.text())
        return 16 + 32 + name + (8 + count if count else 0) + 8 + 2

    def _words(self, painter: QPainter, box: QRect, name: str, count: str, chosen: bool) -> None:
        """The name, and at the right what is counted: it gives way where only the name fits whole."""
        theme = self._theme
        small, font = theme.font("small"), theme.font("medium" if chosen else "base")
        metrics = QFontMetrics(font)
        room = box.adjusted(32, 0, -8, 0)
        beside = room.adjusted(0, 0, -8 - QFontMetrics(small).horizontalAdvance(count), 0)
        if not count or beside.width() < metrics.horizontalAdvance(name) <= room.width():
            count, beside = "", room
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, count)
        painter.setFont(font)
        painter.setPen(theme.color("selection-text" if chosen else "text"))
        text = metrics.elidedText(name, Qt.TextElideMode.ElideRight, beside.width())
        painter.drawText(beside, Qt.AlignmentFlag.AlignVCenter, text)


class _Entries(QListWidget):
    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt makes the first entry the current one where none is; that the keyboard came chooses nothing."""
        blocked = self.blockSignals(True)
        super().focusInEvent(event)
        self.blockSignals(blocked)


class Sidebar(QFrame):
    """Emits what was chosen: a query's text, or a view."""

    query_chosen = Signal(str)

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.setProperty("role", "sidebar")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.list = _Entries()
        self.list.setAccessibleName("Queries and places")
        self.list.setItemDelegate(_Line(context, self.list))
        self.list.setMouseTracking(True)
        self.list.setResizeMode(QListWidget.ResizeMode.Adjust)  # else lines stay as narrow as they were
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.currentItemChanged.connect(lambda item, _: self._chosen(item))
        self.list.itemClicked.connect(self._chosen)
        self.list.verticalScrollBar().rangeChanged.connect(self._widen)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 4, 0, 4)
        column.addWidget(self.list)
        self._sites: list[SiteView] = []
        self._slots = False
        self._tags: list[str] = []
        self._retag = QTimer(self, singleShot=True, interval=_TAGS_MS)
        self._retag.timeout.connect(self._list_tags)
        context.jobs.changed.connect(self._gather)
        self._most = _LEAST_WIDTH
        context.slots.changed.connect(self._list_slots)
        context.saved.changed.connect(self._list_tags)
        context.saved.changed.connect(self.fill)
        context.counts.changed.connect(self._count)
        context.theme.changed.connect(self._dress)
        self.fill()

    def _dress(self) -> None:
        self._widen()
        self.list.doItemsLayout()

    def sizeHint(self) -> QSize:
        """Wide enough for the longest name with its count."""
        return QSize(max(_LEAST_WIDTH, self._longest()), 400)

    def _longest(self) -> int:
        """Pixels that the longest line needs."""
        lines = self.list.itemDelegate()
        assert isinstance(lines, _Line)
        bar = self.list.verticalScrollBar()
        beside = bar.sizeHint().width() if bar.maximum() > bar.minimum() else 0
        longest = max((lines.width_of(item) for item in self._items()), default=0)
        return longest + beside + 2 * self.frameWidth()

    def share(self, width: int) -> None:
        """Ask for the width of the longest line, but for no more than a share of the window's `width`."""
        self._most = round(width * _SHARE)
        self._widen()

    def _widen(self) -> None:
        self.setMinimumWidth(max(_LEAST_WIDTH, min(self._longest(), self._most)))

    def fill(self) -> None:
        """Make all entries anew."""
        kept = self._current()
        self.list.blockSignals(True)
        self.list.clear()
        self._heading("Jobs")
        for query in self._context.saved.all[: -len(self._context.saved.own) or None]:
            self._query(query)
        own = self._context.saved.own
        for heading, queries in (
            ("Projects", [one for one in own if one.folder]),
            ("Saved queries", [one for one in own if not one.folder]),
        ):
            if queries:
                self._heading(heading)
            for query in queries:
                self._query(query)
        if self._tags:
            self._heading("Tags")
            for tag in self._tags:
                self._add(tag, "tag", tag_query(tag), "tag")
        for heading, places in _PLACES:
            if places:
                self._heading(heading)
            for action, name, icon in places:
                if action != "view.slots" or self._slots:
                    self._add(name, "view", action, icon)
        if self._sites:
            self._heading("Sites")
            for site in self._sites:
                self._show_site(self._add(site.name, "site", site.name, ""), site)
        self._select(kept)
        self.list.blockSignals(False)
        self._count()

    def _gather(self) -> None:
        if not self._retag.isActive():
            self._retag.start()

    def _list_tags(self) -> None:
        """List the tags with the most jobs, but for those that a query or project of the user stands for."""
        own = {query.text.casefold() for query in self._context.saved.own}
        in_use = sorted(self._context.jobs.tags_in_use(), key=lambda one: -one[1])
        tags = [tag for tag, _ in in_use if tag_query(tag).casefold() not in own][:_TAGS]
        if (tags := sorted(tags, key=str.casefold)) != self._tags:
            self._tags = tags
            self._context.counts.follow(tag_query(tag) for tag in tags)
            self.fill()

    def _list_slots(self) -> None:
        if self._context.slots.on is not self._slots:
            self._slots = self._context.slots.on
            self.fill()

    def show_sites(self, sites: list[SiteView]) -> None:
        """Show sites with their states; only what comes or goes moves lines."""
        same = [one.name for one in sites] == [one.name for one in self._sites]
        self._sites = sites
        if not same:
            self.fill()
            return
        for item, site in zip((one for one in self._items() if one.data(KIND) == "site"), sites, strict=True):
            self._show_site(item, site)
        self._widen()

    def _show_site(self, item: QListWidgetItem, site: SiteView) -> None:
        style, count = site_style(site), sidebar_count(site)
        said = heard_sentence(site, time.time())
        token = style.token if self._context.link.up else "faint"
        for role, data in ((_SHAPE, style.shape.value), (_TOKEN, token), (COUNT, count)):
            item.setData(role, data)
        item.setToolTip(said)
        item.setData(Qt.ItemDataRole.AccessibleTextRole, said)

    def site_lines(self) -> list[tuple[str, QRect]]:
        """Names of the sites with their lines, in coordinates of the list's viewport."""
        shown = self.list.viewport().rect()
        return [
            (str(item.data(_VALUE)), self.list.visualItemRect(item).intersected(shown))
            for item in self._items()
            if item.data(KIND) == "site"
        ]

    def mark_site(self, name: str) -> None:
        """Mark a site as the one that is shown; empty: the place of all sites."""
        self._mark(("site", name) if name else ("view", "view.sites"))

    def _heading(self, text: str) -> None:
        item = QListWidgetItem(text)
        item.setData(KIND, "heading")
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        self.list.addItem(item)

    def _query(self, query: SavedQuery) -> None:
        icon = query.icon or ("folder" if query.folder else "bookmark")
        item = self._add(query.name, "query" if query.icon else "own", query.text, icon)
        about = [query.text or "Every job that was not removed"]
        about += [f"Output goes to {query.folder}"] if query.folder else []
        item.setToolTip("\n".join(about))

    def _add(self, name: str, kind: str, value: str, icon: str, token: str = "") -> QListWidgetItem:
        item = QListWidgetItem(name)
        for role, data in ((KIND, kind), (_VALUE, value), (_ICON, icon), (_TOKEN, token)):
            item.setData(role, data)
        self.list.addItem(item)
        return item

    def _items(self) -> list[QListWidgetItem]:
        return [self.list.item(place) for place in range(self.list.count())]

    def _current(self) -> tuple[str, str] | None:
        item = self.list.currentItem()
        return (item.data(KIND), item.data(_VALUE)) if item else None

    def _select(self, wanted: tuple[str, str] | None) -> None:
        for item in self._items():
            if wanted and (item.data(KIND), item.data(_VALUE)) == wanted:
                self.list.setCurrentItem(item)
                return

    def mark_query(self, text: str) -> None:
        """Mark the query of this text as the one that is shown, or none."""
        self._mark(*((kind, text) for kind in _QUERIES))

    def mark_view(self, action: str) -> None:
        """Mark a place as the one that is shown."""
        self._mark(("view", action))

    def _mark(self, *wanted: tuple[str, str]) -> None:
        self.list.blockSignals(True)
        self.list.setCurrentRow(-1)
        for one in wanted:
            self._select(one)
        self.list.blockSignals(False)

    def _count(self) -> None:
        for item in self._items():
            if item.data(KIND) in _QUERIES:
                number = self._context.counts.of(item.data(_VALUE))
                word = f"{number:,}" if number else ""
                item.setData(COUNT, word)
                item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{item.text()}, {number:,} jobs")
        self._widen()

    def _chosen(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        if item.data(KIND) == "view":
            self._context.trigger(item.data(_VALUE))
        elif item.data(KIND) == "site":
            self._context.show_site(item.data(_VALUE))
        elif item.data(KIND) in _QUERIES:
            self.query_chosen.emit(item.data(_VALUE))

    def save_query(self, text: str, *, project: bool) -> None:
        """Ask for a name, of a project for its folder too, and keep the query."""
        if project:
            self._edit_project(SavedQuery("", text))
        elif text:
            from app.widgets.confirm import ask_name

            ask_name(
                self, "Save this query", f"Name for “{text}”", "",
                lambda name: self._context.saved.save(name, text),
            )  # fmt: skip
        else:
            self._context.notify(Notice("Write a query first; then it can be saved under a name."))

    def _edit_project(self, query: SavedQuery) -> None:
        from app.shell.project_sheet import ProjectSheet

        ProjectSheet(self._context, query, self).open()

    def _menu(self, at: QPoint) -> None:
        item = self.list.itemAt(at)
        if item is None or item.data(KIND) != "own":
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        name = item.text()
        query = next((one for one in self._context.saved.own if one.name == name), None)
        if query is None:
            return
        edit = "Change project…" if query.folder else "Make it a project…"
        menu.addAction(edit, lambda: self._edit_project(query))
        kind, shown = "project" if query.folder else "query", name.replace("&", "&&")
        menu.addAction(f"Remove {kind} “{shown}”", lambda: self._context.saved.remove(name))
        menu.popup(self.list.viewport().mapToGlobal(at))
