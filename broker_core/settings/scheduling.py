"""Settings of the scheduler: policies, patience, and how long knowledge and locks count."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.policies.built_in import BEST_FIT, POLICIES
from broker_core.policies.queues import FCFS, QUEUES
from broker_core.settings.field import setting


@dataclass(frozen=True)
class SchedulingSettings:
    """Durations in seconds."""

    policy: str = setting(
        BEST_FIT, f"order of the sites that match a job: {', '.join(POLICIES)}, or a plug-in"
    )
    queue_policy: str = setting(FCFS, "who may pass whom in the queue", choices=tuple(QUEUES))
    rematch_interval: float = setting(120.0, "a waiting job is matched again at the latest after this")
    infeasible_timeout: float = setting(3600.0, "a job that no known resource can ever run is aborted then")
    interactive_start: float = setting(
        120.0, "an interactive job that its site keeps in the queue for longer is refused"
    )
    max_rematch: int = setting(5, "rounds of matching after failures at sites, before a job is aborted")
    temp_bad_period: float = setting(600.0, "longest time for which a site that fails is left alone")
    exclusive_interval: float = setting(120.0, "a chosen resource is kept from others at most so long")
    stale_after: float = setting(
        0.0, "a resource not heard of for so long is not matched; 0: three intervals of its source"
    )
    cache: bool = setting(True, "false: every source is asked anew for each round of matching")
