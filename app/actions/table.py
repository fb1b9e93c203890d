"""Every action of the desktop, in one table: menus, toolbar, palette and keys are made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.actions.handlers import WindowHandlers
from broker_core.jobs.outcome import Outcome, may_have_output, outcome_of
from broker_core.jobs.states import JobState

Row = Mapping[str, Any]
Handler = Callable[[WindowHandlers], None]
"""What an action does."""
RowTest = Callable[[Row], bool]
"""A job, given by what actions ask about it (app/stores/alike.py), to whether the action applies to it."""
ONE = (1, 1)
COMPARED = (2, 5)
"""Jobs that can be compared side by side."""
GROUPS = {"file": "File", "job": "Job", "jobs": "Table", "view": "View", "help": "Help"}
"""Group to its title."""


def _state(row: Row) -> JobState:
    return JobState(row["state"])


def any_job(row: Row) -> bool:
    """Every job."""
    return True


def cancelable(row: Row) -> bool:
    """Jobs that go on, and of which nobody asked yet that they end (CB-LIFE-03)."""
    return _state(row).active and not row.get("canceling")


def ended(row: Row) -> bool:
    """Jobs that are over, however they went."""
    return _state(row).ended


def failed(row: Row) -> bool:
    """Jobs that failed, and stand for themselves: no other one repeats them yet."""
    return outcome_of(row["state"], row.get("exit_code")) is Outcome.FAILED and not row.get("repeated")


def held(row: Row) -> bool:
    """Jobs that wait because they are held."""
    return bool(row["held"]) and _state(row) is JobState.WAITING


def holdable(row: Row) -> bool:
    """Jobs that have not been given to a site and are not held."""
    return _state(row) in (JobState.SUBMITTED, JobState.WAITING) and not row["held"]


def unheard(row: Row) -> bool:
    """Jobs that may run at a site that is silent."""
    return bool(row.get("unheard")) and _state(row).active


def refused(row: Row) -> bool:
    """Interactive jobs that did not find a place at once."""
    return bool(row.get("interactive")) and not row.get("started") and _state(row) is JobState.ABORTED


def interactive(row: Row) -> bool:
    """Jobs that have a console."""
    return bool(row.get("interactive"))


def member(row: Row) -> bool:
    """Jobs of a batch."""
    return bool(row.get("batch"))


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be done, by its name on buttons and in menus."""

    id: str
    do: Handler
    text: str
    icon: str = ""
    """Lucide name."""
    shortcut: str = ""
    group: str = "app"
    """Menu it stands in: file, job, jobs, view, help."""
    each: RowTest | None = None
    """To which of the selected jobs it applies; at least one is needed. None: always."""
    needs_link: bool = False
    """Disabled while the broker is not connected."""
    menu: str = ""
    """Actions of a group with the same word stand together, with rules between them."""
    without_link: bool = False
    """Disabled while the broker is connected."""
    also: str = ""
    """A second key."""
    local: bool = False
    """The view that does it listens to the keys itself; here they are only shown."""
    needs_editor: bool = False
    """Disabled unless a description is in front."""
    selected: tuple[int, int] | None = None
    """How many jobs have to be selected, at least and at most; None: any number."""
    many: str = ""
    """Its name with the number of jobs to which it applies, where several are selected: `Cancel {}`."""

    def named(self, number: int, selected: int) -> str:
        """Its name where it applies to `number` of the selected jobs."""
        return self.many.format(f"{number:,}") if self.many and selected > 1 else self.text


