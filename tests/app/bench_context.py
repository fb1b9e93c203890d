"""A context without a window: real theme, real client; remembers what views ask of it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from app.context import Notice
from app.stores.jobs import JobStore
from app.stores.link import ConnectionState
from app.stores.named_texts import NamedTexts
from app.stores.outside import OutsideStore
from app.stores.preferences import Preferences
from app.stores.saved_queries import SavedQueries
from app.stores.sites import SiteStore
from app.stores.slots import SlotStore
from app.stores.topics import TopicSignals
from app.theme.theme import Theme
from app.theme.tokens import Mode


class BenchLink(QObject):
    """A link that stands as it is told to."""

    changed = Signal()

    def __init__(self, state: ConnectionState) -> None:
        super().__init__()
        self.state, self.reason, self.since, self.dialect = state, "", 0.0, "crossdesk"
        self.up = state is ConnectionState.CONNECTED


class BenchContext:
    """Implements app.context.AppContext as far as editor and drops use it."""

    def __init__(self, app: QApplication, client: Any = None, mode: Mode = Mode.LIGHT) -> None:
        self.theme = Theme(app, mode)
        self.client = client
        self.preferences = Preferences()
        self.saved = SavedQueries(self.preferences)
        self.templates = NamedTexts(self.preferences, "templates")
        self.presets = NamedTexts(self.preferences, "presets")
        self.state_dir: Path | None = None
        self.link = BenchLink(ConnectionState.CONNECTED if client else ConnectionState.UNREACHABLE)
        self.topics, self.jobs = TopicSignals(), JobStore()
        self.sites, self.outside, self.slots = SiteStore(self), OutsideStore(self), SlotStore(self)
        self.notices: list[Notice] = []
        self.opened: list[tuple[str, Path | None, tuple[Path, ...]]] = []
        self.shown: list[str] = []

    def run(self, work: Coroutine[Any, Any, Any], doing: str) -> asyncio.Task[Any]:
        """A task of the running loop."""
        return asyncio.ensure_future(work)

    finish = run

    def notify(self, notice: Notice) -> None:
        """Remember a notice."""
        self.notices.append(notice)

    def show_job(self, job: str, tab: str = "") -> None:
        """Remember which job was shown."""
        self.shown.append(job)

    def open_editor(
        self, text: str, path: Path | None = None, files: tuple[Path, ...] = (), translation: object = None
    ) -> None:
        """Remember what was opened."""
        self.opened.append((text, path, files))
