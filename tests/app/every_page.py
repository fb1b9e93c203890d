"""All pages of the window, and its dialogs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

from PySide6.QtWidgets import QDialog

from app.drops.folder import FolderSheet
from app.drops.script import ScriptSheet
from app.editor.form.presets import PresetSheet
from app.inspector.batch.page import BatchPage
from app.jobs.annotating import TagSheet
from app.jobs.rerun_sheet import RerunSheet
from app.shell import sheets
from app.shell.project_sheet import ProjectSheet
from app.shell.settings import SettingsDialog
from app.sites.adding.sheet import AddSite
from app.sites.changing import ChangeSite
from app.stores.saved_queries import SavedQuery
from app.submission.draft import JobDraft
from app.submission.sheet import SubmissionSheet
from app.widgets.save_dialog import FileDialog
from tests.app.sites.made_up import site
from tests.app.windows import Stage, turns
from tests.broker.jobs import submit
from tests.waiting import eventually

PAGES = (
    "view.jobs", "view.sites", "view.statistics", "view.resources", "view.scheduler", "view.match",
    "view.simulation", "view.slots", "view.welcome", "help.contents", "file.new",
)  # fmt: skip
"""Actions that show them."""
_SWEEP = """
JobName = "a sweep with a rather long name"; JobType = "Parametric"; Parameters = {1, 2, 3, "a long value"};
Executable = "/bin/sh"; StdOutput = "out.csv"; StdError = "err.txt"; Arguments = "-c '{}'";
"""
_RUN = "echo loss,0.5; [ _PARAM_ != 3 ] || { echo error: no convergence after 100 iterations >&2; exit 3; }"


async def ended_batch(on: Stage) -> list[str]:
    """The jobs of a small sweep of which one fails, all ended."""
    jobs = (await submit(on.context.client, _SWEEP.replace("{}", _RUN))).ids
    await eventually(lambda: all(map(on.ended, jobs)), what="the sweep ends")
    return jobs


async def opened_pages(on: Stage, jobs: Sequence[str]) -> AsyncIterator[str]:
    """Open one after the other what is opened for some jobs: those of a batch that has ended."""
    handlers, batch = on.window.handlers, (on.context.jobs.row(jobs[0]) or {})["batch"]
    handlers.search_logs()
    yield "search in logs"
    handlers.compare_jobs(list(jobs[1:3]))
    await turns(30)
    yield "comparison"
    handlers.show_batch(batch)
    page = on.window.tabs.currentWidget()
    assert isinstance(page, BatchPage)
    for number in range(page.tabs.count()):
        page.tabs.setCurrentIndex(number)
        await turns(30)
        yield f"batch: {page.tabs.tabText(number)}"


def made_dialogs(on: Stage, jobs: Sequence[str] = ("made-up",)) -> Iterator[tuple[str, QDialog]]:
    """`jobs`: those that the dialogs are about."""
    context, window, handlers = on.context, on.window, on.window.handlers
    yield "submission", SubmissionSheet(context, (JobDraft("a", 'Executable = "/bin/echo";'),), window)
    yield "settings", SettingsDialog(context, window)
    yield "shortcuts", sheets.shortcuts(window)
    yield "about", sheets.about(window, context.theme, context.link.broker)
    yield "add a site", AddSite(context, handlers.site_commands, handlers.answers, window)
    yield "change a site", ChangeSite(context, site("vega", host="login.vega.example.org"), window)
    yield "rerun with changes", RerunSheet(context, list(jobs), window)
    yield "tags and note", TagSheet(context, list(jobs), window)
    yield "project", ProjectSheet(context, SavedQuery("Spring", "tag:spring", folder="/tmp"), window)
    yield "presets", PresetSheet(context.theme, context.presets, window)
    yield "folder", FolderSheet(context, Path(__file__).parents[2] / "resources/samples", window)
    yield "script", ScriptSheet(context, "#!/bin/sh\necho from text\n", window)
    yield "file", FileDialog(window, "Open descriptions")
