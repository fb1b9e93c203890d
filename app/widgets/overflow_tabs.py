"""Tabs of which those that do not fit stand in a menu at the right."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QTabWidget, QToolButton, QWidget

_NO_ARROWS = (
    "QTabBar::scroller { width: 0px; } QTabBar QToolButton { width: 0px; padding: 0px; border: none; }"
)


class OverflowTabs(QTabWidget):
    """Scrolls to the tab in front; the button `»` offers every tab that is not wholly in sight."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocumentMode(True)
        self.setUsesScrollButtons(True)
        self.tabBar().setExpanding(False)
        self.setStyleSheet(_NO_ARROWS)
        self.more = QToolButton(autoRaise=True)
        self.more.setText("»")
        self.more.setToolTip("More tabs")
        self.more.setAccessibleName("More tabs")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self.more)
        menu.aboutToShow.connect(self._fill)
        self.more.setMenu(menu)
        self.setCornerWidget(self.more)
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.show_more)

    def style_tabs(self, style: str) -> None:
        """Dress the tabs by a stylesheet of their own."""
        self.setStyleSheet(_NO_ARROWS + style)

    def out_of_sight(self) -> list[int]:
        """Places of the tabs that do not fit."""
        bar = self.tabBar()
        tabs = (place for place in range(self.count()) if self.isTabVisible(place))
        return [place for place in tabs if not bar.rect().contains(bar.tabRect(place))]

    def show_more(self) -> None:
        """Show the button if it leads to something."""
        wanted = sum(
            self.tabBar().tabRect(place).width() for place in range(self.count()) if self.isTabVisible(place)
        )
        self.more.setVisible(wanted > self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._later.start()

    def tabInserted(self, place: int) -> None:
        self._later.start()

    def tabRemoved(self, place: int) -> None:
        self._later.start()

    def _fill(self) -> None:
        menu = self.more.menu()
        menu.clear()
        for place in self.out_of_sight():
            act = menu.addAction(self.tabText(place))
            act.setEnabled(self.isTabEnabled(place))
            act.setToolTip(self.tabToolTip(place))
            act.triggered.connect(lambda _=False, place=place: self.setCurrentIndex(place))
