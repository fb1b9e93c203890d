"""All pages of the window, and its dialogs."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtWidgets import QDialog

from app.shell import sheets
from app.shell.settings import SettingsDialog
from app.sites.adding.sheet import AddSite
from app.submission.draft import JobDraft
from app.submission.sheet import SubmissionSheet
from tests.app.windows import Stage

PAGES = (
    "view.jobs", "view.sites", "view.statistics", "view.resources", "view.scheduler", "view.match",
    "view.simulation", "view.slots", "view.welcome", "help.contents", "file.new",
)  # fmt: skip
"""Actions that show them."""


def made_dialogs(on: Stage) -> Iterator[tuple[str, QDialog]]:
    window, handlers = on.window, on.window.handlers
    yield "submission", SubmissionSheet(on.context, (JobDraft("a", 'Executable = "/bin/echo";'),), window)
    yield "settings", SettingsDialog(on.context, window)
    yield "shortcuts", sheets.shortcuts(window)
    yield "about", sheets.about(window, on.context.theme, on.context.link.broker)
    yield "add a site", AddSite(on.context, handlers.site_commands, handlers.answers, window)
