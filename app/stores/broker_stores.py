"""All that is held of one broker; a window that speaks to several has one of these for each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from app.stores.jobs import JobStore
from app.stores.link import BrokerLink
from app.stores.outside import OutsideStore
from app.stores.session import BrokerSession
from app.stores.signals import JobSignals, SiteSignals, SlotSignals
from app.stores.sites import SiteStore
from app.stores.slots import SlotStore
from app.stores.topics import TopicSignals

if TYPE_CHECKING:
    from broker_core.client.client import BrokerClient

Run = Callable[[Coroutine[Any, Any, Any], str], asyncio.Future[Any]]
"""Runs a coroutine as a task of the window; the text says what it does."""


class BrokerStores:
    """Implements app.stores.broker.BrokerAccess: the session with a broker, and what it told."""

    def __init__(self, state_dir: Path | None, run: Run, parent: QObject) -> None:
        self._run = run
        self.link = BrokerLink(parent)
        self.jobs = JobStore(JobSignals(parent))
        self.session = BrokerSession(state_dir, self.jobs, self.link)
        self.topics = TopicSignals(parent)
        self.session.on_topics.append(self.topics.take)
        self.sites = SiteStore(self, SiteSignals(parent))
        self.slots = SlotStore(self, SlotSignals(parent))
        self.outside = OutsideStore(self, JobSignals(parent))

    @property
    def client(self) -> BrokerClient:
        """The client of the connection that stands; raises Unreachable in every call while none does."""
        return self.session.client

    def run(self, work: Coroutine[Any, Any, Any], doing: str) -> asyncio.Future[Any]:
        """Run a coroutine as a task of the window; an error becomes a notice that names `doing`."""
        return self._run(work, doing)
