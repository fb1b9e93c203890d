"""A local site of a test, with what it reported."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from broker_core.jobs.attempt_events import AttemptEnded, AttemptReport, AttemptStarted
from broker_core.jobs.placement import Component, computing_element
from broker_core.sites.attempt_directory import AttemptDirectory
from broker_core.sites.contract import KnownAttempt, LaunchOrder
from broker_core.sites.local.run import Handed
from broker_core.sites.local.settings import LocalSettings
from broker_core.sites.local.site import LocalSite
from broker_core.sites.run_files import find_file, list_files
from tests.running import end_all, processes_of
from tests.waiting import eventually

QUICK = LocalSettings(kill_grace=0.5, guard_interval=0.05)


def order(program: str, arguments: str = "", ce: str = "", **more: object) -> LaunchOrder:
    """An order for a new attempt."""
    plain = LaunchOrder(
        Component(secrets.token_urlsafe(16), 1), 1, program, arguments, (), "", "std.out", "std.err", (), ()
    )
    return replace(plain, ce=computing_element(ce), **more)  # type: ignore[arg-type]


def script(text: str, **more: object) -> LaunchOrder:
    """An order for a shell script of one line without single quotes."""
    return order("sh", f"-c '{text}'", **more)


Known = tuple[Component, LaunchOrder | None]
"""An attempt from before a restart; with its order where it is still to be handed over."""


def known_attempts(known: Sequence[Known]) -> list[KnownAttempt]:
    """What a site is told of them."""
    return [KnownAttempt(one, resubmitted=order is not None) for one, order in known]


class RunningSite:
    """A site and its notices; nothing of it is left after `close`."""

    def __init__(
        self, directory: Path, cpus: int = 2, settings: LocalSettings = QUICK, *, lasting: bool = False
    ) -> None:
        """`lasting`: lasting starters are there from the beginning."""
        self.directory = directory
        self._lasting = lasting
        self.notices: list[AttemptReport] = []
        self.site = LocalSite("local", directory, cpus, settings)

    async def start(self, known: Sequence[Known] = ()) -> None:
        """Begin work, with the attempts that are known; those with an order are handed over again."""
        await self.site.start(self.notices.append, known_attempts(known))
        if self._lasting:
            for _ in range(self.site.capacity.cpus):
                self.site.lasting.grow(self.site.capacity.cpus)
        for _, one in known:
            if one is not None:
                await self.site.submit(one)

    async def again(self, known: Sequence[Known]) -> RunningSite:
        """Drop this site as if its process had been killed; a new one takes over."""
        await self.site.close()
        site = self.site
        other = RunningSite(self.directory, site.capacity.cpus, site.settings, lasting=self._lasting)
        await other.start(known)
        return other

    def ends(self, attempt: Component) -> list[AttemptEnded]:
        """Every end reported of an attempt."""
        return [one for one in self.notices if isinstance(one, AttemptEnded) and one.component == attempt]

    def starts(self, attempt: Component) -> list[AttemptStarted]:
        """Every start reported of an attempt."""
        return [one for one in self.notices if isinstance(one, AttemptStarted) and one.component == attempt]

    async def started(self, attempt: Component) -> AttemptStarted:
        """The start of an attempt, waited for."""
        return (await eventually(lambda: self.starts(attempt)))[0]

    async def ended(self, attempt: Component) -> AttemptEnded:
        """The end of an attempt, waited for."""
        return (await eventually(lambda: self.ends(attempt)))[0]

    def text(self, attempt: Component, path: str = "std.out") -> str:
        """A file of an attempt; empty while it is not there."""
        directory = AttemptDirectory(self.site.root, attempt.tag).job
        if path not in {file.path for file in list_files(directory)}:
            return ""
        return find_file(directory, path).read_text()

    def starter(self, attempt: Component) -> int:
        """Pid of the starter that has it."""
        run = self.site.runs[attempt.tag]
        return run.stage.lasting if isinstance(run.stage, Handed) else run.starter

    def left(self) -> set[int]:
        """Processes that jobs of this site have."""
        return processes_of(self.directory)

    async def close(self) -> None:
        """Stop, and end whatever still runs."""
        await self.site.close()
        end_all(self.directory)
