"""What the actions of the window do."""

from __future__ import annotations

import logging
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QFileDialog, QInputDialog

from app.actions.exporting import export
from app.context import Notice, Tone
from app.help.pages import pages
from app.help.pane import HelpPane
from app.jobs.commands import JobCommands
from app.jobs.export import jobs_table
from app.match.page import MatchPage
from app.model.csv_file import Written
from app.resources.pane import ResourcesPane
from app.scheduler.pane import SchedulerPane
from app.shell import sheets
from app.shell.desktop_notices import DesktopNotices
from app.shell.finder import Finder
from app.shell.palette import Palette
from app.shell.settings import Settings
from app.simulation.page import SimulationPage
from app.sites.adding import AddSite
from app.sites.answers import Answers
from app.sites.changing import ChangeSite
from app.sites.commands import SiteCommands
from app.sites.page import SitesPage
from app.statistics.pane import StatisticsPane
from app.theme.tokens import Mode
from app.welcome.pane import WelcomePane
from app.welcome.running import open_sample

if TYPE_CHECKING:
    from app.shell.window import MainWindow

log = logging.getLogger(__name__)
_RECENT = 12


class Handlers:
    """Registers all actions but those of single jobs, and makes the palette."""

    def __init__(self, window: MainWindow) -> None:
        self._window, self._desk = window, window.desk
        self.jobs = JobCommands(self._desk, window, window.jobs.view.chosen)
        self.finder = Finder(
            self._desk, lambda: [(page.name, page.title) for page in pages()],
            partial(open_sample, self._desk), window.show_query,
        )  # fmt: skip
        self.palette = Palette(self._desk.theme, self.finder, window)
        self.desktop = DesktopNotices(self._desk, window)
        self.site_commands = SiteCommands(self._desk, window)
        self.answers = Answers(self._desk)
        self.adding: AddSite | None = None
        self._desk.sites.changed.connect(lambda: window.sidebar.show_sites(self._desk.sites.views))
        self._desk.site_wanted.connect(self.show_site)
        self.site_commands.changeAsked.connect(lambda site: ChangeSite(self._desk, site, window).show())
        for action, handler in self._table().items():
            self._desk.actions.register(action, handler)
        self._desk.actions.triggered.connect(self._remember)
        self._desk.help_wanted.connect(self.help)
        window.jobs.bar.save.clicked.connect(self.save_query)

    def _table(self) -> dict[str, object]:
        window, desk = self._window, self._desk
        return {
            "file.new": lambda: desk.open_editor(""),
            "file.open": self.open,
            "file.submit": self.submit,
            "file.sample": self.welcome,
            "site.add": self.add_site,
            "tab.close": window.tabs.close_page,
            "app.quit": window.close,
            "jobs.filter": self.filter,
            "jobs.save_query": self.save_query,
            "jobs.unfold": lambda: window.jobs.table.view.fold_all(True),
            "jobs.fold": lambda: window.jobs.table.view.fold_all(False),
            "jobs.columns": self.columns,
            "jobs.export": self.export,
            "view.jobs": lambda: window.tabs.setCurrentWidget(window.jobs),
            "view.sites": self.show_sites,
            "view.statistics": self.statistics,
            "view.match": self.match,
            "view.resources": self.resources,
            "view.scheduler": self.scheduler,
            "view.simulation": self.simulation,
            "view.welcome": self.welcome,
            "view.sidebar": partial(_toggle, window.left),
            "view.inspector": partial(_toggle, window.right),
            "view.bottom": partial(_toggle, window.bottom),
            "view.reset": window.reset,
            "view.theme": self.theme,
            "view.larger": partial(self.resize, 1),
            "view.smaller": partial(self.resize, -1),
            "app.palette": self.palette.open_with,
            "app.settings": lambda: Settings(desk, window).open(),
            "link.retry": desk.session.retry,
            "broker.start": desk.session.retry,
            "help.contents": lambda: self.help(""),
            "help.shortcuts": lambda: sheets.shortcuts(window).open(),
            "help.about": lambda: sheets.about(window, desk.theme, desk.link.broker).open(),
        }

    def _remember(self, action: str) -> None:
        if action != "app.palette":
            kept = [one for one in self._desk.preferences["recent_actions"] if one != action]
            self._desk.preferences["recent_actions"] = [action, *kept][:_RECENT]

    # --- files

    def open(self) -> None:
        """Ask for descriptions and open them."""
        dialog = QFileDialog(self._window, "Open descriptions")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters(["Job descriptions (*.jdl)", "All files (*)"])
        dialog.filesSelected.connect(lambda names: [self.open_file(Path(name)) for name in names])
        dialog.open()

    def open_file(self, path: Path) -> None:
        """Open a description; what cannot be read is told."""
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            self._desk.notify(Notice(f"{path} cannot be read: {error.strerror}.", Tone.BAD))
            return
        self._desk.open_editor(text, path.resolve())

    def submit(self) -> None:
        """Submit the description in front, or begin one."""
        page = self._window.tabs.currentWidget()
        if page in self._window.tabs.editors():
            page.submit()
        else:
            self._desk.open_editor("")

    # --- the table

    def filter(self) -> None:
        """Put the keyboard into the query line."""
        self._window.tabs.setCurrentWidget(self._window.jobs)
        self._window.jobs.bar.edit.setFocus()
        self._window.jobs.bar.edit.selectAll()

    def save_query(self) -> None:
        """Ask for a name and keep the query in the sidebar."""
        text = self._window.jobs.bar.edit.text().strip()
        if not text:
            self._desk.notify(Notice("Write a query first; then it can be saved under a name."))
            return
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle("Save this query")
        dialog.setLabelText(f"Name for “{text}”")
        dialog.setOkButtonText("Save")
        dialog.textValueSelected.connect(
            lambda name: name.strip() and self._desk.saved.save(name.strip(), text)
        )
        dialog.open()

    def columns(self) -> None:
        """Offer the columns below the table's head."""
        header = self._window.jobs.view.horizontalHeader()
        self._window.jobs.choose_columns(header.mapToGlobal(QPoint(0, header.height())))

    def export(self) -> None:
        """Ask for a file and write the jobs of the query."""
        export(self._desk, self._window, "jobs", "job", self._jobs_table)

    async def _jobs_table(self) -> Written:
        return jobs_table(self._desk.jobs.columns, self._window.jobs.table.view.numbers(), time.time())

    # --- places

    def show_sites(self) -> SitesPage:
        """Show the sites."""
        return self._window.tabs.place("sites", "Sites", "server", self._sites_page)

    def _sites_page(self) -> SitesPage:
        page = SitesPage(self._desk, self.site_commands, self.answers)
        page.chosenChanged.connect(self._window.sidebar.mark_site)
        return page

    def show_site(self, name: str) -> None:
        """Show all about a site."""
        self.show_sites().choose(name)

    def add_site(self) -> None:
        """Open the sheet that adds a site, or bring the open one to the front."""
        if self.adding is None:
            self.adding = AddSite(self._desk, self.site_commands, self.answers, self._window)
            self.adding.destroyed.connect(self._added)
        self.adding.show()
        self.adding.raise_()
        self.adding.activateWindow()

    def _added(self) -> None:
        self.adding = None

    def statistics(self) -> None:
        """Show the statistics."""
        self._window.tabs.place(
            "statistics", "Statistics", "chart-column", lambda: StatisticsPane(self._desk)
        )

    def resources(self) -> None:
        """Show what is known of the resources."""
        self._window.tabs.place("resources", "Resources", "cpu", lambda: ResourcesPane(self._desk))

    def scheduler(self) -> None:
        """Show the queue with its reasons, and the decisions."""
        self._window.tabs.place("scheduler", "Scheduler", "list-tree", lambda: SchedulerPane(self._desk))

    def match(self) -> None:
        """Show where the description in front, or else the selected job, could run."""
        tabs, front = self._window.tabs, self._window.tabs.currentWidget()
        chosen = self._window.jobs.view.chosen()
        page = tabs.place("match", "Where could this run?", "route", self._match_page)
        if front in tabs.editors():
            page.follow(front)
        elif front is self._window.jobs and len(chosen) == 1:
            page.show_job(chosen[0])

    def simulation(self) -> None:
        """Show the simulator."""
        self._window.tabs.place(
            "simulation", "Simulator", "flask-conical", lambda: SimulationPage(self._desk)
        )

    def _match_page(self) -> MatchPage:
        page = MatchPage(self._desk)
        page.edited.connect(self._window.tabs.setCurrentWidget)
        return page

    def welcome(self) -> None:
        """Show the welcome page with the samples."""
        self._window.tabs.place("welcome", "Welcome", "rocket", lambda: WelcomePane(self._desk))

    def help(self, page: str) -> None:
        """Show the help, at a page if one is named."""
        pane = self._window.tabs.place("help", "Help", "book-open", lambda: HelpPane(self._desk))
        if page:
            pane.show_page(page)

    # --- looks

    def theme(self) -> None:
        """Change between light and dark."""
        mode = Mode.LIGHT if self._desk.theme.shown is not Mode.LIGHT else Mode.DARK
        self._desk.preferences["theme"] = mode.value
        self._desk.theme.wear(mode=mode)

    def resize(self, step: int) -> None:
        """Make all text larger or smaller by a pixel."""
        size = max(11, min(22, self._desk.theme.size + step))
        self._desk.preferences["font_size"] = size
        self._desk.theme.wear(size=size)


def _toggle(dock) -> None:
    dock.setVisible(not dock.isVisible())
