"""A second kind of entity, as small as one can be: its owner gets a notice some time after a job ended."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from broker_core.jobs.immutable import immutable
from broker_core.jobs.transition_table import TransitionTable
from broker_core.reactor.entities import Entities, RecordEvent
from broker_core.reactor.reactor import Now, TimerFired, Wake
from broker_core.scheduling.effects import JobEnded

S = NoticeState = StrEnum("NoticeState", {"DUE": "Due", "SENT": "Sent"})
E = NoticeEvent = StrEnum("NoticeEvent", {"DUE": "notice.due", "SENT": "notice.sent"})
STEPS = {(None, E.DUE): S.DUE, (S.DUE, E.SENT): S.SENT}
LIFE = TransitionTable("a notice", tuple(S), E, frozenset({S.SENT}), STEPS)


@immutable
class SendNotice:
    """Write to the owner that a job ended."""

    subject: str
    owner: str


@immutable
class NoticeSent:
    """It is on its way; for the reactor."""

    effect: SendNotice


class Notices:
    takes = frozenset({JobEnded, NoticeSent, TimerFired})
    gives = frozenset({RecordEvent, SendNotice})

    def __init__(self, positions: Callable[[], int], delay: float) -> None:
        self.entities: Entities[Any, Any] = Entities(LIFE, positions)
        self._delay = delay
        self._due: dict[str, tuple[float, str]] = {}

    def handle(self, event: JobEnded | NoticeSent | TimerFired, now: Now) -> list[Any]:
        if isinstance(event, NoticeSent):
            return [self.entities.step(event.effect.subject, E.SENT, now, owner=event.effect.owner)]
        effects: list[Any] = []
        if isinstance(event, JobEnded):
            subject, owner = f"notice-{event.record.id}", event.record.owner
            self._due[subject] = now.monotonic + self._delay, owner
            effects.append(self.entities.step(subject, E.DUE, now, owner=owner))
        over = [subject for subject, (at, _) in self._due.items() if at <= now.monotonic]
        effects += [SendNotice(subject, self._due.pop(subject)[1]) for subject in over]
        return effects + ([Wake(min(at for at, _ in self._due.values()))] if self._due else [])

    def validate(self) -> list[str]:
        return [f"{one} is due and not live" for one in self._due if not self.entities.state(one)]
