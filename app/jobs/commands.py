"""What can be done with the selected jobs; each is an action of the table."""

from __future__ import annotations

import asyncio
import shlex
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app import units
from app.actions.table import BY_ID
from app.context import Notice, Tone
from app.description.document import with_full_names
from app.jobs.rerun import run_again
from app.stores.alike import those
from app.widgets.confirm import ask_name, confirm
from app.widgets.save_dialog import ask_folder, output_folder, project_folder
from broker_core.errors import CrossDeskError
from broker_core.jobs.batch_names import job_name
from broker_core.jobs.site_names import site_name
from broker_core.jobs.states import JobState

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.submission import Outcomes


_MANY = 10
"""Jobs that a command acts on without a question, at most."""


class JobCommands:
    """Carries out the actions of the group `job`; `chosen` gives the ids that they act on."""

    def __init__(self, context: AppContext, window: QWidget, chosen: Callable[[], list[str]]) -> None:
        self._context, self._window, self._chosen = context, window, chosen

    def show(self, tab: str) -> None:
        """Show a tab of the inspector for the selected job."""
        self._context.show_job(self._chosen()[0], tab)

    def why(self) -> None:
        """Show where the job could run, and why not elsewhere."""
        self.show("where")

    def _those(self, action: str) -> list[str]:
        """The chosen jobs to which an action applies."""
        test = BY_ID[action].each
        chosen, context = self._chosen(), self._context
        return those(context.jobs, chosen, context.sites.unheard, test) if test else chosen

    def _named(self, ids: list[str]) -> str:
        if len(ids) == 1:
            row = self._context.jobs.row(ids[0])
            return f"“{job_name(row['name'], row['parameter'])}”" if row else "1 job"
        return units.count(len(ids), "job")

    # --- bulk commands

    def cancel(self) -> None:
        """Ask, then cancel the selected jobs that have not ended (CB-CMD-02)."""
        ids = self._those("job.cancel")
        if not ids:
            return
        running = sum(
            1 for job in ids if (self._context.jobs.row(job) or {}).get("state") == JobState.RUNNING
        )
        now = f"{units.count(running, 'job')} running now will be stopped. " if running else ""
        confirm(
            self._window, f"Cancel {self._named(ids)}?",
            f"{now}What was written so far stays readable, and canceled jobs can be submitted again.",
            f"Cancel {units.count(len(ids), 'job')}", partial(self._send, "cancel", "Canceling", ids),
            keep="Keep running",
        )  # fmt: skip

    def purge(self) -> None:
        """Ask, then remove the selected jobs that have ended, with their files.

        Their earlier runs go with them: without the last run the one before would stand for the job again.
        """
        ids = self._those("job.purge")
        if ids:
            runs = self._context.jobs.earlier_runs(ids)
            warning = f" {units.count(len(runs), 'earlier run')} of them will be removed too." if runs else ""
            confirm(
                self._window, f"Remove {self._named(ids)} with all files?",
                f"Output that was not fetched is lost.{warning} This cannot be undone.",
                f"Remove {units.count(len(ids), 'job')}", lambda: self._remove(ids, runs),
            )  # fmt: skip

    def _remove(self, ids: list[str], runs: list[str]) -> None:
        def purge(jobs: list[str]) -> Awaitable[Outcomes]:
            return self._context.client.purge([*runs, *jobs])

        self._context.run(self._told(purge, "Removed", ids), f"removing {units.count(len(ids), 'job')}")

    def elsewhere(self) -> None:
        """Ask, then run jobs of a silent site elsewhere, although they may still run there."""
        unheard, rows = self._context.sites.unheard, self._context.jobs.row
        ids = self._those("job.elsewhere")
        if not ids:
            return
        place = site_name((rows(ids[0]) or {})["site"])
        silent = units.since(unheard((rows(ids[0]) or {})["site"]) or 0.0, time.time())
        confirm(
            self._window, f"Run {self._named(ids)} elsewhere?",
            f"{place} has not been heard from since {silent}, so what runs there cannot be stopped now: "
            "until it is heard again, the work may be done twice, and so may whatever it does outside of its "
            "own directory. The attempt there is canceled as soon as the site answers, and its output is not "
            "used.",
            f"Run {units.count(len(ids), 'job')} elsewhere", lambda: self._run_elsewhere(ids),
        )  # fmt: skip

    def _run_elsewhere(self, ids: list[str]) -> None:
        self._context.run(self._ask_elsewhere(ids), f"asking to run {self._named(ids)} elsewhere")

    async def _ask_elsewhere(self, ids: list[str]) -> None:
        for job in ids:
            await self._context.client.run_elsewhere(job)
        said = f"{self._named(ids)} will run elsewhere."
        self._context.notify(Notice(said[:1].upper() + said[1:], Tone.NEUTRAL, "", ids[0]))

    def hold(self) -> None:
        """Keep the selected jobs that wait from being started."""
        self._bulk("hold", "Held")

    def release(self) -> None:
        """Let the selected jobs be started again."""
        self._bulk("release", "Released")

    def _bulk(self, verb: str, word: str) -> None:
        ids = self._those(f"job.{verb}")
        if ids:
            self._ask(verb.capitalize(), ids, partial(self._send, verb, word, ids))

    def _ask(self, verb: str, ids: list[str], act: Callable[[], object], *, what: str = "job") -> None:
        """Ask before a command for many jobs; one for few is done at once."""
        if len(ids) <= _MANY:
            act()
            return
        number = units.count(len(ids), what)
        confirm(
            self._window, f"{verb} {number}?", "They were selected together.", f"{verb} {number}",
            lambda: act(), danger=False,
        )  # fmt: skip

    def _send(self, verb: str, word: str, ids: list[str], *_: object) -> None:
        call: Callable[[list[str]], Awaitable[Outcomes]] = getattr(self._context.client, verb)
        doing = f"asking to {verb} {units.count(len(ids), 'job')}"
        self._context.run(self._told(call, word, ids), doing)

    async def _told(
        self, call: Callable[[list[str]], Awaitable[Outcomes]], word: str, ids: list[str]
    ) -> None:
        outcomes = await call(ids)
        refused = {job: why for job, why in outcomes.results.items() if why}
        done = [job for job in ids if job not in refused]
        if done:
            again = "job.resubmit" if word == "Canceling" and len(done) == 1 else ""
            self._context.notify(
                Notice(f"{word} {self._named(done)}.", Tone.NEUTRAL, again, done[0] if again else "")
            )
        if refused:
            first = next(iter(refused.values()))
            self._context.notify(
                Notice(f"{units.count(len(refused), 'job')} could not be changed: {first}", Tone.WARNING)
            )

    # --- again

    def resubmit(self, *, batch: bool = False) -> None:
        """Submit the selected jobs once more, with the files that the broker still has.

        `batch`: without what makes them interactive, so that they may wait.
        """
        ids = self._those("job.batch" if batch else "job.resubmit")

        def act() -> None:
            self._context.run(self._resubmit(ids, batch), f"submitting {self._named(ids)} again")

        self._ask("Queue" if batch else "Resubmit", ids, act)

    def rerun(self) -> None:
        """Run the selected jobs that failed again, each in its place."""
        self.rerun_those(self._those("job.rerun"))

    def rerun_those(self, ids: list[str]) -> None:
        """Run these jobs again, each in its place; asks first if they are many."""
        if ids:
            self._ask("Rerun", ids, partial(run_again, self._context, ids), what="failed job")

    def rerun_changed(self) -> None:
        """Ask what to change, then run the selected jobs that failed again, each in its place."""
        from app.jobs.rerun_sheet import RerunSheet

        if ids := self._those("job.rerun_changed"):
            RerunSheet(self._context, ids, self._window).open()

    def open_batch(self) -> None:
        """Open the page of the batch of the selected jobs."""
        batches = [
            (self._context.jobs.row(job) or {}).get("batch") for job in self._those("job.open_batch")[:1]
        ]
        if batches and batches[0]:
            self._context.show_batch(batches[0])

    async def _resubmit(self, chosen: list[str], batch: bool) -> None:
        from app.jobs.again import batch_submission, submissions_again

        rows = [row for row in map(self._context.jobs.row, chosen) if row]
        ids: list[str] = []
        try:
            for one in await submissions_again(self._context.client, rows):
                receipt = await self._context.client.submit(batch_submission(one) if batch else one)
                ids += receipt.ids
        finally:
            # Also where a later one of them is refused: what was accepted runs.
            if ids:
                said = f"Submitted {units.count(len(ids), 'job')} {'as batch' if batch else 'again'}."
                self._context.notify(Notice(said, Tone.GOOD, "", ids[0]))

    def edit(self) -> None:
        """Open the description of the selected job in an editor."""
        from app.jobs.copy_to_edit import open_copy

        self._context.run(open_copy(self._context, self._chosen()[0]), "opening the description")

    def save_template(self) -> None:
        """Ask for a name, then keep the description of the selected job as a template of the user."""
        job = self._chosen()[0]
        row = self._context.jobs.row(job)
        ask_name(
            self._window, "Save as template", "Name of the template", row["name"] if row else "",
            lambda name: self._context.run(self._save_template(job, name), "saving the template"),
        )  # fmt: skip

    async def _save_template(self, job: str, name: str) -> None:
        from app.jobs.copy_to_edit import copied

        text, path = await copied(self._context, job)
        self._context.keep_template(name, with_full_names(text, path.parent) if path else text)

    # --- output

    def fetch(self) -> None:
        """Fetch the output of the selected ended jobs into the folder of the project, or ask for one."""
        self.fetch_those(self._those("job.fetch"))

    def fetch_again(self) -> None:
        """Fetch the output of the selected ended jobs into the folder of the project that is shown, else the
        one chosen last; without one, ask."""
        self._fetch_or_ask(
            self._those("job.fetch_again"), output_folder(self._context.preferences, self._context.saved)
        )

    def fetch_those(self, ids: list[str]) -> None:
        """Fetch the output of these jobs into the folder of the project that is shown; without one, ask."""
        self._fetch_or_ask(ids, project_folder(self._context.saved))

    def _fetch_or_ask(self, ids: list[str], folder: Path | None) -> None:
        if folder is None and ids:
            ask_folder(
                self._window, f"Fetch the output of {self._named(ids)} into", self._context.preferences,
                lambda folder: self.fetch_into(ids, folder),
            )  # fmt: skip
        elif folder is not None and ids:
            self._ask("Fetch output of", ids, partial(self.fetch_into, ids, folder))

    def fetch_into(self, ids: list[str], folder: Path) -> None:
        """Fetch the output of jobs into `folder`, where each gets a new one."""
        self._context.run(self._fetch(ids, folder), f"fetching the output of {self._named(ids)}")

    async def _fetch(self, ids: list[str], folder: Path) -> None:
        from app.jobs.fetching import fetch_jobs

        task = asyncio.current_task()
        transfer = self._context.transfers.begin(
            f"Output of {self._named(ids)}", task.cancel if task is not None else None
        )
        try:
            place = await fetch_jobs(self._context, ids, folder, transfer.advance)
        except (CrossDeskError, asyncio.CancelledError) as error:
            transfer.end("stopped" if isinstance(error, asyncio.CancelledError) else str(error))
            raise
        transfer.end(f"saved in {place}")

    # --- what the user writes on them

    def tag(self) -> None:
        """Ask which tags the selected jobs have."""
        from app.jobs.annotating import TagSheet

        if ids := self._those("job.tags"):
            TagSheet(self._context, ids, self._window).open()

    # --- clipboard

    def copy_ids(self) -> None:
        """Put the selected ids on the clipboard, one a line."""
        QGuiApplication.clipboard().setText("\n".join(self._chosen()))

    def copy_command(self) -> None:
        """Put the command line that does the same on the clipboard."""
        rows = [row for row in map(self._context.jobs.row, self._chosen()) if row]
        QGuiApplication.clipboard().setText(command_text(rows, self._context.state_dir))
        self._context.notify(Notice("The command is on the clipboard."))


def command_text(rows: Sequence[Mapping[str, Any]], state_dir: Path | None = None) -> str:
    """Return the command for the jobs: follow one that goes on, fetch what is done, else show status."""
    states = {JobState(row["state"]) for row in rows}
    if states <= {JobState.DONE}:
        verb = ["job", "get-output"]
    elif len(rows) == 1 and JobState(rows[0]["state"]).active:
        verb = ["job", "log", "--follow"]
    else:
        verb = ["job", "status"]
    words = ["crossdesk", *verb, *(row["id"] for row in rows)]
    if state_dir is not None:
        return f"CROSSDESK_STATE_DIR={shlex.quote(str(state_dir))} " + shlex.join(_guarded(words))
    return shlex.join(_guarded(words))


def _guarded(words: list[str]) -> list[str]:
    """An id may begin with a dash: what follows `--` is no option."""
    if any(word.startswith("-") for word in words[4 if "--follow" in words else 3 :]):
        place = 4 if "--follow" in words else 3
        return [*words[:place], "--", *words[place:]]
    return words
