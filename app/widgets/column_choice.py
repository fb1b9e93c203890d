"""Which columns of a table are shown, in which order and how wide: chosen in a menu, kept as a preference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QTableView

if TYPE_CHECKING:
    from app.stores.preferences import Preferences


class ColumnChoice(QObject):
    """Serves one table; `names` and `titles` are those of its columns, `fixed` is the one that stays."""

    def __init__(
        self,
        view: QTableView,
        names: Sequence[str],
        titles: Sequence[str],
        fixed: str,
        preferences: Preferences,
        key: str,
    ) -> None:
        super().__init__(view)
        self._view, self._names, self._titles, self._fixed = view, list(names), list(titles), fixed
        self._preferences, self._key = preferences, key

    @property
    def made(self) -> bool:
        """True once the user chose something."""
        return bool(self._preferences[self._key])

    def offer(self, at: QPoint) -> None:
        """Offer all columns in a menu."""
        menu = QMenu(self._view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for place, title in enumerate(self._titles):
            box = QAction(title, menu, checkable=True, checked=not self._view.isColumnHidden(place))
            box.setEnabled(self._names[place] != self._fixed)
            box.toggled.connect(lambda on, place=place: self._show(place, on))
            menu.addAction(box)
        menu.popup(at)

    def offer_below(self) -> None:
        """Offer all columns below the table's head."""
        header = self._view.horizontalHeader()
        self.offer(header.mapToGlobal(QPoint(0, header.height())))

    def _show(self, place: int, on: bool) -> None:
        self._view.setColumnHidden(place, not on)
        self.keep()

    def keep(self) -> None:
        """Remember order, widths and which are shown."""
        header = self._view.horizontalHeader()
        self._preferences[self._key] = [
            [self._names[place], header.sectionSize(place), not header.isSectionHidden(place)]
            for place in map(header.logicalIndex, range(header.count()))
        ]

    def restore(self) -> None:
        """Show the columns as they were chosen; a column that is not known is left aside."""
        header = self._view.horizontalHeader()
        for visual, (name, width, shown) in enumerate(self._preferences[self._key]):
            if name in self._names:
                place = self._names.index(name)
                header.moveSection(header.visualIndex(place), visual)
                if width:
                    self._view.setColumnWidth(place, width)
                self._view.setColumnHidden(place, not shown)
