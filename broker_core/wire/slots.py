"""Glideins and their virtual slots as they are shown (CB-UI-10)."""

from __future__ import annotations

from broker_core.wire.submission import Wire


class SlotView(Wire):
    """One of the two slots of a glidein, with the job in it."""

    role: str
    """slot1 for a batch job, slot2 for an interactive one or a component of a job over several sites."""
    state: str = ""
    """Reserved, Free or Claimed; empty before the glidein has joined."""
    job: str = ""
    """Id of the caller's job in it; empty: none, or one of another user."""
    name: str = ""
    """Name of that job."""
    taken: bool = False
    """A job is in it, whoever's."""
    step: str = ""
    """How far that is: Offered, Gathering, Running, Suspended, Ending."""
    priority: int | None = None
    """Nice value of all its processes; None where no job is in it, or it is told anew."""
    share: float | None = None
    """Part of the CPU that it gets while both slots compute, 0 to 1; None where no job is in it."""
    line: int = 0
    """Batch jobs that wait there to have it next."""


class GlideinView(Wire):
    """A glidein: a machine, or a share of one, that the broker holds through a batch job of its own."""

    id: str
    site: str
    ce: str
    node: str = ""
    """Empty before it has joined."""
    state: str
    """Requested, QueuedAtSite, Starting, Joined, Busy, Shared, Idle."""
    since: float
    """When it came into that state, seconds since the epoch; after a start of the broker, since that."""
    owner: str
    """User whose job caused it."""
    vo: str = ""
    """Virtual organization whose jobs it takes; empty: it takes those of its owner alone."""
    originator: str = ""
    """Id of the job that caused it; empty for one of another user."""
    originator_name: str = ""
    slots: list[SlotView]
    """slot1 and slot2."""
    ends: float | None = None
    """When it ends unless a job comes, seconds since the epoch; None: it is not idle."""
    boxed: str = ""
    """Whether jobs in it are kept in boxes, as it says: yes, no and why, or empty: not known."""
    restores: bool = True
    """It can give a batch job its full priority back; else that has the lower one from the start."""


class SlotHistory(Wire):
    """Slots of the caller's glideins over the last day, as columns; each value holds until the next time."""

    times: list[float] = []
    """Seconds since the epoch, rising."""
    there: list[int] = []
    """Slots that were open."""
    used: list[int] = []
    """Slots that a job had."""
    opened: int = 0
    """Slots that were opened within the day."""
    claims: int = 0
    """Jobs that got a slot within the day."""


class SlotsView(Wire):
    """All that is shown of virtual slots."""

    now: float
    """The broker's clock, seconds since the epoch."""
    sites: list[str]
    """Sites whose batch jobs run in glideins, by the setting `glideins`; none: they are off."""
    glideins: list[GlideinView]
    """Those that the caller's jobs may use, oldest first."""
    history: SlotHistory = SlotHistory()
