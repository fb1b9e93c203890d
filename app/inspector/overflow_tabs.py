"""Tabs of which those that do not fit stand in a menu at the right."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMenu, QTabWidget, QToolButton, QWidget

_NO_ARROWS = (
    "QTabBar::scroller { width: 0px; } QTabBar QToolButton { width: 0px; padding: 0px; border: none; }"
)

_CUT = 4
"""Pixels of a tab that may be out of sight without that it needs the menu."""


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
        """Indexes of the tabs that do not fit."""
        bar = self.tabBar()
        tabs = (index for index in range(self.count()) if self.isTabVisible(index))
        return [
            index for index in tabs if not bar.rect().contains(bar.tabRect(index).adjusted(_CUT, 0, -_CUT, 0))
        ]

    def show_more(self) -> None:
        """Show the button if it leads to something."""
        wanted = sum(
            self.tabBar().tabRect(index).width() for index in range(self.count()) if self.isTabVisible(index)
        )
        self.more.setVisible(wanted > self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._later.start()

    def tabInserted(self, index: int) -> None:
        self._later.start()

    def tabRemoved(self, index: int) -> None:
        self._later.start()

    def _fill(self) -> None:
        menu = self.more.menu()
        menu.clear()
        for index in self.out_of_sight():
            act = menu.addAction(self.tabText(index))
            act.setEnabled(self.isTabEnabled(index))
            act.setToolTip(self.tabToolTip(index))
            act.triggered.connect(lambda _=False, index=index: self.setCurrentIndex(index))
