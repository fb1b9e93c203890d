"""What every view of the desk may use; the shell makes it, the views get it."""

from __future__ import annotations

from collections.abc import Coroutine
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtCore import SignalInstance

    from broker_core.client.client import BrokerClient
    from broker_core.wire.sites import SiteView


class LinkState(StrEnum):
    """How the desk stands with its broker; never a job state."""

    STARTING = "starting"
    CONNECTED = "connected"
    RECONNECTING = "reconnecting"
    UNREACHABLE = "unreachable"
    STOPPED = "stopped"
    """Somebody stopped the broker on purpose; the desk waits to be asked, or for a broker that answers."""


KEPT_CLEAR = "typed-into"
"""Object name of lines to type in at the bottom of a window, which no notice covers."""


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


class Link(Protocol):
    """The connection to the broker."""

    state: LinkState
    reason: str
    since: float
    dialect: str
    """Whose rules the broker follows where descriptions of several systems disagree."""
    changed: SignalInstance
    """No arguments."""


class JobRows(Protocol):
    """The live rows of all jobs of the user: what the broker says, never computed here."""

    changed: SignalInstance
    """set[str]: ids whose rows changed, coalesced to at most 10 a second; an empty set: everything did."""

    def row(self, job: str) -> dict[str, Any] | None:
        """JobRecord field to value, or None if there is no such job."""
        ...

    def interactive(self) -> list[tuple[str, str]]:
        """Id and name of the interactive jobs that run now, the newest first."""
        ...

    def __len__(self) -> int: ...


class Preferences(Protocol):
    """What this machine remembers about the window; see app/model/preferences."""

    def __getitem__(self, name: str) -> Any: ...

    def __setitem__(self, name: str, value: Any) -> None: ...


class Sites(Protocol):
    """The sites as the broker tells them; see app/sites."""

    changed: SignalInstance
    views: list[SiteView]

    def look(self) -> None:
        """Ask for them again."""
        ...

    def named(self, name: str) -> SiteView | None:
        """The site of this name."""
        ...

    def at(self, ces: str | None) -> SiteView | None:
        """The site of the first of these computing elements (as in JobRecord.site)."""
        ...

    def unheard(self, ces: str | None) -> float | None:
        """Since when the place of a job is not heard from, seconds since the epoch; None: it is."""
        ...


class Theme(Protocol):
    """Tokens to colours; see app/theme."""

    changed: SignalInstance

    def color(self, token: str) -> Any:
        """QColor of a token: surface, raised, border, text, muted, accent, selection, focus, positive,
        warning, negative, code-keyword..., or `state-<State>` / `state-<State>-soft` for a job state."""
        ...

    def icon(self, name: str, token: str = "text") -> Any:
        """QIcon of a bundled icon (Lucide name) in a token's colour, redrawn when the theme changes."""
        ...

    def font(self, role: str = "base") -> Any:
        """QFont: base, small, title, strong, mono."""
        ...


class Desk(Protocol):
    """The desk as a view sees it."""

    client: BrokerClient
    """Typed asynchronous client; its calls raise broker_core.errors.Unreachable while there is no broker."""
    link: Link
    jobs: JobRows
    sites: Sites
    theme: Theme
    preferences: Preferences
    state_dir: Path | None
    """The broker's state directory as given at the start; None for the usual one."""

    def run(self, work: Coroutine[Any, Any, Any], doing: str) -> Any:
        """Run a coroutine as a task of the window; an error becomes a notice that names `doing`."""
        ...

    def notify(self, notice: Notice) -> None:
        """Show a notice."""
        ...

    def show_job(self, job: str, tab: str = "") -> None:
        """Select a job in the table and show it in the inspector (tab: story, logs, output, where, text)."""
        ...

    def show_site(self, name: str) -> None:
        """Show all about a site; empty: all sites."""
        ...

    def open_editor(self, text: str, path: Path | None = None, files: tuple[Path, ...] = ()) -> None:
        """Open a description in a new editor tab; `files` join its input sandbox."""
        ...

    def trigger(self, action: str) -> None:
        """Do an action of the table in app/actions by its id, e.g. `job.cancel`."""
        ...
