"""The parts of a running broker, as the API sees them."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass

from broker_core.bookkeeping.store import Store
from broker_core.broker.agent_watch import AgentWatch
from broker_core.broker.checking import Checker
from broker_core.broker.circumstances import Circumstances
from broker_core.broker.detections import Detections
from broker_core.broker.ended_jobs import EndedJobs
from broker_core.broker.engine import Engine
from broker_core.broker.introductions import Introductions
from broker_core.broker.line_sessions import LineSessions
from broker_core.broker.listener import user_name
from broker_core.broker.near_files import NearFiles
from broker_core.broker.orders import Orders
from broker_core.broker.places import Places
from broker_core.broker.policy_choice import PolicyChooser
from broker_core.broker.sessions import Sessions
from broker_core.broker.settings import Settings
from broker_core.broker.site_calls import SiteCalls
from broker_core.broker.site_registry import SiteRegistry
from broker_core.broker.stream import Stream
from broker_core.broker.submissions import Submissions
from broker_core.information.replica_memory import ReplicaMemory
from broker_core.information.runner import Updaters
from broker_core.launching.files import FileStore
from broker_core.version import API_VERSION, VERSION
from broker_core.wire.views import BrokerInfo


@dataclass(frozen=True, slots=True)
class Services:
    """Everything that a request may need."""

    places: Places
    settings: Settings
    store: Store
    engine: Engine
    stream: Stream
    checker: Checker
    orders: Orders
    files: FileStore
    sites: SiteCalls
    sessions: Sessions
    lines: LineSessions
    introductions: Introductions
    agents: AgentWatch
    registry: SiteRegistry
    detections: Detections
    submissions: Submissions
    ended: EndedJobs
    policies: PolicyChooser
    circumstances: Circumstances
    updaters: Updaters
    replicas: ReplicaMemory
    near_files: NearFiles
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
