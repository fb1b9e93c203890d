"""The console of the job in the inspector: kept while it lives, whatever else is selected (CB-UI-07)."""

from __future__ import annotations

from collections.abc import Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QStackedLayout, QWidget

from app.console.preload import ConsolePreload
from app.console.splits.arrangement import Arrangement, keep, kept, only
from app.console.splits.part import AGAIN, CONSOLE, SHELL, ConsolePart
from app.console.splits.splits import Splits
from app.widgets.job_pane import JobPane
from broker_core.client.connect import connect
from broker_core.jobs.states import JobState

if TYPE_CHECKING:
    from app.console.channel import Connect
    from app.console.services import ServicesView
    from app.console.view import ConsoleView
    from app.context import AppContext
    from broker_core.wire.views import JobDetail

_BEFORE = {
    JobState.SUBMITTED: ("The console opens when the job starts", "The broker is taking the job over."),
    JobState.WAITING: (
        "The console opens when the job starts",
        "It waits for a resource; Story says why.",
    ),
    JobState.READY: ("The console opens when the job starts", "A site was chosen and is being asked."),
    JobState.SCHEDULED: ("The console opens when the job starts", "It is in the site's queue."),
}
FIND_SERVICES = "Look for services"
_AS_BATCH = "As a batch job it waits for room; what the console would have shown goes into files."
_REFUSED = "No free CPU was found for it, and interactive jobs do not queue."


