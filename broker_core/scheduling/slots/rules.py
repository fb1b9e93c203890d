"""What is set about slots, and the words of it (section 16.1 of the requirements)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum


class SlotRole(StrEnum):
    """The two slots of a machine (CB-GLI-03)."""

    SLOT1 = "slot1"
    """For batch jobs alone (CB-GLI-05)."""
    SLOT2 = "slot2"
    """For interactive jobs and components of jobs over several sites (CB-GLI-06)."""


class SlotUse(StrEnum):
    """What kind of job wants a slot (CB-GLI-01)."""

    BATCH = "batch"
    """A sequential batch job."""
    INTER_CLUSTER = "inter-cluster"
    """A component of a batch job over several sites."""
    INTERACTIVE = "interactive"
    """An interactive job, whatever its structure."""

    @property
    def role(self) -> SlotRole:
        """The slot that it may use."""
        return SlotRole.SLOT1 if self is SlotUse.BATCH else SlotRole.SLOT2

    @property
    def activates(self) -> bool:
        """True if such a job starts a glidein; for interactive ones that would take too long."""
        return self is not SlotUse.INTERACTIVE


class OnRelease(StrEnum):
    """What is done with the batch job beside another one, once that starts (CB-GLI-13)."""

    LOW_PRIORITY = "low_priority"
    """It goes on at the lower priority."""
    SUSPEND = "suspend"
    """It is stopped until the other has ended."""
    CANCEL = "cancel"
    """It is ended and waits in the broker again."""


class PriorityControl(StrEnum):
    """What a node lets its unprivileged account do with priorities (CB-GLI-12)."""

    BOTH_WAYS = "both ways"
    """They can be lowered and restored: by weights of control groups, or the system allows it."""
    DOWN_ONLY = "down only"
    """A nice value cannot be raised again: slot1 has its lower priority from the start."""


@dataclass(frozen=True, slots=True)
class SlotRules:
    """Settings of slots; times in seconds, priorities as nice values (0 strongest, 19 weakest)."""

    batch_priority: int = 10
    """Of slot1 while slot2 is taken (CB-GLI-11)."""
    interactive_priority: int = 0
    """Of slot2."""
    restore_full_priority: bool = True
    """Slot1 has the priority of slot2 while it is alone (CB-GLI-12)."""
    on_release: OnRelease = OnRelease.LOW_PRIORITY
    """Beside a job over several sites."""
    on_interactive: OnRelease = OnRelease.LOW_PRIORITY
    """Beside an interactive job."""
    queue_timeout: float = 3600.0
    """A glidein that its site did not start for so long is given up."""
    start_timeout: float = 300.0
    """A glidein that was started and did not join for so long has failed (`glidein_start_timeout`)."""
    idle_exit: float = 300.0
    """A glidein without jobs for so long ends (`glidein_idle_exit`, CB-GLI-10); 0: at once."""
    lost_after: float = 180.0
    """A glidein that was not heard for so long is lost (`glidein_lost_after`)."""
    lease: float = 180.0
    """A glidein ends its payloads and itself when no sign of life was answered for so long by its own clock,
    counted from when it sent the last one that was answered."""
    grace: float = 30.0
    """What a node takes at most to end all processes once a lease has ended."""

    most_waiting: int = 16
    """Glideins of one kind that wait at a site; as many as have joined, if these are more. Further batch jobs
    have theirs asked for later, unless one that runs can take them before."""
    most_in_line: int = 16
    """Batch jobs that wait at a machine behind the one in its slot1."""
    first_in_line: int = 8
    """Those that wait behind the first one there, while nobody knows how long that takes; all are short. None
    do where half as many for each machine are not there."""
    short: float = 120.0
    """Wall limit of a job that is short by its own words."""
    time_in_line: float = 5.0
    """So many wait there as are over within this time; one, where a job takes up to twice as long."""
    patience_in_line: float = 15.0
    """When the job ahead has taken so long, who waits behind it goes back to the broker."""

    def beside(self, use: SlotUse) -> OnRelease:
        """What is done with the batch job beside a job of slot2 that has started."""
        return self.on_interactive if use is SlotUse.INTERACTIVE else self.on_release


def use_of(structure: str, needs: Collection[str]) -> SlotUse | None:
    """How a job uses slots, by the structure and the needs of its description; None: bare machines only, as
    pre-emption of single processes would break a job inside one cluster (CB-GLI-01)."""
    if "interactive" in needs:
        return SlotUse.INTERACTIVE
    if "inter-cluster" in needs:
        return SlotUse.INTER_CLUSTER
    return SlotUse.BATCH if structure == "Normal" else None
