"""The broker as it is shown, and the way to its end."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from broker_core.bookkeeping.store import Store
from broker_core.broker.api.listener import user_name
from broker_core.broker.engine.stream import Stream
from broker_core.broker.submission.submissions import Submissions
from broker_core.settings.settings import Settings
from broker_core.system.paths import Paths
from broker_core.version import API_VERSION, VERSION
from broker_core.wire.views import BrokerInfo


class BrokerStatus:
    """Who answers, and how it does."""

    def __init__(
        self, paths: Paths, settings: Settings, store: Store, stream: Stream, submissions: Submissions
    ) -> None:
        self._paths = paths
        self._settings = settings
        self._store = store
        self._stream = stream
        self._submissions = submissions
        self.started = time.time()
        """Seconds since the epoch."""

    async def info(self, owner: str) -> BrokerInfo:
        """The broker as one of its users sees it."""
        condition, settings = self._store.condition.value, self._settings
        return BrokerInfo(
            version=VERSION,
            api=API_VERSION,
            pid=os.getpid(),
            host=socket.gethostname(),
            user=user_name(os.getuid()),
            mode=settings.mode,
            state_dir=str(self._paths.state),
            epoch=self._store.epoch,
            started=self.started,
            position=self._stream.position,
            storage=condition,
            storage_reason="" if condition == "ok" else "The disk that holds the state takes nothing now.",
            notices=self._store.notices,
            accepting=self._submissions.accepting,
            jobs=await self._store.states(owner),
            limits={
                "input_sandbox_max": settings.sandbox_limit,
                "description_max": settings.description_max,
                "output_max": settings.output_max,
            },
            dialect=settings.dialect,
        )


class Shutdown:
    """Begins the end of the broker."""

    def __init__(self, begin: Callable[[str], None], mark: Path) -> None:
        """`mark`: file that tells clients that the broker is away on purpose."""
        self._begin, self._mark = begin, mark

    def begin(self, reason: str, *, on_purpose: bool = False) -> None:
        """Stop soon, for a reason in words; `on_purpose`: no command line starts another one unasked."""
        if on_purpose:
            with suppress(OSError):  # a full disk must not keep it from stopping
                self._mark.touch()
        self._begin(reason)