class ConsolePane(JobPane):
    """One tab; holds a console for each job that was opened here, with the parts that it was split into."""

    title = "Console"

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(context, parent)
        self.views: dict[str, ConsoleView] = {}
        """Job to its console, as long as it is kept."""
        self.services: dict[str, ServicesView] = {}
        """Batch job to its services, as long as they are shown here."""
        self.splits: dict[str, Splits] = {}
        """Job to its console with all that stands beside it."""
        self._taking = False
        self._shown = QStackedLayout(self.content)
        self._preload = ConsolePreload(self, lambda: context.jobs.complete)
        self._preload.changed.connect(self.refresh)
        self.empty_state.other_acted.connect(lambda: self._submit_again("job.batch"))

    def load(self, job: str) -> Coroutine[Any, Any, Any]:
        """The job as it is now."""
        return self.context.client.job(job)

    def render_answer(self, answer: JobDetail) -> None:
        """Show the console, or why there is none."""
        row = answer.row
        job, state = str(row["id"]), JobState(row["state"])
        if not row["interactive"]:
            self._show_services(job, state)
        elif job in self.views or state is JobState.RUNNING:
            self._show_console(job)
        elif state in _BEFORE:
            self.show_empty_state("hourglass", *_BEFORE[state])
        else:
            self._over(row)

    def _show_services(self, job: str, state: JobState) -> None:
        """Of a batch job: the services that it offers, where they were looked for."""
        view = self.services.get(job)
        if view is not None and state is JobState.RUNNING:
            self._shown.setCurrentWidget(view)
            return
        if view is not None:
            self._leave_services(job)
        runs = state is JobState.RUNNING
        why = "Only interactive jobs have one. Logs shows the output of this job."
        more = " Pages that it serves at its node can be opened." if runs else ""
        self.show_empty_state("terminal", "No console", why + more, FIND_SERVICES if runs else "")

    def _find_services(self, job: str) -> None:
        from app.console.services import ServicesView

        view = self.services[job] = ServicesView(self.context, job, self._connect)
        self._shown.addWidget(view)
        self.show_content()
        self._shown.setCurrentWidget(view)

    def _leave_services(self, job: str) -> None:
        view = self.services.pop(job)
        view.close_session()
        self._shown.removeWidget(view)
        view.deleteLater()

    def _show_console(self, job: str) -> None:
        if self._preload.asked():
            self._open(job)
        else:
            self.empty_state.load()
            self._stack.setCurrentWidget(self.empty_state)

    def _open(self, job: str) -> None:
        from app.console.view import ConsoleView

        if job not in self.views:
            self._drop_ended()
            view = self.views[job] = ConsoleView(self.context, job, self._connect)
            self._know(view, job)
            splits = self.splits[job] = Splits(self.context, view)
            self._shown.addWidget(splits)
            self._arrange(job)
            splits.changed.connect(lambda: keep(self.context.preferences, job, splits.arrangement(_kept_as)))
            if self._taking:
                view.take_over()
        self._shown.setCurrentWidget(self.splits[job])
        focused = self.window().focusWidget() in (self, self.focusProxy())
        self.setFocusProxy(self.views[job])
        if focused:
            self.views[job].setFocus()

    def take_over(self) -> None:
        """What is shown here is meant to be typed at: consoles have the input, also those that come."""
        self._taking = True
        for view in self.views.values():
            view.take_over()

    @property
    def _connect(self) -> Connect:
        return partial(connect, self.context.state_dir)

    def _know(self, part: ConsolePart, job: str) -> None:
        """Do what a part of the console of a job asks for."""
        part.split_asked.connect(lambda what, way: self._split(job, part, what, way))
        part.close_asked.connect(lambda: self._close_part(job, part))
        part.step_asked.connect(lambda way: self.splits[job].step(part, way))

    def _split(self, job: str, part: ConsolePart, what: str, way: Qt.Orientation) -> None:
        """Put a shell, the same console or that of another job beside a part."""
        shown = part.job if what in (SHELL, AGAIN) else what
        new = self._part(job, SHELL if what == SHELL else CONSOLE, shown)
        self.splits[job].split(part, new, way)
        new.setFocus()

    def _part(self, job: str, what: str, shown: str) -> ConsolePart:
        """A new part of the console of a job, which shows a shell or the console of that job or another."""
        from app.console.shell_view import ShellView
        from app.console.view import ConsoleView

        new: ConsolePart
        if what == SHELL:
            new = ShellView(self.context, shown, self._connect)
        else:
            new = ConsoleView(self.context, shown, self._connect)
            row = self.context.jobs.row(shown)
            new.join(str(row["name"] or shown) if row is not None and shown != job else "")
        self._know(new, job)
        return new

    def _arrange(self, job: str) -> None:
        """Let the parts stand as they did last, unless they do so in another window or tab."""
        found = kept(self.context.preferences, job)
        if found is None or job in _elsewhere(self):
            return
        running = {job, *(other for other, _ in self.context.jobs.interactive())}
        names = {f"{what} {one}" for one in running for what in (SHELL, CONSOLE)}
        wanted = only(found, lambda name: name in names)
        if isinstance(wanted, Arrangement):
            self.splits[job].arrange(wanted, lambda name: self._part(job, *name.split(" ", 1)))

    def _close_part(self, job: str, part: ConsolePart) -> None:
        self.splits[job].close_part(part)
        part.close_session()
        part.deleteLater()

    def _over(self, row: dict[str, Any]) -> None:
        if row["started"] is None and row["state"] == JobState.ABORTED:
            sentence = f"{str(row['reason']) or _REFUSED}\n{_AS_BATCH}"
            said = ("ban", "It could not start now", sentence, "Resubmit", "negative", "Queue as batch job")
            self.show_empty_state(*said)
        else:
            self.show_empty_state("terminal", "The program has ended", "Logs and Output show what it left.")

    def act(self) -> None:
        """The button of the empty page: try it again now."""
        if self.job is not None and self.empty_state.button.text() == "Resubmit":
            self._submit_again("job.resubmit")
        elif self.job is not None and self.empty_state.button.text() == FIND_SERVICES:
            self._find_services(self.job)
        else:
            super().act()

    def _submit_again(self, action: str) -> None:
        """Actions are about what is selected, and a pane may show another job."""
        if self.job is not None:
            self.context.show_job(self.job)
            self.context.trigger(action)

    def close_all(self) -> None:
        """Detach from every job; their programs go on."""
        super().close_all()
        for job in list(self.views):
            self._drop(job)
        for job in list(self.services):
            self._leave_services(job)

    def _drop_ended(self) -> None:
        """Consoles whose program has ended are kept only as long as no other is opened."""
        for job, view in list(self.views.items()):
            if view.over and self.splits[job] is not self._shown.currentWidget():
                self._drop(job)

    def _drop(self, job: str) -> None:
        del self.views[job]
        splits = self.splits.pop(job)
        for part in splits.parts():
            assert isinstance(part, ConsolePart)
            part.close_session()
        self._shown.removeWidget(splits)
        splits.deleteLater()

    def _gray(self, on: bool) -> None:
        """A console does not go by way of the broker once it is open: it is never greyed."""


def _kept_as(part: QWidget) -> str:
    assert isinstance(part, ConsolePart)
    return part.kept_as


def _elsewhere(pane: ConsolePane) -> set[str]:
    """Jobs whose consoles are open in other panes."""
    windows = QApplication.topLevelWidgets()
    panes = (one for window in windows for one in window.findChildren(ConsolePane) if one is not pane)
    return {job for one in panes for job in one.views}
