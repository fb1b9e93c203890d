"""What sites say goes to who decides: of a job at one site, or of a component of several."""

from __future__ import annotations

from broker_core.jobs.attempt_events import AgentReady, AttemptReport
from broker_core.scheduling.attempts.several_ends import SeveralEnds
from broker_core.scheduling.attempts.site_reactions import SiteReactions
from broker_core.scheduling.coallocation.coallocations import OF_COMPONENT
from broker_core.scheduling.coallocation.messages import SitesInContact
from broker_core.scheduling.messages import LinkChanged
from broker_core.scheduling.state import SchedulerState


class AttemptReports:
    """Every word of a site passes here."""

    def __init__(self, state: SchedulerState, sites: SiteReactions, together: SeveralEnds) -> None:
        self._jobs = state.jobs
        self._cache = state.cache
        self._sites = sites
        self._together = together
        self._over_several = state.coallocations.live

    def handle(self, message: AttemptReport) -> None:
        """One component of several says nothing of its job by itself; the co-allocation does. The agent of an
        interactive job does: it has but one."""
        if message.component.job not in self._over_several:
            self._sites.handle(message)
            return
        job = self._jobs.live.get(message.component.job)
        if job is None or message.component.attempt != job.record.attempt:
            self._sites.handle(message)
        elif isinstance(message, OF_COMPONENT):
            self._together.tell(message)
        elif isinstance(message, AgentReady):
            self._sites.handle(message)

    def link_changed(self, message: LinkChanged) -> None:
        """A site can be used, or not, from now on."""
        self._sites.link_changed(message)
        if message.usable:
            self._together.tell(SitesInContact(frozenset(self._cache.of_site(message.site))))