# fmt: off
ACTIONS: tuple[Action, ...] = (
    Action("file.new", lambda on: on.new(),
           "New job", "file-plus", "Ctrl+N", "file"),
    Action("file.run", lambda on: on.run_script(),
           "Run a script…", "scroll-text", "Ctrl+Shift+O", "file", needs_link=True),
    Action("file.open", lambda on: on.open(),
           "Open…", "folder-open", "Ctrl+O", "file"),
    Action("file.save", lambda on: on.save(),
           "Save description", "save", "Ctrl+S", "file", local=True, needs_editor=True),
    Action("file.save_as", lambda on: on.save_as(),
           "Save description as…", "", "Ctrl+Shift+S", "file", local=True, needs_editor=True),
    Action("file.template", lambda on: on.save_template(),
           "Save as template…", "bookmark-plus", "", "file", needs_editor=True),
    Action("file.submit", lambda on: on.submit(),
           "Submit", "send", "Ctrl+Return", "file", needs_link=True, local=True),
    Action("file.sample", lambda on: on.show_page("welcome"),
           "Run a sample…", "flask-conical", "", "file", menu="sample"),
    Action("site.add", lambda on: on.add_site(),
           "Add a site…", "server", "Ctrl+Shift+N", "file", needs_link=True, menu="sample"),
    Action("tab.close", lambda on: on.close_tab(),
           "Close tab", "x", "Ctrl+W", "file", menu="close"),
    Action("app.quit", lambda on: on.quit(),
           "Quit", "", "Ctrl+Q", "file", menu="close"),
    Action("job.story", lambda on: on.jobs.show("story"),
           "Show story", "history", "S", "job", any_job, selected=ONE),
    Action("job.logs", lambda on: on.jobs.show("logs"),
           "Show logs", "scroll-text", "L", "job", any_job, selected=ONE),
    Action("job.output", lambda on: on.jobs.show("output"),
           "Show output", "package-open", "O", "job", any_job, selected=ONE),
    Action("job.console", lambda on: on.jobs.show("console"),
           "Show console", "terminal", "C", "job", interactive, selected=ONE),
    Action("job.why", lambda on: on.jobs.why(),
           "Where could it run?", "route", "W", "job", any_job, selected=ONE),
    Action("job.compare", lambda on: on.compare(),
           "Compare", "columns-2", "M", "job", any_job, True, selected=COMPARED),
    Action("job.fetch", lambda on: on.jobs.fetch(),
           "Fetch output…", "download", "Ctrl+S", "job", may_have_output, True, "do", many="Fetch {}…"),
    Action("job.fetch_again", lambda on: on.jobs.fetch_again(),
           "Fetch output to the last folder", "download", "Ctrl+Alt+S", "job", may_have_output, True, "do",
           many="Fetch {} to the last folder"),
    Action("job.rerun", lambda on: on.jobs.rerun(),
           "Rerun", "refresh-cw", "Ctrl+Shift+R", "job", failed, True, "do", many="Rerun {} failed"),
    Action("job.rerun_changed", lambda on: on.jobs.rerun_changed(),
           "Rerun with changes…", "pencil", "", "job", failed, True, "do",
           many="Rerun {} failed with changes…"),
    Action("job.open_batch", lambda on: on.jobs.open_batch(),
           "Open batch", "rows-2", "Alt+Return", "job", member),
    Action("job.resubmit", lambda on: on.jobs.resubmit(),
           "Resubmit", "rotate-cw", "Ctrl+R", "job", any_job, True, "do", many="Resubmit {}"),
    Action("job.batch", lambda on: on.jobs.resubmit(batch=True),
           "Queue as batch job", "layers", "", "job", refused, True, "do"),
    Action("job.edit", lambda on: on.jobs.edit(),
           "New like this…", "pencil", "Ctrl+E", "job", any_job, True, "do", selected=ONE),
    Action("job.template", lambda on: on.jobs.save_template(),
           "Save as template…", "", "", "job", any_job, True, "do", selected=ONE),
    Action("job.hold", lambda on: on.jobs.hold(),
           "Hold", "pause", "H", "job", holdable, True, "hold", many="Hold {}"),
    Action("job.release", lambda on: on.jobs.release(),
           "Release", "play", "Shift+H", "job", held, True, "hold", many="Release {}"),
    Action("job.elsewhere", lambda on: on.jobs.elsewhere(),
           "Run elsewhere…", "route", "", "job", unheard, True, "hold", many="Run {} elsewhere…"),
    Action("job.cancel", lambda on: on.jobs.cancel(),
           "Cancel…", "ban", "Del", "job", cancelable, True, "hold", many="Cancel {}…"),
    Action("job.purge", lambda on: on.jobs.purge(),
           "Remove with files…", "trash-2", "Shift+Del", "job", ended, True, "hold",
           many="Remove {} with files…"),
    Action("job.tags", lambda on: on.jobs.tag(),
           "Tags…", "tag", "T", "job", any_job, True, "mark", many="Tags of {}…"),
    Action("job.copy_id", lambda on: on.jobs.copy_ids(),
           "Copy id", "copy", "Ctrl+C", "job", any_job, menu="copy"),
    Action("job.copy_command", lambda on: on.jobs.copy_command(),
           "Copy as command", "terminal", "Ctrl+Shift+C", "job", any_job, menu="copy"),
    Action("jobs.filter", lambda on: on.filter(),
           "Filter jobs", "list-filter", "Ctrl+F", "jobs"),
    Action("jobs.search_logs", lambda on: on.search_logs(),
           "Search in logs…", "search", "Ctrl+Shift+F", "jobs"),
    Action("jobs.save_query", lambda on: on.save_query(),
           "Save this query…", "bookmark-plus", "Ctrl+D", "jobs"),
    Action("jobs.project", lambda on: on.save_query(project=True),
           "New project…", "folder", "", "jobs"),
    Action("jobs.unfold", lambda on: on.fold_batches(unfold=True),
           "Unfold all batches", "chevron-down", "Ctrl+Shift+Right", "jobs", menu="fold"),
    Action("jobs.fold", lambda on: on.fold_batches(unfold=False),
           "Fold all batches", "chevron-right", "Ctrl+Shift+Left", "jobs", menu="fold"),
    Action("jobs.columns", lambda on: on.columns(),
           "Choose columns…", "columns-3", "", "jobs", menu="columns"),
    Action("jobs.export", lambda on: on.export(),
           "Export as CSV…", "file-text", "Ctrl+Shift+S", "jobs", menu="columns"),
    Action("view.jobs", lambda on: on.show_page("jobs"),
           "Jobs", "inbox", "Ctrl+1", "view"),
    Action("view.sites", lambda on: on.show_page("sites"),
           "Sites", "server", "Ctrl+2", "view"),
    Action("view.statistics", lambda on: on.show_page("statistics"),
           "Statistics", "chart-column", "Ctrl+3", "view"),
    Action("view.welcome", lambda on: on.show_page("welcome"),
           "Welcome", "rocket", "Ctrl+4", "view"),
    Action("view.resources", lambda on: on.show_page("resources"),
           "Resources", "cpu", "Ctrl+5", "view"),
    Action("view.scheduler", lambda on: on.show_page("scheduler"),
           "Scheduler", "list-tree", "Ctrl+6", "view"),
    Action("view.match", lambda on: on.show_page("match"),
           "Where could it run?", "route", "Ctrl+7", "view"),
    Action("view.simulation", lambda on: on.show_page("simulation"),
           "Simulator", "flask-conical", "Ctrl+8", "view"),
    Action("view.slots", lambda on: on.show_page("slots"),
           "Slots", "rows-2", "Ctrl+9", "view"),
    Action("view.sidebar", lambda on: on.toggle_pane("left"),
           "Sidebar", "panel-left", "Ctrl+B", "view", menu="panes"),
    Action("view.inspector", lambda on: on.toggle_pane("right"),
           "Inspector", "panel-right", "Ctrl+I", "view", menu="panes"),
    Action("view.bottom", lambda on: on.toggle_pane("bottom"),
           "Activity", "panel-bottom", "Ctrl+J", "view", menu="panes"),
    Action("view.reset", lambda on: on.reset_layout(),
           "Reset layout", "undo-2", "", "view", menu="panes"),
    Action("view.next_pane", lambda on: on.step_pane(1),
           "Next pane", "", "F6", "view", menu="panes"),
    Action("view.previous_pane", lambda on: on.step_pane(-1),
           "Previous pane", "", "Shift+F6", "view", menu="panes"),
    Action("view.theme", lambda on: on.theme(),
           "Light or dark", "contrast", "Ctrl+Shift+T", "view", menu="theme"),
    Action("view.larger", lambda on: on.resize(1),
           "Zoom in", "zoom-in", "Ctrl++", "view", menu="theme"),
    Action("view.smaller", lambda on: on.resize(-1),
           "Zoom out", "zoom-out", "Ctrl+-", "view", menu="theme"),
    Action("view.zoom_reset", lambda on: on.resize(0),
           "Reset zoom", "", "Ctrl+0", "view", menu="theme"),
    Action("app.palette", lambda on: on.open_palette(),
           "Search and commands", "search", "Ctrl+K", "help", also="Ctrl+Shift+K"),
    Action("app.settings", lambda on: on.settings(),
           "Settings…", "settings", "Ctrl+,", "help"),
    Action("link.retry", lambda on: on.connect_now(),
           "Connect to the broker now", "plug", "", "help", without_link=True),
    Action("broker.start", lambda on: on.connect_now(),
           "Start the broker", "play", "", "help", without_link=True),
    Action("help.contents", lambda on: on.help(),
           "Help", "book-open", "F1", "help", menu="help"),
    Action("help.shortcuts", lambda on: on.shortcuts(),
           "Keyboard shortcuts", "keyboard", "?", "help", menu="help"),
    Action("help.problem", lambda on: on.problem(),
           "Problem details", "bug", "", "help", menu="help"),
    Action("help.about", lambda on: on.about(),
           "About CrossDesk", "info", "", "help", menu="help"),
)
"""The table. Its order is the order of menus and of the palette."""
# fmt: on

BY_ID = {action.id: action for action in ACTIONS}
