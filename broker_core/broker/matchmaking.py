"""Matchmaking as the scheduler and list-match both ask it: one function, one view of the resources."""

from __future__ import annotations

from broker_core.broker.circumstances import Circumstances
from broker_core.broker.near_files import NearFiles
from broker_core.matching.match import Matches, match
from broker_core.resources.pool import Pool
from broker_core.scheduling.demand import Demand
from broker_core.scheduling.standing import Match


def matchmaker(circumstances: Circumstances, near_files: NearFiles) -> Match:
    """Matchmaking for the scheduler, which orders and takes by itself (CB-SCH-03)."""

    def match_demand(demand: Demand, pool: Pool, seed: int) -> Matches:
        near = near_files.known(demand.description, pool)
        return match(demand.description, pool, context=circumstances.decided(demand.site, near, seed))

    return match_demand
