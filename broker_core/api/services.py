"""The parts of a running broker, as the API sees them."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass

from broker_core.api.listener import user_name
from broker_core.bookkeeping.store import Store
from broker_core.engine.ended_jobs import EndedJobs
from broker_core.engine.engine import Engine
from broker_core.engine.stream import Stream
from broker_core.information.replicas.memory import ReplicaMemory
from broker_core.information.runner import Updaters
from broker_core.launching.files import FileStore
from broker_core.matchmaking.data_locality import DataLocality
from broker_core.matchmaking.match_context import MatchContext
from broker_core.matchmaking.policy_choice import ActivePolicies
from broker_core.paths import Paths
from broker_core.sessions.agent_monitor import AgentMonitor
from broker_core.sessions.key_distribution import KeyDistribution
from broker_core.sessions.line_sessions import LineSessions
from broker_core.sessions.sessions import Sessions
from broker_core.settings.settings import Settings
from broker_core.site_management.site_discovery import SiteDiscovery
from broker_core.site_management.site_dispatcher import SiteDispatcher
from broker_core.site_management.site_registry import SiteRegistry
from broker_core.submission.checking import Checker
from broker_core.submission.launch_orders import LaunchOrders
from broker_core.submission.submissions import Submissions
from broker_core.version import API_VERSION, VERSION
from broker_core.wire.views import BrokerInfo


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that a request may need."""

    places: Paths
    settings: Settings
    store: Store
    engine: Engine
    stream: Stream
    checker: Checker
    orders: LaunchOrders
    files: FileStore
    sites: SiteDispatcher
    sessions: Sessions
    lines: LineSessions
    introductions: KeyDistribution
    agents: AgentMonitor
    registry: SiteRegistry
    detections: SiteDiscovery
    submissions: Submissions
    ended: EndedJobs
    policies: ActivePolicies
    circumstances: MatchContext
    updaters: Updaters
    replicas: ReplicaMemory
    near_files: DataLocality
    stop: Callable[[str], None]
    """Begin to stop the broker, for a reason."""
    started: float
    """Seconds since the epoch."""

    async def info(self, owner: str) -> BrokerInfo:
        """Who answers."""
        condition = self.store.condition.value
        return BrokerInfo(
            version=VERSION,
            api=API_VERSION,
            pid=os.getpid(),
            host=socket.gethostname(),
            user=user_name(os.getuid()),
            mode=self.settings.mode,
            state_dir=str(self.places.state),
            epoch=self.store.epoch,
            started=self.started,
            position=self.stream.position,
            storage=condition,
            storage_reason="" if condition == "ok" else "The disk that holds the state takes nothing now.",
            notices=self.store.notices,
            accepting=self.submissions.accepting,
            jobs=await self.store.states(owner),
            limits={
                "input_sandbox_max": self.settings.sandbox_limit,
                "description_max": self.settings.description_max,
                "output_max": self.settings.output_max,
            },
            dialect=self.settings.dialect,
        )
