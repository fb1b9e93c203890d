"""What was open and selected when the window was closed, and is so again at the next start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from app.jobs.pane import JobsPane
    from app.shell.handlers import Handlers
    from app.shell.tabs import MainTabs
    from app.shell.window_context import WindowContext

_MOST_TABS, _MOST_SELECTED, _MOST_UNFOLDED, _MOST_BROKERS = 12, 200, 200, 20
_VIEWS = frozenset(
    {"jobs", "sites", "statistics", "resources", "scheduler", "match", "simulation", "welcome"}
)


class OpenWindow(Protocol):
    """The window as far as it is remembered."""

    context: WindowContext
    tabs: MainTabs
    jobs: JobsPane
    handlers: Handlers

    def open_job(self, job: str, view: str = "") -> None:
        """Open a job in a tab of its own."""
        ...

    def choose_again(self, ids: list[str]) -> None:
        """Select jobs as far as the query shows them."""
        ...


def keep(window: OpenWindow) -> None:
    """Remember place, open jobs and descriptions, the selected jobs, and the unfolded batches."""
    preferences = window.context.preferences
    view = window.tabs.view()
    preferences["page"] = view if view in _VIEWS else "jobs"
    preferences["open_tabs"] = window.tabs.open_documents()[:_MOST_TABS]
    preferences["selected_jobs"] = window.jobs.view.chosen()[:_MOST_SELECTED]
    others = {key: ids for key, ids in preferences["unfolded"].items() if key != window.context.broker}
    newest = list(others.items())[-_MOST_BROKERS:]
    preferences["unfolded"] = dict(newest) | {window.context.broker: _unfolded(window)}


def _unfolded(window: OpenWindow) -> list[str]:
    """Ids of the batches that were unfolded and are there still."""
    rows, known = window.context.jobs, window.jobs.table.view.unfolded
    there = [batch for batch in known if not rows.complete or batch in rows.of_batch]
    return sorted(there)[:_MOST_UNFOLDED]


def reopen(window: OpenWindow) -> None:
    """Open all that again; files that are gone are left out without a word, jobs once they are known."""
    preferences = window.context.preferences
    tabs = [tab for tab in preferences["open_tabs"] if isinstance(tab, list) and len(tab) == 2]
    for _, name in (tab for tab in tabs if tab[0] == "file" and Path(str(tab[1])).is_file()):
        window.handlers.open_file(Path(name))
    jobs = [str(name) for kind, name in tabs if kind == "job"]
    selected = [str(job) for job in preferences["selected_jobs"]]
    unfolded = preferences["unfolded"].get(window.context.broker)
    window.jobs.table.view.unfolded.update(map(str, unfolded if isinstance(unfolded, list) else ()))
    if preferences["page"] in _VIEWS:
        window.handlers.show_page(preferences["page"])
    if jobs or selected:
        _when_loaded(window, jobs, selected)


def _when_loaded(window: OpenWindow, jobs: list[str], selected: list[str]) -> None:
    rows = window.context.jobs

    def show() -> None:
        rows.loaded.disconnect(show)
        front = window.tabs.currentWidget()
        for job in jobs:
            if rows.row(job) is not None:
                window.open_job(job)
        window.tabs.show_page(front)
        window.choose_again([job for job in selected if rows.row(job) is not None])

    rows.loaded.connect(show)
