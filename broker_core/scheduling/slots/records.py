"""Live glideins, slots and claims as the monitor knows them; their states are kept by their tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from broker_core.jobs.immutable import immutable
from broker_core.jobs.placement import Component
from broker_core.scheduling.slots.rules import PriorityControl, SlotRole, SlotUse

Key = tuple[str, int]
"""A component of a job, whatever its attempt: two attempts of it never run at the same time."""


@immutable
class Payload:
    """What is to run in a slot: one component of an attempt, with all that decides about its slot."""

    component: Component
    owner: str
    vo: str
    """Virtual organization; empty where there is none, and then the owner counts alone."""
    use: SlotUse

    def as_details(self) -> dict[str, Any]:
        """As JSON, for the details of an event."""
        one = self.component
        return {
            "job": one.job, "attempt": one.attempt, "index": one.index,
            "owner": self.owner, "vo": self.vo, "use": self.use.value,
        }  # fmt: skip


def payload_of(details: Mapping[str, Any]) -> Payload:
    """The reverse of `Payload.as_details`; raises KeyError or ValueError for other details."""
    component = Component(details["job"], details["attempt"], details["index"])
    return Payload(component, details["owner"], details["vo"], SlotUse(details["use"]))


def key_of(component: Component) -> Key:
    """See `Key`."""
    return component.job, component.index


class EndCause(StrEnum):
    """Why a payload was told to end."""

    WITHDRAWN = "withdrawn"
    """Its job does not want it any more."""
    MADE_ROOM = "made room"
    """For the job in the other slot (CB-GLI-13); it is to run again."""
    RECALLED = "recalled"
    """It waits in line behind another for too long; unless it has begun it is to run again."""
    FORGOTTEN = "forgotten"
    """Its glidein does not know it any more; what is left of it ends, and it is to run again."""

    @property
    def blameless(self) -> bool:
        """It runs again, and neither its job nor its site has failed."""
        return self in (EndCause.MADE_ROOM, EndCause.RECALLED)


@dataclass(slots=True)
class Slot:
    """One of the two slots of a glidein that is in the pool."""

    id: str
    glidein: str
    role: SlotRole
    claim: str = ""
    """The claim that has it; empty: none."""
    line: list[str] = field(default_factory=list)
    """Claims that get it after that one, in this order: the glidein has their payloads already."""


@dataclass(slots=True)
class Claim:
    """One payload in one slot; it is made once, and never for another payload."""

    id: str
    payload: Payload
    glidein: str
    slot: str
    since: float = 0.0
    """When it got its slot, by the monotonic clock; it waited in line before."""
    priority: int | None = None
    """The nice value that its glidein was last told; None: it has to be told anew."""
    end_cause: EndCause | None = None
    """Why it was told to end; None: it was not."""
    released: bool = False
    """All other components of its job are there too."""
    lease_ends: float = 0.0
    """If it is in doubt: when nothing of it can run any more, by the monotonic clock."""


@dataclass(slots=True)
class Glidein:
    """A machine, or a share of one, that the broker holds through a batch job of its own."""

    id: str
    payload: Payload
    """Of the job that caused it: its originator."""
    ce: str
    since: float
    """When it came into its state, by the monotonic clock."""
    answered: float = 0.0
    """When its last sign of life was answered, by the monotonic clock; its lease began before that."""
    node: str = ""
    box: str = ""
    """What keeps its payloads apart: `bubblewrap`, `landlock`, or `not boxed: REASON` (CB-SEC)."""
    priorities: PriorityControl = PriorityControl.BOTH_WAYS
    slots: dict[SlotRole, Slot] = field(default_factory=dict)
    """Empty before it joins."""
    needs: str = ""
    """What its originator asks of a machine; other batch jobs run in it only if they ask for the same."""
    seconds: float = 0.0
    """Wall limit of its originator; 0: none."""
    lasts: float = 0.0
    """Its own; 0: none."""
    others: tuple[str, ...] = ()
    """Other computing elements of its site whose glideins could take its originator."""
    until: float = 0.0
    """When that is reached, by the wall clock; 0: it is not, or it has not begun."""
    pace: float | None = None
    """Seconds in which a batch job is over here, as far as is known."""
    closed: bool = False
    """It refused a payload, and gets no further one."""

    def admits(self, payload: Payload) -> bool:
        """True for jobs of the VO of the originator (CB-GLI-08), and those of its owner that name none."""
        if self.payload.vo and payload.vo:
            return self.payload.vo == payload.vo
        return self.payload.owner == payload.owner
