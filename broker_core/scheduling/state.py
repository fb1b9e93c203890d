"""What the parts of the scheduler share: one object, made once and given to each."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.resources.cache import ResourceCache
from broker_core.resources.reputation import Reputation
from broker_core.scheduling.config import SchedulerConfig
from broker_core.scheduling.decisions import Decisions
from broker_core.scheduling.eligibility import EligibilityTable, Match
from broker_core.scheduling.job_table import JobTable
from broker_core.scheduling.queue.arrivals import Arrivals
from broker_core.scheduling.queue.pending_queue import PendingQueue
from broker_core.scheduling.queue.shares import FairShares


class SchedulerState:
    """All that the scheduler remembers between two messages, but for what its parts keep for themselves."""

    def __init__(self, match: Match, positions: Callable[[], int], rules: SchedulerConfig) -> None:
        """`positions`: the next position in the log."""
        self.rules = rules
        self.jobs = JobTable(positions)
        """Live jobs, and the effects of the message in hand."""
        self.shares = FairShares()
        """The order in which users take turns."""
        self.arrivals = Arrivals(self.jobs, self.shares)
        """Jobs that were submitted and are not taken over yet."""
        self.queue = PendingQueue()
        """Jobs that wait."""
        self.cache = _cache(rules)
        """What is known of the resources."""
        self.eligibility = EligibilityTable(self.cache.board, match)
        """Where jobs can run, by matching."""
        self.decisions = Decisions(rules.decisions)
        """What was decided lately."""


def _cache(rules: SchedulerConfig) -> ResourceCache:
    return ResourceCache(
        rules.exclusive_interval,
        rules.first_bad_period,
        rules.temp_bad_period,
        access_needed=rules.access_needed,
        reputation=Reputation(rules.reputation_half_life, rules.first_probe, rules.temp_bad_period),
    )
