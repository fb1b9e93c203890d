"""What sites say of the components of a job over several of them."""

from __future__ import annotations

from broker_core.jobs.attempt_events import AttemptAccepted, AttemptEnded
from broker_core.jobs.placement import Component
from broker_core.scheduling.coallocation.messages import ComponentGathered
from tests.scheduling.stage import Stage


def components(stage: Stage, job: str, count: int = 2) -> list[Component]:
    """Of the current attempt."""
    return [Component(job, stage.records[job].attempt, index) for index in range(count)]


def held(stage: Stage, job: str, count: int = 2) -> None:
    """All sites have theirs."""
    for one in components(stage, job, count):
        stage.tell(AttemptAccepted(one, held=True))


def gathered(stage: Stage, job: str, count: int = 2) -> None:
    """All have reached MPI_Init."""
    for one in components(stage, job, count):
        stage.tell(ComponentGathered(one))


def gone(stage: Stage, job: str, count: int = 2, code: int | None = None) -> None:
    """All are over: ended by themselves with this code, else by their sites."""
    for one in components(stage, job, count):
        stage.tell(AttemptEnded(one, stage.wall, code, failure="" if code is not None else "killed"))


def together(stage: Stage, job: str, count: int) -> None:
    """Accepted, gathered and ended well."""
    held(stage, job, count)
    gathered(stage, job, count)
    gone(stage, job, count, 0)
