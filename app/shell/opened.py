"""What was open and selected when the window was closed, and is so again at the next start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from app.jobs.pane import JobsPane
    from app.shell.handlers import Handlers
    from app.shell.tabs import MainTabs
    from app.shell.window_context import WindowContext
    from app.stores.jobs import JobStore

_MOST_TABS, _MOST_SELECTED, _MOST_UNFOLDED, _MOST_BROKERS = 12, 200, 200, 20
_VIEWS = frozenset(
    {"jobs", "sites", "statistics", "resources", "scheduler", "match", "simulation", "slots", "welcome"}
)


_OF_JOBS = frozenset({"job", "batch", "compare"})
"""Tabs that wait until the jobs are known."""

_Tab = tuple[str, str]


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
    """Remember the place, what was open and in front, the selected jobs, and the unfolded batches."""
    preferences = window.context.preferences
    view = window.tabs.view()
    preferences["page"] = view if view in _VIEWS else "jobs"
    preferences["open_tabs"] = window.tabs.open_documents()[:_MOST_TABS]
    preferences["front_tab"] = window.tabs.document(window.tabs.currentWidget())
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
    tabs, (front, *_) = _read(preferences["open_tabs"]), [*_read([preferences["front_tab"]]), ("", "")]
    files = [Path(name) for kind, name in tabs if kind == "file" and Path(name).is_file()]
    for path in files:
        window.handlers.open_file(path)
    later = [tab for tab in tabs if tab[0] in _OF_JOBS]
    selected = [str(job) for job in preferences["selected_jobs"]]
    unfolded = preferences["unfolded"].get(window.context.broker)
    window.jobs.table.view.unfolded.update(map(str, unfolded if isinstance(unfolded, list) else ()))
    if preferences["page"] in _VIEWS:
        window.handlers.show_page(preferences["page"])
    if front[0] == "file" and Path(front[1]) in files:
        window.handlers.open_file(Path(front[1]))
    if later or selected:
        _when_loaded(window, later, front, selected)


def _read(stored: list[Any]) -> list[_Tab]:
    return [(str(one[0]), str(one[1])) for one in stored if isinstance(one, list) and len(one) == 2]


def _when_loaded(window: OpenWindow, later: list[_Tab], front: _Tab, selected: list[str]) -> None:
    rows = window.context.jobs

    def show() -> None:
        rows.loaded.disconnect(show)
        before = window.tabs.currentWidget()
        known = [tab for tab in later if _is_known(rows, *tab)]
        for kind, name in known:
            _open(window, kind, name)
        if front in known:
            _open(window, *front)
        else:
            window.tabs.show_page(before)
        window.choose_again([job for job in selected if rows.row(job) is not None])

    rows.loaded.connect(show)


def _is_known(rows: JobStore, kind: str, name: str) -> bool:
    if kind == "batch":
        return bool(rows.of_batch.get(name))
    return all(rows.row(job) is not None for job in name.split(","))


def _open(window: OpenWindow, kind: str, name: str) -> None:
    if kind == "job":
        window.open_job(name)
    elif kind == "batch":
        window.handlers.show_batch(name)
    else:
        window.handlers.compare_jobs(name.split(","))
