"""The owner wants a job run elsewhere although its attempt may still run at a silent site."""

from __future__ import annotations

from broker_core.jobs.failure_history import ChoiceFailure
from broker_core.jobs.transitions import EventType
from broker_core.scheduling.attempts.fencing import Fences
from broker_core.scheduling.attempts.rematching import Rematching
from broker_core.scheduling.live_job import LiveJob
from broker_core.scheduling.messages import ElsewhereAsked
from broker_core.scheduling.selection import Selector
from broker_core.scheduling.state import SchedulerState


class ForcedRematch:
    """The one way in which two attempts of a job can be alive at once: an explicit act, with a warning."""

    def __init__(
        self, state: SchedulerState, selector: Selector, fences: Fences, rematching: Rematching
    ) -> None:
        self._arrivals = state.arrivals
        self._cache = state.cache
        self._selector = selector
        self._fences = fences
        self._rematching = rematching

    def refusal(self, job: LiveJob) -> str:
        """Why a job cannot be run elsewhere; empty: it can."""
        if not job.at_site:
            return "It is at no site now"
        if job.canceling:
            return "It is being canceled"
        if len(job.ces) > 1:
            return "It runs over several sites: cancel it and submit it again"
        if job.record.interactive:
            return "It is interactive: cancel it and submit it again"
        if not self._selector.has_others(job.demand, self._without(job)):
            return "No other known resource could ever run it"
        return ""

    def handle(self, message: ElsewhereAsked) -> None:
        """Fence the attempt, and match the job again without its site; nothing where that cannot be."""
        job = self._arrivals.known(message.job)
        if job is None or self.refusal(job):
            return
        where, attempt = job.sites, job.record.attempt
        trouble = ChoiceFailure(job.ces, "its owner wanted it run elsewhere")
        reason = (
            f"Its owner asked to run it elsewhere. Warning: attempt {attempt} may still run at {where} until "
            "that is heard from; it is ended then, and what it reports does not count"
        )
        job.excluded = self._without(job)
        self._fences.end(job.record)
        self._rematching.again(
            job, EventType.REMATCHED, reason, trouble, counts=False, details={"fenced": attempt}
        )

    def _without(self, job: LiveJob) -> frozenset[str]:
        sites = {self._cache.site_of(ce) for ce in job.ces}
        there = [ce for site in sites for ce in self._cache.of_site(site)]
        return job.excluded.union(job.ces, there)
