"""The client for programs without an event loop: `submit`, `wait`, `output` return when they are done."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from broker_core.client.client import BrokerClient
from broker_core.client.connect import connect
from broker_core.client.fetch import fetch_output
from broker_core.client.prepare import prepare
from broker_core.errors import Conflict, CrossDeskError
from broker_core.jobs.outcome import Outcome, failure_cause, outcome_of
from broker_core.jobs.states import JobState
from broker_core.wire.views import Update

log = logging.getLogger("crossdesk.client")
T = TypeVar("T")
Row = dict[str, Any]
_PAGE = 5000
_CALLERS = "crossdesk-changes"


@dataclass(frozen=True, slots=True)
class JobReport:
    """How a job stands."""

    id: str
    name: str
    outcome: Outcome
    """Where it is in its life, or how it ended: Done, Failed or Canceled."""
    exit_code: int | None = None
    signal: int | None = None
    """Number of the signal that ended its program."""
    cause: str = ""
    """Why it failed or waits, in words."""

    @property
    def ended(self) -> bool:
        """True once nothing changes any more."""
        return self.outcome.ended


class BlockingClient:
    """A `BrokerClient` whose calls block, for scripts, notebooks and plug-ins (CB-CMD-07).

    A thread of its own follows the broker, so that waiting for many jobs costs one connection and no asking.
    Every method may be called from any thread and raises the `CrossDeskError` that the broker named. Use it
    in a `with`, or close it.
    """

    def __init__(
        self, state_dir: Path | str | None = None, *, changed: Callable[[JobReport], None] | None = None
    ) -> None:
        """Connect to the broker of a state directory (None: the user's), starting one if none runs.

        `changed` is called with each change of a job that was submitted or asked for here, one at a time, in
        a thread of its own; it may use the client.
        """
        self._changed = changed
        self._callers = ThreadPoolExecutor(1, _CALLERS)
        self._rows: dict[str, Row] = {}
        self._gone: set[str] = set()
        self._news = asyncio.Condition()
        self._following: asyncio.Task[None] | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="crossdesk-client", daemon=True)
        self._thread.start()
        try:
            self._client: BrokerClient = self._result(connect(state_dir))
        except BaseException:
            self._end_thread()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; jobs go on."""
        if self._thread.is_alive():
            self._result(self._close())
            self._end_thread()

    def submit(
        self,
        description: Path | str,
        *,
        folder: Path | str | None = None,
        name: str = "",
        site: str = "",
        values: Sequence[str] | None = None,
    ) -> list[str]:
        """Submit a description, a file or its text; returns the ids of its jobs once they are on the disk.

        `folder`: where the files of its InputSandbox are, for a text the current one; `values`: one job for
        each, which stands for `_PARAM_`; `site`: the only one allowed. Raises DescriptionRefused.
        """
        return self._result(self._submit(description, folder, name, site, values))

    def status(self, jobs: str | Iterable[str]) -> list[JobReport]:
        """How jobs stand now; raises NotFound. Asked again for the same jobs it costs nothing."""
        return self._result(self._status(_ids(jobs)))

    def wait(self, jobs: str | Iterable[str], timeout: float | None = None) -> list[JobReport]:
        """Wait until all of these jobs have ended; returns how, in the same order.

        Raises TimeoutError after `timeout` seconds, and NotFound for a job that is purged meanwhile.
        """
        return self._result(self._wait(_ids(jobs), timeout))

    def output(self, job: str, name: str = "") -> str:
        """What a job wrote to its standard output, or to another of its files, so far; raises NotFound."""
        return self._result(self._output(job, name))

    def fetch(self, job: str, folder: Path | str) -> Path:
        """Save the output of an ended job; returns the new folder below `folder` that has it."""
        return self._result(fetch_output(self._client, job, folder)).directory

    def cancel(self, jobs: str | Iterable[str]) -> None:
        """Stop jobs; raises the first refusal, when all others are told to stop."""
        done = self._result(self._client.cancel(_ids(jobs)))
        for job, refusal in done.results.items():
            if refusal is not None:
                raise Conflict(refusal, place=job)

    def active(self) -> list[str]:
        """Ids of all jobs of the user that have not ended, newest first."""
        return self._result(self._active())

    # --- in the thread of the loop

    async def _submit(
        self,
        description: Path | str,
        folder: Path | str | None,
        name: str,
        site: str,
        values: Sequence[str] | None,
    ) -> list[str]:
        await self._follow()
        prepared = await prepare(description, folder, values=values)
        receipt = await self._client.submit_prepared(prepared, name=name, site=site, values=values)
        return receipt.ids

    async def _status(self, jobs: list[str]) -> list[JobReport]:
        await self._follow()
        for job in jobs:
            if job not in self._rows or job in self._gone:
                self._rows.pop(job, None)
                await self._take((await self._client.job(job)).row)
        return [report_of(self._rows[job]) for job in jobs]

    async def _wait(self, jobs: list[str], timeout: float | None) -> list[JobReport]:
        async with asyncio.timeout(timeout):
            while True:
                reports = await self._status(jobs)
                if all(report.ended for report in reports):
                    return reports
                await self._change(reports)

    async def _change(self, reports: list[JobReport]) -> None:
        """Return when one of these has changed, or when nobody follows any more."""
        async with self._news:
            await self._news.wait_for(
                lambda: (
                    self._following is None
                    or self._following.done()
                    or any(self._stale(report) for report in reports)
                )
            )

    def _stale(self, report: JobReport) -> bool:
        row = self._rows.get(report.id)
        return report.id in self._gone or row is None or report_of(row) != report

    async def _output(self, job: str, name: str) -> str:
        parts = [piece async for piece in self._client.stream_file(job, name or await self._stdout(job))]
        return b"".join(parts).decode(errors="replace")

    async def _stdout(self, job: str) -> str:
        return (await self._client.job(job)).stdout

    async def _active(self) -> list[str]:
        found: list[str] = []
        after = ""
        while True:
            page = await self._client.jobs_page(_PAGE, after, [one for one in JobState if one.active], ["id"])
            found += page.columns["id"]
            after = page.next
            if not after:
                return found

    async def _follow(self) -> None:
        """See to it that the broker is followed; raises why it cannot be any more, once."""
        if self._following is not None and self._following.done():
            ended, self._following = self._following, None
            self._rows.clear()
            ended.result()
        if self._following is None:
            position = (await self._client.info()).position
            if self._following is None:
                self._following = asyncio.create_task(self._updates(position))

    async def _updates(self, position: int) -> None:
        try:
            async with aclosing(self._client.follow(position, events=False)) as updates:
                async for update in updates:
                    await self._heed(update)
        finally:
            async with self._news:
                self._news.notify_all()

    async def _heed(self, update: Update) -> None:
        self._gone.update(update.gone)
        names = list(update.rows)
        for values in zip(*update.rows.values(), strict=True):
            row = dict(zip(names, values, strict=True))
            if row["id"] in self._rows:
                await self._take(row)
        async with self._news:
            self._news.notify_all()

    async def _take(self, row: Row) -> None:
        """Have a row of a job that we mind, unless a later one is here already."""
        old = self._rows.get(row["id"])
        if old is not None and old["seq"] >= row["seq"]:
            return
        self._rows[row["id"]] = row
        self._gone.discard(row["id"])
        if self._changed is not None and (old is None or report_of(old) != report_of(row)):
            self._callers.submit(self._changed, report_of(row)).add_done_callback(_loud)

    async def _close(self) -> None:
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait([self._following])
        await self._client.aclose()

    def _result(self, work: Coroutine[Any, Any, T]) -> T:
        """Have the loop do it; a break by the keyboard ends it there too."""
        if threading.current_thread() is self._thread or not self._thread.is_alive():
            work.close()
            raise CrossDeskError("The client is closed.", remedy="Make another one.", code="client_closed")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._callers.shutdown(wait=not threading.current_thread().name.startswith(_CALLERS))


def report_of(row: Row) -> JobReport:
    """How a job stands, by its row."""
    outcome = outcome_of(row["state"], row["exit_code"])
    cause = failure_cause(row["state"], row["exit_code"], row["signal"], row["reason"]) or row["reason"]
    return JobReport(row["id"], row["name"], outcome, row["exit_code"], row["signal"], cause)


def _ids(jobs: str | Iterable[str]) -> list[str]:
    return [jobs] if isinstance(jobs, str) else list(jobs)


def _loud(call: Future[None]) -> None:
    """What a caller's own function raises has nowhere to go but the log."""
    if not call.cancelled() and (error := call.exception()) is not None:
        log.error("What was to be called with a change of a job failed.", exc_info=error)
