"""The main area: jobs, places, editors and opened jobs as tabs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QTabBar, QTabWidget, QToolButton, QWidget

from app.shell.confirm import confirm

if TYPE_CHECKING:
    from app.editor.editor import Editor
    from app.shell.desk import WindowDesk


class MainTabs(QTabWidget):
    """Places are made when they are first wanted; editors ask before unsaved text goes."""

    emptied = Signal()

    def __init__(self, desk: WindowDesk) -> None:
        super().__init__()
        self._desk = desk
        self._places: dict[str, QWidget] = {}
        self.setDocumentMode(True)
        self.setTabsClosable(False)
        self.setMovable(True)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        self.setAccessibleName("Main area")
        self.tabBar().setAccessibleName("Open tabs")
        self.tabBar().setExpanding(False)

    def place(
        self, name: str, title: str, icon: str, make: Callable[[], QWidget], closable: bool = True
    ) -> QWidget:
        """Show a place, made by `make` the first time."""
        found = self._places.get(name)
        if found is None:
            found = self._places[name] = make()
        if self.indexOf(found) < 0:
            self._add(found, title, icon, closable)
        self.setCurrentWidget(found)
        return found

    def _add(self, page: QWidget, title: str, icon: str, closable: bool = True) -> None:
        at = self.addTab(page, self._desk.theme.icon(icon, "muted"), title)
        if closable:
            close = QToolButton(icon=self._desk.theme.icon("x", "muted"), autoRaise=True)
            close.setAccessibleName(f"Close {title}")
            close.setStyleSheet("padding: 2px;")
            close.clicked.connect(lambda: self.close_page(page))
            self.tabBar().setTabButton(at, QTabBar.ButtonPosition.RightSide, close)

    def name_of(self, page: QWidget) -> str:
        """Id of the action that shows a place; empty for other pages."""
        return next((f"view.{name}" for name, known in self._places.items() if known is page), "")

    def close_page(self, page: QWidget | None = None) -> None:
        """Close a page (the one in front if none is given); the first tab stays."""
        page = page or self.currentWidget()
        at = self.indexOf(page)
        if at < 0 or self.tabBar().tabButton(at, QTabBar.ButtonPosition.RightSide) is None:
            return
        if getattr(page, "dirty", False):
            title = self.tabText(at).rstrip("*• ")
            confirm(self, f"Close “{title}” without saving?", "Changes since the last save are lost.",
                    "Close without saving", lambda: self._remove(page))  # fmt: skip
        else:
            self._remove(page)

    def _remove(self, page: QWidget) -> None:
        self.removeTab(self.indexOf(page))
        _give_up(page)
        if page not in self._places.values():
            page.deleteLater()

    def open_editor(self, text: str, path: Path | None, files: tuple[Path, ...]) -> Editor:
        """Open a description; a file that is open already comes to the front."""
        from app.editor.editor import Editor

        for page in self.editors():
            if path is not None and page.path == path and not files:
                self.setCurrentWidget(page)
                return page
        editor = Editor(self._desk, text, path, files)
        self._add(editor, path.name if path else "New description", "file-code")
        editor.titleChanged.connect(lambda title: self.setTabText(self.indexOf(editor), title))
        editor.submitted.connect(self._desk.show_jobs)
        self.setCurrentWidget(editor)
        editor.setFocus()
        return editor

    def close_all(self) -> None:
        """The window goes away: pages give up what they hold, such as sessions with jobs."""
        for page in [self.widget(at) for at in range(self.count())]:
            _give_up(page)

    def editors(self) -> list[Editor]:
        """Open editors, in the order of their tabs."""
        pages = [self.widget(at) for at in range(self.count())]
        return [page for page in pages if hasattr(page, "titleChanged")]

    def open_job(self, job: str, make: Callable[[], QWidget]) -> QWidget:
        """Open a job in a tab of its own; returns its page."""
        name = f"job:{job}"
        row = self._desk.jobs.row(job)
        known = self._places.pop(name, None)
        page = known if known is not None and self.indexOf(known) >= 0 else make()
        self._places[name] = page
        return self.place(name, row["name"] if row else job, "file-text", lambda: page)


def _give_up(page: QWidget) -> None:
    """Let go of sessions with jobs; their programs go on."""
    close = getattr(page, "close_all", None)
    if close is not None:
        close()
