"""Live jobs are taken over from a broker that ended (CB-LB-02)."""

from __future__ import annotations

from collections import deque

from broker_core.jobs.failure_history import FailureHistory
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.arrivals import Arrivals
from broker_core.scheduling.attempts.site_reactions import SiteReactions
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.effects import Submit, of_components
from broker_core.scheduling.job_table import JobTable
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.messages import Arrival, JobsRecovered


class Recovering:
    """Finds each job its place again; what was on its way to a site is handed over again."""

    def __init__(
        self,
        ledger: JobTable,
        arrivals: Arrivals,
        sites: SiteReactions,
        unparked: deque[LiveJob],
        rules: SchedulerConfig,
    ) -> None:
        self._ledger = ledger
        self._arrivals = arrivals
        self._sites = sites
        self._unparked = unparked
        self._rules = rules

    def take(self, message: JobsRecovered) -> None:
        """Take over all jobs of a message, those known already excepted."""
        for arrival in message.arrivals:
            record = arrival.record
            if record.state is JobState.SUBMITTED:
                self._arrivals.add((arrival,))
            elif record.id not in self._ledger.jobs and not record.state.ended:
                self._live(arrival, message.died)

    def _live(self, arrival: Arrival, died: bool) -> None:
        job = self._arrivals.admit(arrival)
        if job.at_site:
            self._sites.adopt(job)
            if job.record.state is JobState.READY and not job.canceling:
                self._on_its_way(job, arrival.past or FailureHistory(), died)
        elif not job.record.held:
            self._unparked.append(job)

    def _on_its_way(self, job: LiveJob, past: FailureHistory, died: bool) -> None:
        """Hand a job over again under the same tag, unless it may be what kills the broker: then its site is
        only asked whether it has it (reliability case 24)."""
        deaths = past.deaths + died
        job.suspect = deaths > self._rules.poison_deaths
        if died:
            told = f"The broker died while this was on its way to {job.sites}"
            if deaths > 1:
                told += f", {deaths} times in a row"
            follows = "the site is asked whether it has it" if job.suspect else "it is handed over again"
            self._ledger.note(job, EventType.BROKER_DIED, reason=f"{told}; {follows}")
        if not job.suspect:
            self._ledger.effects.extend(of_components(Submit, job.record))
