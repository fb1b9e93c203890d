"""Every action of the desk, in one table: menus, toolbar, palette and keys are made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from broker_core.jobs.states import JobState

Row = Mapping[str, Any]
Enabled = Callable[[Sequence[Row]], bool]
"""Selected rows (JobRecord field to value; of very many a sample) to whether the action applies."""


def _any(test: Callable[[Row], bool]) -> Enabled:
    return lambda rows: any(test(row) for row in rows)


def _state(row: Row) -> JobState:
    return JobState(row["state"])


some = _any(lambda row: True)
active = _any(lambda row: _state(row).active)
ended = _any(lambda row: _state(row).ended)
held = _any(lambda row: bool(row["held"]) and _state(row) is JobState.WAITING)
holdable = _any(lambda row: _state(row) in (JobState.SUBMITTED, JobState.WAITING) and not row["held"])


unheard = _any(lambda row: bool(row.get("unheard")) and _state(row).active)

refused = _any(
    lambda row: bool(row.get("interactive")) and not row.get("started") and _state(row) is JobState.ABORTED
)
"""Interactive jobs that did not find a place at once."""


def single(rows: Sequence[Row]) -> bool:
    """Exactly one job."""
    return len(rows) == 1


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be done, by its name on buttons and in menus."""

    id: str
    text: str
    icon: str = ""
    """Lucide name."""
    shortcut: str = ""
    group: str = "app"
    """Menu it stands in: file, job, jobs, view, help."""
    enabled: Enabled | None = None
    """None: always."""
    needs_link: bool = False
    """Disabled while the broker is not connected."""
    menu: str = ""
    """Actions of a group with the same word stand together, with rules between them."""
    without_link: bool = False
    """Disabled while the broker is connected."""
    local: bool = False
    """The view that does it listens to the keys itself; here they are only shown."""


ACTIONS: tuple[Action, ...] = (
    Action("file.new", "New description", "file-plus", "Ctrl+N", "file"),
    Action("file.open", "Open…", "folder-open", "Ctrl+O", "file"),
    Action("file.submit", "Submit", "send", "Ctrl+Return", "file", needs_link=True, local=True),
    Action("file.sample", "Run a sample…", "flask-conical", "", "file", menu="sample"),
    Action("site.add", "Add a site…", "server", "Ctrl+Shift+N", "file", needs_link=True, menu="sample"),
    Action("tab.close", "Close tab", "x", "Ctrl+W", "file", menu="close"),
    Action("app.quit", "Quit", "", "Ctrl+Q", "file", menu="close"),
    Action("job.story", "Show story", "history", "S", "job", single),
    Action("job.logs", "Show logs", "scroll-text", "L", "job", single),
    Action("job.output", "Show output", "package-open", "O", "job", single),
    Action("job.console", "Show console", "terminal", "C", "job", single),
    Action("job.why", "Why here, why waiting", "circle-question-mark", "W", "job", single),
    Action("job.fetch", "Fetch output…", "download", "Ctrl+S", "job", ended, True, "do"),
    Action("job.resubmit", "Resubmit", "rotate-cw", "Ctrl+R", "job", some, True, "do"),
    Action("job.batch", "Queue as batch", "layers", "", "job", refused, True, "do"),
    Action("job.edit", "Edit and resubmit…", "pencil", "Ctrl+E", "job", single, True, "do"),
    Action("job.hold", "Hold", "pause", "H", "job", holdable, True, "hold"),
    Action("job.release", "Release", "play", "Shift+H", "job", held, True, "hold"),
    Action("job.elsewhere", "Run elsewhere…", "route", "", "job", unheard, True, "hold"),
    Action("job.cancel", "Cancel…", "ban", "Del", "job", active, True, "hold"),
    Action("job.purge", "Remove with files…", "trash-2", "Shift+Del", "job", ended, True, "hold"),
    Action("job.copy_id", "Copy id", "copy", "Ctrl+C", "job", some, menu="copy"),
    Action("job.copy_command", "Copy as command", "terminal", "Ctrl+Shift+C", "job", some, menu="copy"),
    Action("jobs.filter", "Filter jobs", "list-filter", "Ctrl+F", "jobs"),
    Action("jobs.save_query", "Save this query…", "bookmark-plus", "Ctrl+D", "jobs"),
    Action("jobs.unfold", "Unfold all batches", "chevron-down", "Ctrl+Shift+Right", "jobs", menu="fold"),
    Action("jobs.fold", "Fold all batches", "chevron-right", "Ctrl+Shift+Left", "jobs", menu="fold"),
    Action("jobs.columns", "Choose columns…", "columns-3", "", "jobs", menu="columns"),
    Action("jobs.export", "Export as CSV…", "file-text", "Ctrl+Shift+S", "jobs", menu="columns"),
    Action("view.jobs", "Jobs", "inbox", "Ctrl+1", "view"),
    Action("view.sites", "Sites", "server", "Ctrl+2", "view"),
    Action("view.statistics", "Statistics", "chart-column", "Ctrl+3", "view"),
    Action("view.welcome", "Welcome", "rocket", "Ctrl+4", "view"),
    Action("view.resources", "Resources", "cpu", "Ctrl+5", "view"),
    Action("view.scheduler", "Scheduler", "list-tree", "Ctrl+6", "view"),
    Action("view.match", "Where could this run?", "route", "Ctrl+7", "view"),
    Action("view.simulation", "Simulator", "flask-conical", "Ctrl+8", "view"),
    Action("view.sidebar", "Sidebar", "panel-left", "Ctrl+B", "view", menu="panes"),
    Action("view.inspector", "Inspector", "panel-right", "Ctrl+I", "view", menu="panes"),
    Action("view.bottom", "Activity", "panel-bottom", "Ctrl+J", "view", menu="panes"),
    Action("view.reset", "Reset layout", "undo-2", "", "view", menu="panes"),
    Action("view.theme", "Light or dark", "contrast", "Ctrl+Shift+T", "view", menu="theme"),
    Action("view.larger", "Larger text", "zoom-in", "Ctrl++", "view", menu="theme"),
    Action("view.smaller", "Smaller text", "zoom-out", "Ctrl+-", "view", menu="theme"),
    Action("app.palette", "Search and commands", "search", "Ctrl+K", "help"),
    Action("app.settings", "Settings…", "settings", "Ctrl+,", "help"),
    Action("link.retry", "Connect to the broker now", "plug", "", "help", without_link=True),
    Action("broker.start", "Start the broker", "play", "", "help", without_link=True),
    Action("help.contents", "Help", "book-open", "F1", "help", menu="help"),
    Action("help.shortcuts", "Keyboard shortcuts", "keyboard", "?", "help", menu="help"),
    Action("help.about", "About CrossDesk", "info", "", "help", menu="help"),
)
"""The table. Its order is the order of menus and of the palette."""

BY_ID = {action.id: action for action in ACTIONS}
GROUPS = {"file": "File", "job": "Job", "jobs": "Table", "view": "View", "help": "Desk and help"}
"""Group to its title."""
