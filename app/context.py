"""What every page of the window may use: the one interface between the pages and the shell."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import QObject, SignalInstance

    from app.actions.registry import Actions
    from app.stores.counts import QueryCounts
    from app.stores.jobs import JobStore
    from app.stores.link import BrokerLink
    from app.stores.named_texts import NamedTexts
    from app.stores.outside import OutsideStore
    from app.stores.preferences import Preferences
    from app.stores.saved_queries import SavedQueries
    from app.stores.session import BrokerSession
    from app.stores.sites import SiteStore
    from app.stores.slots import SlotStore
    from app.stores.topics import TopicSignals
    from app.stores.transfers import Transfers
    from app.theme.theme import Theme
    from broker_core.client.client import BrokerClient
    from broker_core.client.programs.batch_scripts.translation import Translation


KEPT_CLEAR = "typed-into"
"""Object name of lines to type in at the bottom of a window, which no notice covers."""


NO_BROKER = "no broker"
"""Topic of notices that are over once the broker is connected again."""


class Tone(StrEnum):
    """The colour family of a notice; the names are token names."""

    NEUTRAL = "muted"
    GOOD = "positive"
    WARNING = "warning"
    BAD = "negative"


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the user should see: a sentence, and one thing to do about it."""

    text: str
    tone: Tone = Tone.NEUTRAL
    action: str = ""
    """Id of an action offered with it; empty for none."""
    job: str = ""
    """Job the notice is about; a click selects it."""
    other: str = ""
    """Id of a second action; empty for none."""
    topic: str = ""
    """What it is about: a later notice of the same topic takes its place, and it goes when that is over."""
    counting: bool = False
    """It tells how far something has come, and another one of its topic will follow."""
    batch: str = ""
    """Batch of jobs the notice is about."""


class AppContext(Protocol):
    """The program as a page sees it; made by the shell, given to every page."""

    link: BrokerLink
    jobs: JobStore
    sites: SiteStore
    slots: SlotStore
    outside: OutsideStore
    topics: TopicSignals
    counts: QueryCounts
    saved: SavedQueries
    templates: NamedTexts
    presets: NamedTexts
    """What jobs need, under names: statements of descriptions, see `app.description.needs`."""
    session: BrokerSession
    transfers: Transfers
    theme: Theme
    preferences: Preferences
    actions: Actions
    state_dir: Path | None
    """The broker's state directory as given at the start; None for the usual one."""
    noticed: SignalInstance
    """Notice to be shown."""
    withdrawn: SignalInstance
    """Topic of which notices are to go: what they told of is over."""

    @property
    def client(self) -> BrokerClient:
        """Typed client; while there is no broker its calls raise broker_core.errors.Unreachable."""
        ...

    @property
    def owner(self) -> QObject:
        """Parent of objects that live as long as the window."""
        ...

    def run(self, work: Coroutine[Any, Any, Any], doing: str) -> asyncio.Future[Any]:
        """Run a coroutine as a task of the window; an error becomes a notice that names `doing`."""
        ...

    def finish(self, work: Coroutine[Any, Any, Any], doing: str) -> asyncio.Future[Any]:
        """Run a coroutine likewise that keeps what the user wrote: a window that closes waits for it."""
        ...

    def notify(self, notice: Notice) -> None:
        """Show a notice."""
        ...

    def withdraw(self, topic: str) -> None:
        """Take notices of a topic away, as what they told of is over; the list of notices keeps them."""
        ...

    def show_job(self, job: str, tab: str = "") -> None:
        """Select a job in the table and show it in the inspector (tab: story, logs, view, ...)."""
        ...

    def show_log(self, job: str, path: str, offset: int) -> None:
        """Show a file of a job in the inspector, at the line that begins at this offset."""
        ...

    def show_jobs(self, ids: Sequence[str]) -> None:
        """Select several jobs in the table, as soon as their rows are there."""
        ...

    def show_query(self, text: str) -> None:
        """Show the jobs of a query in the table."""
        ...

    def keep_template(self, name: str, text: str) -> None:
        """Keep a description as a template of the user, and tell so."""
        ...

    def show_site(self, name: str) -> None:
        """Show all about a site; empty: all sites."""
        ...

    def show_batch(self, batch: str) -> None:
        """Open the page of a batch."""
        ...

    def show_help(self, page: str) -> None:
        """Open a page of the in-app help."""
        ...

    def open_editor(
        self,
        text: str,
        path: Path | None = None,
        files: tuple[Path, ...] = (),
        translation: Translation | None = None,
    ) -> None:
        """Open a description in a new editor tab; `files` join its input sandbox.

        `translation`: the batch script that it comes from, whose lines are shown beside it.
        """
        ...

    def trigger(self, action: str) -> None:
        """Do an action of the table in app/actions by its id, e.g. `job.cancel`."""
        ...
