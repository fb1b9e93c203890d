"""What the actions of the window do."""

from __future__ import annotations

import logging
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QFileDialog, QWidget

from app import units
from app.description.document import with_full_names
from app.drops.handler import DropHandler
from app.drops.plan import plan_for
from app.help.pages import pages
from app.help.pane import HelpPane
from app.inspector.compare.page import ComparePage
from app.inspector.log_search.page import LogSearchPage
from app.jobs.columns import jobs_table
from app.jobs.commands import JobCommands
from app.match.page import MatchPage
from app.resources.pane import ResourcesPane
from app.resources.slots.pane import SlotsPane
from app.scheduler.pane import SchedulerPane
from app.shell import sheets
from app.shell.finder import Finder
from app.shell.news import DesktopNotices
from app.shell.palette import Palette
from app.shell.pane_focus import step_pane
from app.shell.settings import SettingsDialog, change_theme, zoom
from app.simulation.page import SimulationPage
from app.sites.adding.sheet import AddSite
from app.sites.answers import SiteAnswers
from app.sites.changing import ChangeSite
from app.sites.commands import SiteActions
from app.sites.page import SitesPage
from app.statistics.pane import StatisticsPane
from app.submission.draft import open_file
from app.welcome.pane import WelcomePane
from app.welcome.running import open_sample
from app.widgets.confirm import ask_name
from app.widgets.csv_file import Written
from app.widgets.export import export
from app.widgets.save_dialog import FileDialog
from broker_core.client.programs.file_kind import classify
from broker_core.client.programs.path_facts import facts_of

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDockWidget

    from app.jobs.pane import JobsPane
    from app.shell.sidebar import Sidebar
    from app.shell.tabs import MainTabs
    from app.shell.window_context import WindowContext

log = logging.getLogger(__name__)
_RECENT = 12


class WindowParts(Protocol):
    """The parts of the main window that actions act on."""

    jobs: JobsPane
    tabs: MainTabs
    sidebar: Sidebar
    left: QDockWidget
    right: QDockWidget
    bottom: QDockWidget

    def show_query(self, text: str) -> None:
        """Show the jobs of a query."""
        ...

    def reset(self) -> None:
        """Put all panes back where they were at first."""
        ...


