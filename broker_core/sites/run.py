"""An attempt at the local site while it is there: what the site knows of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import Enum, auto

from broker_core.jobs.attempt_events import AttemptEnded
from broker_core.sites.attempt_directory import AttemptDirectory
from broker_core.sites.contract import LaunchOrder


class Stage(Enum):
    """How far an attempt has come."""

    QUEUED = auto()
    STAGING = auto()
    RUNNING = auto()
    OVER = auto()


@dataclass(slots=True, eq=False)
class Run:
    """One attempt at the site."""

    order: LaunchOrder
    directory: AttemptDirectory
    stage: Stage = Stage.QUEUED
    starter: int = 0
    """Pid of the Job Starter; 0 before there is one."""
    child: bool = False
    """True if this process started it, so that its exit status and usage can be had."""
    begun: float = 0.0
    """When the starter was started here; 0 if that was before a restart."""
    told_start: bool = False
    verdict: tuple[str, str] | None = None
    """Failure and reason, if the site itself ends the attempt."""
    ending: asyncio.Task[None] | None = None
    """The task that ends its processes."""
    ended: AttemptEnded | None = None

    @property
    def tag(self) -> str:
        """The attempt's tag."""
        return self.order.attempt.tag
