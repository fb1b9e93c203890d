"""The main area: jobs, places, editors and opened jobs as tabs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QTabBar, QTabWidget, QToolButton, QWidget

from app.widgets.confirm import ask_to_save
from broker_core.jobs.batch_names import job_name

if TYPE_CHECKING:
    from app.context import AppContext
    from app.editor.editor import Editor


P = TypeVar("P", bound=QWidget)


_LEAST = QSize(400, 240)
"""Asked for whatever page is in front; tests hold every page to it."""


class MainTabs(QTabWidget):
    """Places are made when they are first wanted; editors ask before unsaved text goes."""

    emptied = Signal()

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self._named: dict[str, QWidget] = {}
        self._views: list[QWidget] = []
        self._editors: list[Editor] = []
        self.setDocumentMode(True)
        self.setTabsClosable(False)
        self.setMovable(True)
        self.setElideMode(Qt.TextElideMode.ElideRight)
        self.setAccessibleName("Main area")
        self.tabBar().setAccessibleName("Open tabs")
        self.tabBar().setExpanding(False)

    def minimumSizeHint(self) -> QSize:
        """The same for all pages: none takes from the panes beside it, or makes the window grow."""
        return _LEAST

    def open_page(self, name: str, title: str, icon: str, make: Callable[[], P]) -> P:
        """Show the page of this name, made by `make` the first time; the same name makes the same kind."""
        found = cast("P | None", self._named.get(name))
        if found is None:
            found = self._named[name] = make()
        if self.indexOf(found) < 0:
            self._add(found, title, icon)
        self.setCurrentWidget(found)
        return found

    def open_view(self, name: str, title: str, icon: str, make: Callable[[], P]) -> P:
        """Show a place of the sidebar in the one tab that all places share, left of what was opened."""
        found = cast("P | None", self._named.get(name))
        if found is None:
            found = self._named[name] = make()
            self._views.append(found)
            self.insertTab(len(self._views) - 1, found, self._context.theme.icon(icon, "muted"), title)
        self.setTabVisible(self.indexOf(found), True)
        self.setCurrentWidget(found)
        for other in self._views:
            if other is not found:
                self.setTabVisible(self.indexOf(other), False)
        return found

    def view(self) -> str:
        """Name of the place that the shared tab shows."""
        shown = (one for one in self._views if self.isTabVisible(self.indexOf(one)))
        return self.name_of(next(shown)).removeprefix("view.")

    def show_page(self, page: QWidget) -> None:
        """Bring a page to the front, a place by its shared tab."""
        name = next((name for name, known in self._named.items() if known is page), "")
        if page in self._views:
            self.open_view(name, "", "", lambda: page)
        else:
            self.setCurrentWidget(page)

    def open_documents(self) -> list[list[str]]:
        """What is open behind the places, in its order, each as `document` says."""
        return [found for page in self._pages() if (found := self.document(page))]

    def document(self, page: QWidget) -> list[str]:
        """What a page shows, to open it again: `job` or `batch` with its id, `compare` with the ids of jobs,
        `file` with its path; empty for a place, and for what cannot be opened again."""
        kind, _, name = next((one for one, known in self._named.items() if known is page), "").partition(":")
        if kind in ("job", "batch", "compare") and name:
            return [kind, name]
        editor = self.editor(page)
        return ["file", str(editor.path)] if editor is not None and editor.path is not None else []

    def _add(self, page: QWidget, title: str, icon: str) -> None:
        at = self.addTab(page, self._context.theme.icon(icon, "muted"), title)
        close = QToolButton(autoRaise=True)
        close.setIcon(self._context.theme.icon("x", "muted"))
        close.setAccessibleName(f"Close {title}")
        close.setStyleSheet("padding: 3px;")
        close.clicked.connect(lambda: self.close_page(page))
        self.tabBar().setTabButton(at, QTabBar.ButtonPosition.RightSide, close)

    def name_of(self, page: QWidget) -> str:
        """Id of the action that shows a place; empty for other pages."""
        return next((f"view.{name}" for name, known in self._named.items() if known is page), "")

    def close_page(self, page: QWidget | None = None) -> None:
        """Close a page (the one in front if none is given); the first tab stays."""
        page = page or self.currentWidget()
        at = self.indexOf(page)
        if at < 0 or self.tabBar().tabButton(at, QTabBar.ButtonPosition.RightSide) is None:
            return
        editor = self.editor(page)
        if editor is not None and editor.dirty:
            title = self.tabText(at).rstrip("*• ")
            ask_to_save(
                self, f"Save “{title}” before it is closed?",
                partial(editor.save, partial(self._remove, editor)), partial(self._discard, editor),
            )  # fmt: skip
        else:
            self._remove(page)

    def _discard(self, editor: Editor) -> None:
        editor.give_up()
        self._remove(editor)

    def _remove(self, page: QWidget) -> None:
        self.removeTab(self.indexOf(page))
        self._editors = [editor for editor in self._editors if editor is not page]
        _give_up(page)
        self._named = {
            name: known for name, known in self._named.items() if known is not page or _stays(name)
        }
        if page not in self._named.values():
            page.deleteLater()

    def open_editor(self, text: str, path: Path | None, files: tuple[Path, ...]) -> Editor:
        """Open a description; a file that is open already comes to the front."""
        from app.editor.editor import Editor

        for page in self.editors():
            if path is not None and page.path == path and not files:
                self.setCurrentWidget(page)
                return page
        editor = Editor(self._context, text, path, files)
        self._editors.append(editor)
        self._add(editor, editor.title, "file-code")
        editor.titleChanged.connect(lambda title: self.setTabText(self.indexOf(editor), title))
        editor.submitted.connect(self._context.show_jobs)
        self.setCurrentWidget(editor)
        editor.setFocus()
        return editor

    def close_all(self) -> None:
        """The window goes away: pages give up what they hold, such as sessions with jobs."""
        for page in self._pages():
            _give_up(page)

    def editors(self) -> list[Editor]:
        """Open editors, in the order of their tabs."""
        return sorted(self._editors, key=self.indexOf)

    def editor(self, page: QWidget | None = None) -> Editor | None:
        """A page (the one in front if none is given) if it is an editor."""
        page = page or self.currentWidget()
        return next((editor for editor in self._editors if editor is page), None)

    def _pages(self) -> list[QWidget]:
        found = (self.widget(at) for at in range(self.count()))
        return [page for page in found if page is not None]

    def open_job(self, job: str, make: Callable[[], QWidget]) -> QWidget:
        """Open a job in a tab of its own; returns its page."""
        row = self._context.jobs.row(job)
        name = job_name(row["name"], row["parameter"]) if row else job
        return self.open_page(f"job:{job}", name, "file-text", make)


def _stays(name: str) -> bool:
    """Places are shown again as they were left; of a job or a batch a closed page is made anew."""
    return ":" not in name


def _give_up(page: QWidget) -> None:
    """Let go of sessions with jobs; their programs go on."""
    close = getattr(page, "close_all", None)
    if close is not None:
        close()
