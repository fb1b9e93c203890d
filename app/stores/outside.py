"""Jobs that were submitted outside CrossDesk, as the broker tells them; asked for while looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.stores.jobs import JobStore
from app.stores.refresh import Reload
from app.stores.signals import JobSignals
from broker_core.errors import CrossDeskError
from broker_core.jobs.query import JobQuery
from broker_core.wire.outside_columns import OUTSIDE_COLUMNS, outside_columns

if TYPE_CHECKING:
    from app.stores.broker import BrokerAccess
    from broker_core.wire.outside import OutsideJob, OutsideJobs


class OutsideStore:
    """Rows of their own, which no count, batch or statistic of the user's jobs looks at."""

    def __init__(self, broker: BrokerAccess, signals: JobSignals | None = None) -> None:
        self._broker = broker
        self.rows = JobStore(signals, OUTSIDE_COLUMNS)
        self.jobs: dict[str, OutsideJob] = {}
        """Key to job."""
        self.silent: dict[str, str] = {}
        """Site to why it could not be asked."""
        self.error = ""
        """Why they could not be read the last time; empty: they could."""
        self.watched = False
        """Somebody looks at them: only then are sites asked."""
        self._position = 0
        self.reload = Reload(broker, self._reload, "asking for jobs outside CrossDesk")
        """Ask the broker; while a question is on its way, ask once more afterwards."""
        broker.topics.sites.connect(self._changed_there)
        broker.link.changed.connect(self._changed_there)

    def watch(self, on: bool) -> None:
        """Somebody begins to look at them, or does so no more."""
        began, self.watched = on and not self.watched, on
        if began:
            self.reload()

    def number(self, query: JobQuery, now: float) -> int:
        """How many of them a query has."""
        alive = [number for number in self.rows.numbers() if self.rows.alive(number)]
        return len(query.select(self.rows.columns, alive, now))

    def _changed_there(self) -> None:
        if self.watched:
            self.reload()

    async def _reload(self) -> None:
        try:
            self.show(await self._broker.client.outside_jobs(refresh=self.watched))
        except CrossDeskError as error:
            self.error = str(error)
            self.rows.changed.emit(set())

    def show(self, found: OutsideJobs) -> None:
        """Take in what the broker knows."""
        before, self.jobs = self.jobs, {job.key: job for job in found.jobs}
        self.silent, self.error = found.silent, ""
        if before.keys() - self.jobs.keys():
            self.rows.clear()
            before = {}
        self._position += 1
        fresh = [job for key, job in self.jobs.items() if before.get(key) != job]
        self.rows.merge(outside_columns(fresh, self._position))
        if not self.rows.complete or fresh:
            self.rows.finish()
