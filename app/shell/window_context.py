"""The context of one window: what every page may use."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from app.context import NO_BROKER, Notice, Tone
from app.shell.activity_log import ActivityLog
from app.shell.sheets import problem_details
from app.stores.broker_stores import BrokerStores
from app.stores.counts import QueryCounts
from app.stores.named_texts import NamedTexts
from app.stores.preferences import Preferences
from app.stores.saved_queries import SavedQueries
from app.stores.transfers import Transfers
from broker_core.errors import CrossDeskError, Unreachable
from broker_core.system.paths import places

if TYPE_CHECKING:
    from app.actions.registry import Actions
    from app.theme.theme import Theme
    from broker_core.client.client import BrokerClient
    from broker_core.client.programs.batch_scripts.translation import Translation

log = logging.getLogger(__name__)
_LAST_WORDS = 5.0
"""Seconds that a closing window waits for what the user wrote last."""
_AGAIN = 1.0
"""Seconds after which a task that has not ended is cancelled once more."""


class WindowContext(QObject):
    """Implements app.context.AppContext. The window fills in `actions` and listens to the signals."""

    noticed = Signal(object)
    """Notice to be shown."""
    withdrawn = Signal(str)
    """Topic of which notices are to go."""
    job_wanted = Signal(str, str)
    """Job id and inspector tab to be shown."""
    log_wanted = Signal(str, str, object)
    """Job id, path of a file of it, and the offset of the line to be shown."""
    jobs_wanted = Signal(object)
    """Ids of jobs to be selected together."""
    editor_wanted = Signal(str, object, object, object)
    """Text, path or None, files."""
    query_wanted = Signal(str)
    """Text of a query whose jobs are to be shown."""
    site_wanted = Signal(str)
    """Name of a site to be shown."""
    batch_wanted = Signal(str)
    """Id of a batch whose page is to be shown."""
    help_wanted = Signal(str)
    """Name of a help page."""

    actions: Actions

    def __init__(
        self,
        theme: Theme,
        preferences: Preferences,
        state_dir: Path | None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.theme, self.preferences, self.state_dir = theme, preferences, state_dir
        self._closing = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._written: set[asyncio.Future[Any]] = set()
        self.broker = str(state_dir or "")
        """Key of the broker that the pages show: its state directory, empty for the usual one."""
        self.brokers = {self.broker: BrokerStores(state_dir, self.run, self)}
        shown = self.brokers[self.broker]
        self.link, self.jobs, self.session = shown.link, shown.jobs, shown.session
        self.topics, self.sites, self.outside = shown.topics, shown.sites, shown.outside
        self.slots = shown.slots
        self.saved = SavedQueries(preferences, self)
        self.session.on_connected.append(self._tag_new_jobs)
        self.templates = NamedTexts(preferences, "templates", self)
        self.presets = NamedTexts(preferences, "presets", self)
        self.counts = QueryCounts(self.jobs, self.saved, self, self.outside)
        self.transfers = Transfers(self)
        self.problem = ""
        """Details of the last problem of the window itself; empty: none yet."""
        self.activity = ActivityLog(places(state_dir).state / "activity.jsonl")

    def _tag_new_jobs(self) -> None:
        """Let jobs that are submitted while a project is shown have its tag."""
        self.session.client.tags_of_new = self.saved.tags_of_new

    @property
    def owner(self) -> QObject:
        """Parent of objects that live as long as the window."""
        return self

    @property
    def client(self) -> BrokerClient:
        """The client of the connection that stands; raises Unreachable in every call while none does."""
        return self.session.client

    def begin(self) -> None:
        """Connect to the broker, and stay connected until `close`."""
        self.run(self.session.run(), "talking to the broker")

    def run(self, work: Coroutine[Any, Any, Any], doing: str) -> asyncio.Future[Any]:
        """Run a coroutine as a task of the window; an error becomes a notice that names `doing`.

        While the window closes, nothing new begins: the coroutine is dropped.
        """
        if self._closing:
            work.close()
            ended: asyncio.Future[Any] = asyncio.get_event_loop().create_future()
            ended.cancel()
            return ended
        task = asyncio.get_event_loop().create_task(self._guard(work, doing), name=doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # a task cancelled before its first step leaves it
        return task

    def finish(self, work: Coroutine[Any, Any, Any], doing: str) -> asyncio.Future[Any]:
        """Run a coroutine likewise that keeps what the user wrote: a window that closes waits for it."""
        task = self.run(work, doing)
        self._written.add(task)
        task.add_done_callback(self._written.discard)
        return task

    async def _guard(self, work: Coroutine[Any, Any, Any], doing: str) -> Any:
        try:
            return await work
        except CrossDeskError as error:
            if self._closing:
                # What was asked of a broker that is no longer talked to: there is nobody to tell.
                log.info("While %s: %s", doing, error)
                return None
            self.notify(_failure(error, doing))
        except Exception as error:  # noqa: BLE001 - the last boundary of a task: told and logged, never lost
            self.tell_problem(error, doing)
        return None

    def tell_problem(self, error: BaseException, doing: str) -> None:
        """Tell and log what nobody foresaw: a fault of the window itself, which lives on."""
        log.error("While %s", doing, exc_info=error)
        self.problem = problem_details(error, doing)
        self.notify(Notice(f"Something went wrong in the window while {doing}.", Tone.BAD, "help.problem"))

    async def close(self) -> None:
        """End every task of the window and wait for them; no new one begins. What keeps the user's words has
        some seconds to end by itself."""
        self._closing = True
        if self._written:
            await asyncio.wait(self._written, timeout=_LAST_WORDS)
        # Once may not be enough: what is awaited can take a cancel for its own.
        while tasks := [task for task in self._tasks if task is not asyncio.current_task()]:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=_AGAIN)

    def notify(self, notice: Notice) -> None:
        """Show a notice."""
        log.log(logging.WARNING if notice.tone is Tone.BAD else logging.INFO, "%s", notice.text)
        self.activity.add(notice)
        self.noticed.emit(notice)

    def withdraw(self, topic: str) -> None:
        """Take notices of a topic away; the list of notices keeps them."""
        self.withdrawn.emit(topic)

    def show_job(self, job: str, tab: str = "") -> None:
        """Select a job in the table and show it in the inspector."""
        self.job_wanted.emit(job, tab)

    def show_log(self, job: str, path: str, offset: int) -> None:
        """Show a file of a job in the inspector, at the line that begins at this offset."""
        self.log_wanted.emit(job, path, offset)

    def show_jobs(self, ids: Sequence[str]) -> None:
        """Select several jobs in the table, as soon as their rows are there."""
        self.jobs_wanted.emit(list(ids))

    def show_query(self, text: str) -> None:
        """Show the jobs of a query in the table."""
        self.query_wanted.emit(text)

    def keep_template(self, name: str, text: str) -> None:
        """Keep a description as a template of the user, and tell so."""
        try:
            self.templates.save(name, text)
        except ValueError as error:
            self.notify(Notice(str(error), Tone.WARNING))
            return
        self.notify(Notice(f"“{name}” is kept as a template: it stands under New and on the first page."))

    def show_site(self, name: str) -> None:
        """Show all about a site; empty: all sites."""
        self.site_wanted.emit(name)

    def show_batch(self, batch: str) -> None:
        """Open the page of a batch."""
        self.batch_wanted.emit(batch)

    def open_editor(
        self,
        text: str,
        path: Path | None = None,
        files: tuple[Path, ...] = (),
        translation: Translation | None = None,
    ) -> None:
        """Open a description in a new editor tab; `files` join its input sandbox."""
        self.editor_wanted.emit(text, path, files, translation)

    def show_help(self, page: str) -> None:
        """Open a page of the in-app help."""
        self.help_wanted.emit(page)

    def trigger(self, action: str) -> None:
        """Do an action of the table by its id."""
        self.actions.trigger(action)


def _failure(error: CrossDeskError, doing: str) -> Notice:
    """What a window says of an error; a broker that went away is none that its user has to start by hand."""
    if not isinstance(error, Unreachable):
        return Notice(f"While {doing}: {error}", Tone.BAD)
    log.info("While %s: %s", doing, error)
    again = "Try again once it is back: the desk connects by itself."
    return Notice(f"While {doing}: {error.message} {again}", Tone.BAD, topic=NO_BROKER)
