"""Live jobs are taken over from a broker that ended (CB-LB-02)."""

from __future__ import annotations

from broker_core.jobs.events import EventSource
from broker_core.jobs.failure_history import FailureHistory
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.attempts.attempts import Attempts
from broker_core.scheduling.attempts.several_sites import SeveralSites
from broker_core.scheduling.attempts.site_reactions import SiteReactions
from broker_core.scheduling.effects import Submit, of_components
from broker_core.scheduling.live_job import IN_DOUBT, LiveJob
from broker_core.scheduling.messages import Arrival, JobsRecovered
from broker_core.scheduling.state import SchedulerState


class Recovering:
    """Finds each job its place again; what was on its way to a site is handed over again."""

    def __init__(
        self, state: SchedulerState, attempts: Attempts, sites: SiteReactions, several: SeveralSites
    ) -> None:
        self._jobs = state.jobs
        self._arrivals = state.arrivals
        self._queue = state.queue
        self._rules = state.rules
        self._attempts = attempts
        self._sites = sites
        self._several = several

    def handle(self, message: JobsRecovered) -> None:
        """Take over all jobs of a message, those known already excepted."""
        for arrival in message.arrivals:
            record = arrival.record
            if record.state is JobState.SUBMITTED:
                self._arrivals.add((arrival,))
            elif record.id not in self._jobs.live and not record.state.ended:
                self._live(arrival, message.died)

    def _live(self, arrival: Arrival, died: bool) -> None:
        job = self._arrivals.admit(arrival)
        if job.at_site:
            self._attempts.adopt(job)
            if len(job.ces) > 1:
                self._over_several(job, arrival.past or FailureHistory(), died)
                return
            self._sites.adopt(job)
            if died and job.record.state is JobState.RUNNING and not job.canceling:
                self._watched_again(job)
            elif job.record.state is JobState.READY and not job.canceling:
                self._on_its_way(job, arrival.past or FailureHistory(), died)
        elif not job.record.held:
            self._queue.again.append(job)

    def _watched_again(self, job: LiveJob) -> None:
        reason = "The broker died while it ran, and watches over it again from now on"
        self._jobs.note(job, EventType.LAUNCHER_REPLACED, EventSource.AL, reason=reason)

    def _over_several(self, job: LiveJob, past: FailureHistory, died: bool) -> None:
        """Go on with components at several sites; those on their way are handed over again."""
        if died and job.record.state is JobState.RUNNING and not job.canceling:
            self._watched_again(job)
        elif job.record.state is JobState.READY and not job.canceling:
            self._components_on_their_way(job, past, died)
            return
        self._several.adopt(job, past)

    def _components_on_their_way(self, job: LiveJob, past: FailureHistory, died: bool) -> None:
        """As `_on_its_way`; what may kill the broker is removed from all sites, and its job is held."""
        deaths = past.deaths + died
        often = deaths > self._rules.poison_deaths
        if died:
            follows = "all components are ended" if often else "it is handed over again"
            reason = f"The broker died while this was on its way to {job.sites}; {follows}"
            self._jobs.note(job, EventType.BROKER_DIED, reason=reason)
        self._several.adopt(job, past, f"The broker died {deaths} times in a row" if often else "")

    def _on_its_way(self, job: LiveJob, past: FailureHistory, died: bool) -> None:
        """Hand a job over again under the same tag, unless it may be what kills the broker: then its site is
        only asked whether it has it (reliability case 24)."""
        deaths = past.deaths + died
        if deaths > self._rules.poison_deaths:
            job.attempt = IN_DOUBT
        if died:
            reason = f"The broker died while this was on its way to {job.sites}"
            if deaths > 1:
                reason += f", {deaths} times in a row"
            follows = (
                "the site is asked whether it has it"
                if job.attempt is IN_DOUBT
                else "it is handed over again"
            )
            self._jobs.note(job, EventType.BROKER_DIED, reason=f"{reason}; {follows}")
        if job.attempt is not IN_DOUBT:
            self._jobs.effects.extend(of_components(Submit, job.record))
