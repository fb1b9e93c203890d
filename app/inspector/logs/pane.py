"""The Logs tab: any file of a job, live and after the end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from app.inspector import job_times
from app.inspector.logs.feed import LogFeed
from app.inspector.logs.file_tabs import STREAMS, FileTabs
from app.inspector.logs.find_bar import FindBar
from app.inspector.logs.search import first_error
from app.inspector.logs.view import LogView
from app.inspector.save_files import save_one
from app.widgets.empty_state import EmptyState
from app.widgets.job_pane import JobPane
from app.widgets.labels import label
from broker_core.jobs.outcome import Outcome, outcome_of
from broker_core.jobs.states import JobState

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.errors import CrossDeskError
    from broker_core.wire.views import OutputFile

_ROOMY = 480
"""Pixels from which words stand beside the icons."""


class LogsPane(JobPane):
    """Standard output, standard error or any file, with search and the way to the first error."""

    title = "Logs"

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.chooser, self.view = FileTabs(context), LogView(context)
        self.finder = FindBar(context, self.view)
        self.quiet, self.measure = EmptyState(context), label(role="small", fluid=True)
        self.feed: LogFeed | None = None
        self.files: list[OutputFile] = []
        self._chosen = ""
        self._picked = False
        """The user chose it; what was chosen for him gives way to what tells more."""
        self._line: tuple[str, int] | None = None
        """File and offset of a line that is to come into view as soon as it is here."""
        self._seeking: LogFeed | None = None
        """A file of a failed job that is shown at its first error as soon as all of it is here."""
        self._buttons()
        self._fill()
        self.chooser.chosen.connect(self.show_file)
        self.view.follow_changed.connect(self.follow.setChecked)
        self.view.find_asked.connect(self.finder.begin)
        self.view.error_asked.connect(self.go_to_error)

    def _buttons(self) -> None:
        self.error = self._button("bug", "First error", "Go to the first error", self.go_to_error, "F8")
        self.wrap = self._button("align-left", "Wrap", "Wrap long lines", self._wrap, "", check=True)
        self.follow = self._button("arrow-down", "Follow", "Follow the end", self.view.follow, "", check=True)
        self.look = self._button("search", "Find", "Find", self.finder.begin, "Ctrl+F")
        self.save = self._button("save", "Save", "Save as…", self._save, "")
        self.wrap.setChecked(self.context.preferences["wrap_logs"])
        self.follow.setChecked(True)

    def _wrap(self, on: bool) -> None:
        self.context.preferences["wrap_logs"] = on
        self.view.set_wrap(on)

    def _button(
        self, icon: str, word: str, said: str, does: object, keys: str, check: bool = False
    ) -> QToolButton:
        button = QToolButton()
        button.setText(word)
        button.setIcon(self.context.theme.icon(icon))
        button.setToolTip(f"{said} ({keys})" if keys else said)
        button.setAccessibleName(said)
        button.setCheckable(check)
        if check:
            button.toggled.connect(does)
        else:
            button.clicked.connect(lambda: does())  # type: ignore[operator]
        return button

    def _fill(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(8, 4, 8, 4)
        bar.setSpacing(2)
        bar.addWidget(self.chooser, 1)
        for button in (self.look, self.error):
            bar.addWidget(button)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.view)
        self._pages.addWidget(self.quiet)
        self.quiet.acted.connect(self._save)
        column = QVBoxLayout(self.content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(bar)
        column.addWidget(self.finder)
        column.addWidget(self._pages, 1)
        foot = QHBoxLayout()
        foot.setContentsMargins(12, 2, 8, 4)
        foot.setSpacing(2)
        foot.addWidget(self.measure, 1)
        for button in (self.wrap, self.follow, self.save):
            foot.addWidget(button)
        column.addLayout(foot)
        self.finder.hide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Words stand beside the icons where there is room for them."""
        super().resizeEvent(event)
        style = Qt.ToolButtonStyle
        shown = style.ToolButtonTextBesideIcon if self.width() >= _ROOMY else style.ToolButtonIconOnly
        for button in (self.look, self.error, self.wrap, self.follow, self.save):
            button.setToolButtonStyle(shown)

    async def load(self, job: str) -> list[OutputFile]:
        """Ask which files there are."""
        return await self.context.client.files(job)

    def clear(self) -> None:
        """Stop copying the file shown before."""
        self._drop_feed()
        self.files, self._chosen, self._picked, self._line, self._seeking = [], "", False, None, None
        self.finder.close_bar()

    def _drop_feed(self) -> None:
        if self.feed is not None:
            self.feed.close()
            self.feed.deleteLater()
            self.feed = None

    def render_answer(self, answer: list[OutputFile]) -> None:
        """Offer the files, and show the one chosen, or the one that tells most."""
        self.files = sorted(answer, key=lambda one: (one.role != "stdout", one.role != "stderr", one.path))
        if self._line is not None:
            self._chosen, self._picked = self._line[0], True
        if not self._picked and all(one.role == "input" for one in self.files):
            self._say_nothing()
            return
        if self._may_change():
            self._chosen = telling(self.files, failed=self._failed_job()).path
        self.chooser.show_files(self.files, self._chosen)
        self._show_file(next(one for one in self.files if one.path == self._chosen))

    def _may_change(self) -> bool:
        """True if another file may be shown than before: nobody reads that one, or its job has failed."""
        shown = next((one for one in self.files if one.path == self._chosen), None)
        if shown is None or self._picked:
            return shown is None
        if shown.role in STREAMS and shown.size:
            return self._failed_job() and self.view.following
        return True

    def showEvent(self, event: QShowEvent) -> None:
        """Go on looking for new lines."""
        super().showEvent(event)
        if self.feed is not None:
            self.feed.watched = True
            self.feed.look(self.feed.growing)

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody sees new lines: do not ask for them."""
        super().hideEvent(event)
        if self.feed is not None:
            self.feed.watched = False

    def _say_nothing(self) -> None:
        row = self.context.jobs.row(self.job or "") or {}
        if row and JobState(row["state"]).active:
            self.show_empty_state(
                "scroll-text",
                "No output yet",
                "What the job writes appears here as soon as it runs, line by line.",
            )
        else:
            self.show_empty_state(
                "scroll-text", "Nothing was written", "The job left no output. Its story tells how it ended."
            )

    def _failed_job(self) -> bool:
        row = self.context.jobs.row(self.job or "")
        return row is not None and outcome_of(row["state"], row.get("exit_code")) is Outcome.FAILED

    def show_file(self, path: str) -> None:
        """Show this file of the job."""
        for one in self.files:
            if one.path == path:
                self._chosen, self._picked = path, True
                self.chooser.show_files(self.files, path)
                self._show_file(one)

    def show_line(self, path: str, offset: int) -> None:
        """Show this file of the job at the line that begins at `offset`, once it is here."""
        self._line = (path, offset)
        if any(one.path == path for one in self.files):
            self.show_file(path)

    def _go_to_line(self, feed: LogFeed) -> None:
        if self._line is None or self._line[0] != feed.path or feed.spool.size <= self._line[1]:
            return
        row = feed.spool.row_of(self._line[1])
        self._line = None
        self.follow.setChecked(False)
        self.view.go_to(row)
        self.view.mark(None, row)

    def _show_file(self, file: OutputFile) -> None:
        if self.feed is not None and self.feed.path == file.path:
            self.feed.look(file.growing)
            self._grown()
            return
        self._drop_feed()
        self.finder.close_bar()
        self.feed = LogFeed(self.context, self.job or "", file.path, file.growing, self)
        self.feed.grown.connect(self._grown)
        self.feed.failed.connect(self._failed)
        failed = self._failed_job()
        at_end = file.growing or failed
        self._seeking = self.feed if failed and file.role in STREAMS else None
        self.follow.setChecked(at_end)
        self.view.follow(at_end)
        self.view.show_spool(self.feed.spool)
        self.finder.set_spool(self.feed.spool)
        self.feed.start()

    def _grown(self) -> None:
        feed = self.feed
        if feed is None:
            return
        if self.finder.spool is not feed.spool:
            self.view.show_spool(feed.spool)
            self.finder.set_spool(feed.spool)
        self._tell_size(feed)
        if feed.spool.binary:
            self.quiet.say(
                "file",
                "A binary file",
                f"{feed.path} holds {job_times.size(feed.size or 0)} that are not "
                "text. Save it to open it with its own program.",
                "Save as…",
            )
        elif feed.complete and not feed.spool.size:
            more = feed.growing
            self.quiet.say(
                "scroll-text",
                "Empty so far" if more else "Empty",
                "Lines appear here as the job writes them."
                if more
                else f"The job wrote nothing to {feed.path}.",
            )
        else:
            self._pages.setCurrentWidget(self.view)
            self.view.refresh()
            self.finder.more()
            if self._line is not None:
                self._seeking = None
                self._go_to_line(feed)
            elif feed.complete and self._seeking is feed:
                self._seeking = None
                self.context.run(self._go_to_error(feed, quietly=True), "looking for errors")
            return
        self._pages.setCurrentWidget(self.quiet)

    def _tell_size(self, feed: LogFeed) -> None:
        said = job_times.size(feed.size or 0)
        if not feed.complete:
            said = f"{job_times.size(feed.spool.size)} of {said}"
        if not feed.spool.binary:
            said = f"{job_times.count(feed.spool.index.lines, 'line')}, {said}"
        self.measure.setText(f"{said}, still growing" if feed.growing else said)

    def _failed(self, error: CrossDeskError) -> None:
        if self.feed is not None and not self.feed.spool.size:
            self.quiet.say("circle-alert", "This file could not be read", str(error), token="negative")
            self._pages.setCurrentWidget(self.quiet)
        else:
            self.measure.setText(f"Stopped: {error}")

    def go_to_error(self) -> None:
        """Bring the first error into view, or say that there is none."""
        if self.feed is not None:
            self.context.run(self._go_to_error(self.feed), "looking for errors")

    async def _go_to_error(self, feed: LogFeed, *, quietly: bool = False) -> None:
        """`quietly`: without a word, and only if the user has not scrolled meanwhile."""
        spool = feed.spool
        offset = await asyncio.to_thread(first_error, spool)
        if feed is not self.feed or (quietly and not self.view.following):
            return
        if offset is not None:
            row = spool.row_of(offset)
            self.view.go_to(row)
            self.view.mark(None, row)
        if quietly:
            return
        if offset is None:
            self.finder.say("No error found")
        else:
            self.finder.say(f"First error in line {spool.read_rows(row, 1)[0].number:,}")

    def _save(self) -> None:
        if self.job and self._chosen:
            save_one(self, self.context, self.job, self._chosen)


def telling(files: list[OutputFile], *, failed: bool = False) -> OutputFile:
    """Choose the file to show first: output, or errors where only these say something or the job failed."""
    said = [one for one in files if one.size and one.role in STREAMS]
    if failed:
        said.sort(key=lambda one: one.role != "stderr")
    return (said or [one for one in files if one.role != "input"] or files)[0]
