"""The figures by which the Scheduling Agent decides."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.scheduling.slots.interactive import InteractiveMode


@dataclass(frozen=True, slots=True)
class SchedulerConfig:
    """Intervals are seconds of the monotonic clock; defaults as in the table of configuration values."""

    rematch_interval: float = 120.0
    """Waiting jobs are matched again at the latest after this (CB-SCH-06)."""
    infeasible_timeout: float = 3600.0
    """A job that no known resource can ever run is aborted after this (CB-SCH-12)."""
    max_rematch: int = 5
    """Rounds of matching after failures at sites (CB-ERR-6)."""
    temp_bad_period: float = 600.0
    """Longest time for which a failing resource is left alone (CB-ERR-1, CB-ERR-2)."""
    first_bad_period: float = 5.0
    """Time after its first failure; every further failure makes it four times as long."""
    reputation_half_life: float = 900.0
    """In this time what is known of a resource's successes and failures counts for half."""
    first_probe: float = 10.0
    """A resource that fails its jobs is tried with one more after this; twice as long with each failure, at
    most `temp_bad_period`."""
    fast_end: float = 10.0
    """A program that ends badly within this time may have met a bad place."""
    exclusive_interval: float = 120.0
    """Longest time for which a computing element is locked for one job (CB-CACHE-06)."""
    access_needed: bool = False
    """Only resources that are heard through an account of the user can be used."""
    batch_capacity: str = "free"
    """With `total`, batch jobs may wait in the batch system of a site that is used through an account
    (CB-MM-05); with `free` they start there at once or wait in the broker."""
    max_site_queue: int = 10
    """Jobs of this broker that may wait there; a longer queue comes last in the order of choices."""
    cache: bool = True
    """False: what sources said counts for one round of decisions only (CB-CACHE-09)."""
    explain_after: float = 1.0
    """A job is told why it waits once it has waited this long for free resources."""
    cancel_again: float = 10.0
    """A cancel that no site has confirmed is asked again after this."""
    start_confirmed: float = 300.0
    """A start that is not confirmed this long after the site says that it runs the job is given up
    (SA-LCH-07)."""
    interactive_start: float = 120.0
    """An interactive job that its site keeps in the queue for longer is given up (CB-SCH-08)."""
    interactive_elsewhere: float = 10.0
    """So long it stays there though it could start elsewhere at once: the site was fuller than was known."""
    interactive_mode: InteractiveMode = InteractiveMode.FREE_FIRST
    """Whether free processors or virtual slots come first (CB-SCH-08a)."""
    poison_deaths: int = 3
    """A job that is on its way to a site whenever the broker dies is handed over again so often, and no more
    (reliability case 24)."""
    poison_starters: int = 3
    """A job whose Job Starters or agents died so often is held (reliability case 24): before the program
    began, each site counts once, since another starter there may die of the same; after that, each time."""
    gather_timeout: float = 3600.0
    """All components of a job over several sites reach MPI_Init within this, or it is matched again."""
    queue_ahead: float = 0.0
    """Processors' worth of jobs, as a share of all of them, that may wait in the queue of a resource which
    is the only one for them: the next job starts there without a way to the broker and back. Four times as
    many where jobs are chosen, run and over within a second: they are held up for no longer. Only with
    `batch_capacity` total, as for every other queue of a site."""
    slice_jobs: int = 120
    """Jobs taken over, or looked at, in one call of the reactor; the rest follows at once."""
    slice_facts: int = 25
    """Computing elements merged into the cache in one call of the reactor."""
    slice_facts_few: int = 5
    """The same while jobs are to be taken over, which may need a match over all resources."""
    decisions: int = 2000
    """Decisions that are remembered."""
