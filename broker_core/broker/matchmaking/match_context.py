"""What matching must know besides description and resources: settings, users, chance and the clock."""

from __future__ import annotations

import logging
import pwd
import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from broker_core.broker.matchmaking.collective_conditions import collective_conditions
from broker_core.broker.matchmaking.data_locality import NOTHING, DataLocality, Near
from broker_core.interactive.sessions.agent_programs import agents
from broker_core.jdl.evaluation.environment import EvaluationEnvironment
from broker_core.launching.application_launchers import ApplicationLaunchers
from broker_core.matching.context import Context
from broker_core.matching.match import Matches, match
from broker_core.resources.pool import Pool
from broker_core.scheduling.demand import Demand
from broker_core.scheduling.eligibility import Match
from broker_core.settings.settings import Settings
from broker_core.system.clock import now

log = logging.getLogger("crossdesk.matching")


def matchmaker(circumstances: MatchContext, near_files: DataLocality) -> Match:
    """Matchmaking for the scheduler, which orders and takes by itself (CB-SCH-03)."""

    def match_demand(demand: Demand, pool: Pool, seed: int) -> Matches:
        near = near_files.known(demand.description, pool)
        found = match(demand.description, pool, context=circumstances.decided(demand.site, near, seed))
        if found.several and found.grouping.note:
            log.warning("%s", found.grouping.note)
        return found

    return match_demand


class MatchContext:
    """Makes the context of each match; the parts that stay the same are made once."""

    def __init__(self, settings: Settings) -> None:
        self.successes: Mapping[str, float] = {}
        """Computing element to the part of its jobs that ended well lately."""
        self.storage: Mapping[str, Mapping[str, Any]] = {}
        """Storage element to its attributes by GLUE name."""
        self._homes = {user.pw_name: user.pw_dir for user in pwd.getpwall()}
        self._shown = Context(
            batch_capacity=settings.batch_capacity,
            max_site_queue=settings.max_site_queue,
            mpi_tags=settings.mpi_tags,
            slots_tag=settings.slots_tag,
            set_mode=settings.set_matching,
            collective=collective_conditions(),
            max_ces_per_set=settings.max_ces_per_set,
            max_groups=settings.max_groups,
            abilities=_abilities(settings),
        )
        self._decided = replace(self._shown, batch_capacity="total")

    def shown(self, site: str, close: Near = NOTHING) -> Context:
        """For list-match: what is compared as the settings say. Chance falls as it falls."""
        return self._made(self._shown, site, close, random.getrandbits(32))

    def decided(self, site: str, close: Near, seed: int) -> Context:
        """For the scheduler, which itself looks after free CPUs; the same seed gives the same order."""
        return self._made(self._decided, site, close, seed)

    def _made(self, base: Context, site: str, close: Near, seed: int) -> Context:
        return replace(
            base,
            site=site,
            close=close,
            now=now().wall,
            surroundings=EvaluationEnvironment(
                chance=random.Random(seed).random,  # noqa: S311
                homes=self._homes,
                storage=self.storage,
                successes=self.successes,
            ),
            fuzzy_seed=seed,
        )


def _abilities(settings: Settings) -> frozenset[str]:
    """What other sites can do because of what this broker has: interactive jobs need some agent."""
    able = settings.line_agent or agents(settings.agent_program).frozen is not None
    launchers = {f"launcher:{name}" for name in ApplicationLaunchers(settings.application_launchers).names}
    return frozenset(launchers | {"interactive"} if able else launchers)
