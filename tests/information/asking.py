"""What the tests of sources share: settings, clocks, and what was published."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from broker_core.information.ldap.updater import LdapUpdater
from broker_core.information.runner import Updaters
from broker_core.information.updater import SourceAnswer, SourceSettings, Updater
from broker_core.reactor.reactor import Now
from broker_core.resources.facts import Facts, SourceHeard
from broker_core.wire.resources import SourceView
from tests.testbed.glue_tree import MadeCE


@dataclass
class Grid:
    """A made-up grid behind real servers."""

    sites: Mapping[str, Sequence[MadeCE]]
    index: str = ""
    site_server: str = ""

    @property
    def elements(self) -> dict[str, MadeCE]:
        return {one.ce: one for ces in self.sites.values() for one in ces}


def now() -> Now:
    return Now(time.time(), time.monotonic())


def ldap(address: str, **settings: Any) -> LdapUpdater:
    """The updater of an LDAP source; options are given by name."""
    known = {key: settings.pop(key) for key in ("interval", "deadline") if key in settings}
    return LdapUpdater(SourceSettings("grid", "ldap", address, options=settings, **known))


def by_name(answer: SourceAnswer | SourceHeard) -> dict[str, Facts]:
    return {one.ce: one for one in answer.facts}


@dataclass
class Heard:
    """Gathers what is published."""

    messages: list[SourceHeard] = field(default_factory=list)

    def __call__(self, message: SourceHeard) -> None:
        self.messages.append(message)

    def of(self, source: str) -> list[SourceHeard]:
        return [message for message in self.messages if message.source == source]


@asynccontextmanager
async def running(
    *settings: SourceSettings, own: Sequence[Updater] = (), slow_after: float = 10.0
) -> AsyncIterator[tuple[Updaters, Heard]]:
    """Updaters that run while the block does."""
    heard = Heard()
    updaters = Updaters(settings, heard, now, own=own, slow_after=slow_after)
    updaters.start()
    try:
        yield updaters, heard
    finally:
        await updaters.close()


def view(updaters: Updaters, name: str) -> SourceView:
    return next(one for one in updaters.views() if one.name == name)
