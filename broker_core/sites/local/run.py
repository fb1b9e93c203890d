"""An attempt at the local site while it is there: the states of its life, and what the site knows of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from broker_core.jobs.transition_table import TransitionTable
from broker_core.sites.attempt_directory import AttemptDirectory
from broker_core.sites.contract import LaunchOrder
from broker_core.sites.staging import stage
from broker_core.worker.markers import StartedMark

log = logging.getLogger("crossdesk.sites")


@dataclass(frozen=True, slots=True)
class Queued:
    """It waits for its processors."""


@dataclass(frozen=True, slots=True)
class Staging:
    """It has its processors; its files are laid out, or its start is tried again."""


@dataclass(frozen=True, slots=True)
class Launched:
    """Its Job Starter is a child of this process, so that its exit status and usage can be had."""

    starter: int
    """Pid."""
    begun: float
    """When it was started, seconds since the epoch."""


@dataclass(frozen=True, slots=True)
class Handed:
    """A lasting starter has it, one of this process or of an earlier one."""

    lasting: int
    """Pid."""
    begun: float
    """When it was handed over, seconds since the epoch; 0: before a restart."""


@dataclass(frozen=True, slots=True)
class Followed:
    """Its Job Starter was started by another process: before a restart, or by a start that came first."""

    starter: int
    """Pid."""


@dataclass(frozen=True, slots=True)
class Abandoned:
    """It was started before a restart, and its Job Starter is gone: what is left of it is ended."""


@dataclass(frozen=True, slots=True)
class Finished:
    """All its processes are gone, and its end is reported."""


Running = Launched | Handed | Followed | Abandoned
RunStage = Queued | Staging | Running | Finished


class RunEvent(StrEnum):
    """What happens to an attempt at the local site; the value is for people."""

    ARRIVED = "arrived"
    """The site has it for good."""
    CHOSEN = "chosen"
    """Its processors are free, and given to it."""
    LAUNCHED = "launched"
    """Its Job Starter was started."""
    HANDED = "handed"
    """A lasting starter has it."""
    FOLLOWED = "followed"
    """A living Job Starter of another process was found."""
    ABANDONED = "abandoned"
    """It was started, and no Job Starter was found."""
    ENDED = "ended"
    """Its end is known, and nothing of it runs."""


E = RunEvent

RUN_LIFE: TransitionTable[type[RunStage], RunEvent] = TransitionTable(
    "an attempt at this machine",
    (Queued, Staging, Launched, Handed, Followed, Abandoned, Finished),
    RunEvent,
    frozenset({Finished}),
    {
        (None, E.ARRIVED): Queued,
        (Queued, E.CHOSEN): Staging,
        (Staging, E.LAUNCHED): Launched,
        (Launched, E.LAUNCHED): Launched,
        (Staging, E.HANDED): Handed,
        (Handed, E.LAUNCHED): Launched,
        **{(state, E.HANDED): Handed for state in (Queued, Launched, Handed)},
        **{(state, E.FOLLOWED): Followed for state in (Queued, Launched, Handed, Followed)},
        (Queued, E.ABANDONED): Abandoned,
        (Followed, E.ABANDONED): Abandoned,
        **{(state, E.ENDED): Finished for state in (Queued, Staging, Launched, Handed, Followed, Abandoned)},
    },
)
"""Of two starts the starter refuses the second, and then the first one is followed. What a lasting starter
declines is launched."""
_EVENTS: dict[type[RunStage], RunEvent] = {
    Staging: E.CHOSEN,
    Launched: E.LAUNCHED,
    Handed: E.HANDED,
    Followed: E.FOLLOWED,
    Abandoned: E.ABANDONED,
    Finished: E.ENDED,
}


@dataclass(slots=True, eq=False)
class LocalRun:
    """One attempt at the site."""

    order: LaunchOrder
    directory: AttemptDirectory
    stage: RunStage = field(default_factory=Queued)
    started: StartedMark | None = None
    """Its start, as it was reported."""
    verdict: tuple[str, str] | None = None
    """Failure and reason, if the site itself ends the attempt."""
    kernel_kills: int = 0
    """See `UseSampler`, as of a moment before its start."""
    ending: asyncio.Task[None] | None = None
    """The task that ends its processes."""

    @property
    def tag(self) -> str:
        """The attempt's tag."""
        return self.order.attempt.tag

    @property
    def starter(self) -> int:
        """Pid of the Job Starter, or of the program that a lasting one started: it leads the job's session.
        0 while there is none."""
        if isinstance(self.stage, Handed):
            return self.started.pid if self.started is not None else 0
        return self.stage.starter if isinstance(self.stage, Launched | Followed) else 0

    @property
    def begun(self) -> float:
        """Before which nothing happened to it, seconds since the epoch; 0: it is not known."""
        return self.stage.begun if isinstance(self.stage, Launched | Handed) else 0.0

    def lay_out(self) -> None:
        """Put its input files into an empty directory; for a thread. Raises StagingFailed and OSError."""
        self.directory.clear_job()
        stage(self.order.inputs, self.directory.job)

    def note(self, write: Callable[[], None]) -> None:
        """Write down for the next process; a full disk keeps no job from being ended, or told of."""
        try:
            write()
        except OSError as error:
            log.warning("%s: a restart would have to find out anew how it stands: %s", self.tag, error)

    def enter(self, stage: RunStage) -> None:
        """Go on to a stage; raises IllegalTransition."""
        RUN_LIFE.after(type(self.stage), _EVENTS[type(stage)])
        self.stage = stage