class Handlers:
    """Carries out all actions but those of single jobs, and makes the palette."""

    def __init__(self, context: WindowContext, window: QWidget, parts: WindowParts) -> None:
        self._context, self._window, self._parts = context, window, parts
        self.jobs = JobCommands(context, window, parts.jobs.view.chosen)
        self.finder = Finder(
            self._context, lambda: [(page.name, page.title) for page in pages()],
            partial(open_sample, self._context), parts.show_query,
        )  # fmt: skip
        self.palette = Palette(self._context.theme, self.finder, window)
        self.desktop = DesktopNotices(self._context, window)
        self.site_commands = SiteActions(self._context, window)
        self.answers = SiteAnswers(self._context)
        self.adding: AddSite | None = None
        self._context.sites.changed.connect(lambda: parts.sidebar.show_sites(self._context.sites.views))
        self._context.site_wanted.connect(self.show_site)
        self.site_commands.changeAsked.connect(lambda site: ChangeSite(self._context, site, window).show())
        self._pages = {
            "jobs": self.show_jobs, "sites": self.show_sites, "statistics": self.statistics,
            "welcome": self.welcome, "resources": self.resources, "scheduler": self.scheduler,
            "match": self.match, "simulation": self.simulation, "slots": self.slots,
        }  # fmt: skip
        self._context.actions.serve(self)
        self._context.actions.triggered.connect(self._remember)
        self._context.help_wanted.connect(self.help)
        self._context.batch_wanted.connect(self.show_batch)
        parts.jobs.bar.save.clicked.connect(self.save_query)

    def _remember(self, action: str) -> None:
        if action != "app.palette":
            kept = [one for one in self._context.preferences["recent_actions"] if one != action]
            self._context.preferences["recent_actions"] = [action, *kept][:_RECENT]

    # --- the window

    def close_tab(self) -> None:
        """Close the tab in front."""
        self._parts.tabs.close_page()

    def quit(self) -> None:
        """Close the window; the broker and its jobs go on."""
        self._window.close()

    def toggle_pane(self, name: str) -> None:
        """Show or hide a pane: left, right, bottom."""
        dock = {"left": self._parts.left, "right": self._parts.right, "bottom": self._parts.bottom}[name]
        dock.setVisible(not dock.isVisible())

    def step_pane(self, step: int) -> None:
        """Give the keyboard to the next pane (1), or the one before (-1)."""
        parts = self._parts
        step_pane(
            (parts.sidebar, parts.tabs.currentWidget(), parts.right.widget(), parts.bottom.widget()), step
        )

    def reset_layout(self) -> None:
        """Put all panes back where they were at first."""
        self._parts.reset()

    def open_palette(self) -> None:
        """Search everything, actions among it."""
        self.palette.open_with()

    def settings(self) -> None:
        """Open the settings."""
        SettingsDialog(self._context, self._window).open()

    def connect_now(self) -> None:
        """Connect to the broker, or start it, at once."""
        self._context.session.retry()

    def shortcuts(self) -> None:
        """Show all keys."""
        sheets.shortcuts(self._window).open()

    def problem(self) -> None:
        """Show the details of the last problem of the window itself."""
        sheets.problem(self._window, self._context.theme, self._context.problem).open()

    def about(self) -> None:
        """Say what this is."""
        sheets.about(self._window, self._context.theme, self._context.link.broker).open()

    # --- files

    def new(self) -> None:
        """Begin a job; one that is begun and empty comes to the front."""
        blank = next((page for page in self._parts.tabs.editors() if page.blank), None)
        if blank is None:
            self._context.open_editor("")
        else:
            self._parts.tabs.setCurrentWidget(blank)

    def run_script(self) -> None:
        """Ask for scripts, programs and their data, and show what would run, as if they had been dropped."""
        dialog = FileDialog(self._window, "Choose a script or program, and its data")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.filesSelected.connect(lambda names: self._receive([Path(name) for name in names]))
        dialog.open()

    def _receive(self, paths: list[Path]) -> None:
        plan = plan_for([classify(facts_of(path)) for path in paths])
        DropHandler(self._context, self._window).receive(plan)

    def save_template(self) -> None:
        """Ask for a name and keep the description in front as a template."""
        editor = self._parts.tabs.editor()
        if editor is not None:
            text = with_full_names(editor.text(), editor.base)
            ask_name(
                self._window, "Save as template", "Name of the template", editor.name,
                lambda name: self._context.keep_template(name, text),
            )  # fmt: skip

    def open(self) -> None:
        """Ask for descriptions and open them."""
        dialog = FileDialog(self._window, "Open descriptions")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters(["Job descriptions (*.jdl)", "All files (*)"])
        dialog.filesSelected.connect(self._open_files)
        dialog.open()

    def _open_files(self, names: list[str]) -> None:
        for name in names:
            self.open_file(Path(name))

    def open_file(self, path: Path) -> None:
        """Open a description, or show what running a script would do; what cannot be read is told."""
        if not open_file(self._context, path):
            self._receive([path])

    def editing(self) -> bool:
        """True while a description is in front."""
        return self._parts.tabs.editor() is not None

    def save(self) -> None:
        """Write the description in front into its file."""
        if (editor := self._parts.tabs.editor()) is not None:
            editor.save()

    def save_as(self) -> None:
        """Ask for a name and write the description in front under it."""
        if (editor := self._parts.tabs.editor()) is not None:
            editor.save_as()

    def submit(self) -> None:
        """Submit the description in front, or begin a job."""
        if (editor := self._parts.tabs.editor()) is not None:
            editor.submit()
        else:
            self.new()

    # --- the table

    def filter(self) -> None:
        """Put the keyboard into the query line."""
        self._parts.tabs.show_page(self._parts.jobs)
        self._parts.jobs.bar.edit.setFocus()
        self._parts.jobs.bar.edit.selectAll()

    def save_query(self, *, project: bool = False) -> None:
        """Ask for a name, of a project for its folder too, and keep the query in the sidebar."""
        self._parts.sidebar.save_query(self._parts.jobs.bar.edit.text().strip(), project=project)

    def columns(self) -> None:
        """Offer the columns below the table's head."""
        header = self._parts.jobs.view.horizontalHeader()
        self._parts.jobs.choose_columns(header.mapToGlobal(QPoint(0, header.height())))

    def export(self) -> None:
        """Ask for a file and write the jobs of the query."""
        export(self._context, self._window, "jobs", "job", self._jobs_table)

    async def _jobs_table(self) -> Written:
        return jobs_table(self._context.jobs.columns, self._parts.jobs.table.view.numbers(), time.time())

    def fold_batches(self, *, unfold: bool) -> None:
        """Fold or unfold all batches of the table."""
        self._parts.jobs.table.view.fold_all(unfold)

    # --- pages

    def compare(self) -> None:
        """Open the selected jobs side by side in a tab."""
        row = self._context.jobs.row
        chosen = self._parts.jobs.view.chosen()
        self.compare_jobs(sorted(chosen, key=lambda job: (row(job) or {}).get("submitted", 0.0)))

    def compare_jobs(self, ids: list[str]) -> None:
        """Open these jobs side by side in a tab, in this order."""
        self._parts.tabs.open_page(
            f"compare:{','.join(ids)}", f"Compare {units.count(len(ids), 'job')}", "columns-2",
            lambda: ComparePage(self._context, ids),
        )  # fmt: skip

    def search_logs(self) -> None:
        """Search in the logs of the jobs of the query; of those selected where there are several."""
        jobs = self._parts.jobs
        page = self._parts.tabs.open_page(
            "log_search", "Search in logs", "search",
            lambda: LogSearchPage(self._context, jobs.ids_of_query, jobs.view.chosen),
        )  # fmt: skip
        page.choose_scope(len(jobs.view.chosen()) > 1)
        page.setFocus()

    def show_page(self, name: str) -> None:
        """Show a page by its name."""
        self._pages[name]()

    def show_jobs(self) -> None:
        """Show the jobs table."""
        self._parts.tabs.show_page(self._parts.jobs)

    def show_sites(self) -> SitesPage:
        """Show the sites."""
        return self._parts.tabs.open_view("sites", "Sites", "server", self._sites_page)

    def _sites_page(self) -> SitesPage:
        page = SitesPage(self._context, self.site_commands, self.answers)
        page.chosenChanged.connect(self._parts.sidebar.mark_site)
        return page

    def show_site(self, name: str) -> None:
        """Show all about a site."""
        self.show_sites().choose(name)

    def show_batch(self, batch: str) -> None:
        """Open the page of a batch, or bring the open one to the front."""
        from app.inspector.batch.page import BatchPage

        rows = self._context.jobs
        name = rows.columns["name"][rows.of_batch[batch][0]] if rows.of_batch.get(batch) else batch
        page = self._parts.tabs.open_page(
            f"batch:{batch}", name, "rows-2", lambda: BatchPage(self._context, batch)
        )
        page.named.connect(lambda name: self._parts.tabs.setTabText(self._parts.tabs.indexOf(page), name))
        page.refresh()

    def add_site(self) -> None:
        """Open the sheet that adds a site, or bring the open one to the front."""
        if self.adding is None:
            self.adding = AddSite(self._context, self.site_commands, self.answers, self._window)
            self.adding.destroyed.connect(self._added)
        self.adding.show()
        self.adding.raise_()
        self.adding.activateWindow()

    def _added(self) -> None:
        self.adding = None

    def statistics(self) -> None:
        """Show the statistics."""
        self._parts.tabs.open_view(
            "statistics", "Statistics", "chart-column", lambda: StatisticsPane(self._context)
        )

    def resources(self) -> None:
        """Show what is known of the resources."""
        self._parts.tabs.open_view("resources", "Resources", "cpu", lambda: ResourcesPane(self._context))

    def scheduler(self) -> None:
        """Show the queue with its reasons, and the decisions."""
        self._parts.tabs.open_view(
            "scheduler", "Scheduler", "list-tree", lambda: SchedulerPane(self._context)
        )

    def slots(self) -> None:
        """Show glideins and what is in their slots."""
        self._parts.tabs.open_view("slots", "Slots", "rows-2", lambda: SlotsPane(self._context))

    def match(self) -> None:
        """Show where the description in front, or else the selected job, could run."""
        tabs, front = self._parts.tabs, self._parts.tabs.currentWidget()
        chosen = self._parts.jobs.view.chosen()
        page = tabs.open_view("match", "Where could it run?", "route", self._match_page)
        if front in tabs.editors():
            page.follow(front)
        elif front is self._parts.jobs and len(chosen) == 1:
            page.show_job(chosen[0])

    def simulation(self) -> None:
        """Show the simulator."""
        self._parts.tabs.open_view(
            "simulation", "Simulator", "flask-conical", lambda: SimulationPage(self._context)
        )

    def _match_page(self) -> MatchPage:
        page = MatchPage(self._context)
        page.edited.connect(self._parts.tabs.setCurrentWidget)
        return page

    def welcome(self) -> None:
        """Show the welcome page with the samples."""
        self._parts.tabs.open_view("welcome", "Welcome", "rocket", lambda: WelcomePane(self._context))

    def help(self, page: str = "") -> None:
        """Show the help, at a page if one is named."""
        pane = self._parts.tabs.open_view("help", "Help", "book-open", lambda: HelpPane(self._context))
        if page:
            pane.show_page(page)

    # --- looks

    def theme(self) -> None:
        """Change between light and dark."""
        change_theme(self._context)

    def resize(self, step: int) -> None:
        """Make all text larger or smaller by so many pixels; 0: as it is at first."""
        zoom(self._context, step)
