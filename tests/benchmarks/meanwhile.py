"""What the broker does while figures of the desktop are taken."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Self

from broker_core.client.client import BrokerClient
from broker_core.jobs.outcome import outcome_of
from tests.benchmarks.broker import submission
from tests.benchmarks.figure import Figure

JOBS = 2000
_TEXT = 'Executable = "/bin/true"; Arguments = "_PARAM_";'
_LOOK = 0.25
"""Seconds between two looks whether a sweep has ended: each costs a request."""
_PAGE = 5000


class Meanwhile:
    """Nothing else runs. A context manager around what is measured."""

    def __init__(self, client: BrokerClient) -> None:
        self._client = client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def named(self, figures: Sequence[Figure]) -> list[Figure]:
        """The figures with what ran beside them."""
        return list(figures)


class RunningJobs(Meanwhile):
    """Sweeps of 2,000 short jobs, one after the other; the first has begun to end when measuring begins."""

    def __init__(self, client: BrokerClient) -> None:
        super().__init__(client)
        self.ids: list[str] = []
        """All jobs that were submitted."""
        self.ended = 0
        """How many of them ended while it was measured."""

    async def __aenter__(self) -> Self:
        await self._submit()
        await self._until_ended(self.ids[0])
        self._before = await self._number_ended()
        self._feeding = asyncio.create_task(self._feed())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._feeding.cancel():
            self._feeding.result()  # it goes on until it is cancelled, or something went wrong
        with contextlib.suppress(asyncio.CancelledError):
            await self._feeding
        self.ended = await self._number_ended() - self._before

    def named(self, figures: Sequence[Figure]) -> list[Figure]:
        """The figures with what ran beside them, and how many jobs ended."""
        beside = [replace(figure, what=f"{figure.what}, beside {JOBS:,} running jobs") for figure in figures]
        return [*beside, Figure("jobs that ended meanwhile", self.ended, "", at_least=1)]

    async def _feed(self) -> None:
        while True:
            await self._until_ended(self.ids[-1])
            await self._submit()

    async def _submit(self) -> None:
        receipt = await self._client.submit(submission(_TEXT, "", [str(number) for number in range(JOBS)]))
        self.ids += receipt.ids

    async def _until_ended(self, job: str) -> None:
        while not _ended((row := (await self._client.job(job)).row)["state"], row["exit_code"]):
            await asyncio.sleep(_LOOK)

    async def _number_ended(self) -> int:
        mine, ended, after = set(self.ids), 0, ""
        while mine:
            page = await self._client.jobs_page(_PAGE, after, columns=("id", "state", "exit_code"))
            rows = page.columns
            for job, state, code in zip(rows["id"], rows["state"], rows["exit_code"], strict=True):
                ended += job in mine and _ended(state, code)
            mine.difference_update(rows["id"])
            after = page.next
            if not after:
                break
        return ended


def _ended(state: str, code: int | None) -> bool:
    return outcome_of(state, code).ended
