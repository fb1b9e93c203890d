"""Which file of a job a log shows: standard output and error as small tabs, the others in a menu."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QTabBar, QToolButton, QWidget

from app.inspector import job_times

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.views import OutputFile

STREAMS = ("stdout", "stderr")
_TABS = "QTabBar::tab { padding: 5px 6px; font-weight: normal; }"


class FileTabs(QWidget):
    """The files of a job, one of them chosen."""

    chosen = Signal(str)
    """Path of the file that the user wants to see."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.bar, self.more = QTabBar(), QToolButton()
        self._offered: list[OutputFile] = []
        self.bar.setAccessibleName("File to show")
        self.bar.setExpanding(False)
        self.bar.setUsesScrollButtons(False)
        self.bar.setElideMode(Qt.TextElideMode.ElideRight)
        self.bar.setMinimumWidth(1)  # tabs are cut rather than that they widen the pane
        self.bar.setStyleSheet(_TABS)
        self.more.setText("More")
        self.more.setToolTip("Other files of the job")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self.more)
        self._menu.aboutToShow.connect(self._fill)
        self.more.setMenu(self._menu)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.bar)
        row.addWidget(self.more)
        row.addStretch(1)
        self.bar.currentChanged.connect(self._choose)
        context.theme.changed.connect(self._dress)
        self._dress()

    def show_files(self, files: list[OutputFile], path: str) -> None:
        """Offer these files; `path` is the one shown. Another one than a stream has a tab while it is."""
        self._offered = files
        tabs = [one for role in STREAMS for one in files if one.role == role]
        tabs += [one for one in files if one.path == path and one not in tabs]
        self.bar.blockSignals(True)
        for index, one in enumerate(tabs):
            if index == self.bar.count():
                self.bar.addTab("")
            self.bar.setTabText(index, f"{_title(one)}  {job_times.size(one.size)}".replace("&", "&&"))
            self.bar.setTabData(index, one.path)
            self.bar.setTabToolTip(index, one.path)
            self.bar.setAccessibleTabName(index, f"{_title(one)}, {job_times.size(one.size)}")
        while self.bar.count() > len(tabs):
            self.bar.removeTab(self.bar.count() - 1)
        self.bar.setCurrentIndex([one.path for one in tabs].index(path))
        self.bar.blockSignals(False)
        self.more.setVisible(len(files) > len(tabs))

    def titles(self) -> list[str]:
        """What the tabs say."""
        return [self.bar.tabText(index) for index in range(self.bar.count())]

    def _choose(self, index: int) -> None:
        if index >= 0:
            self.chosen.emit(self.bar.tabData(index))

    def _fill(self) -> None:
        self._menu.clear()
        shown = {self.bar.tabData(index) for index in range(self.bar.count())}
        for one in self._offered:
            if one.path not in shown:
                text = f"{one.path}\t{job_times.size(one.size)}".replace("&", "&&")
                act = self._menu.addAction(text)
                act.triggered.connect(lambda _=False, path=one.path: self.chosen.emit(path))

    def _dress(self) -> None:
        self.more.setIcon(self._context.theme.icon("chevron-down", "muted"))


def _title(file: OutputFile) -> str:
    return file.role if file.role in STREAMS else file.path
