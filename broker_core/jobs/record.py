"""The row of a job: what all its events add up to."""

from __future__ import annotations

from dataclasses import fields

from broker_core.jobs.events import JobEvent
from broker_core.jobs.immutable import copier, immutable
from broker_core.jobs.placement import NOWHERE, Component, ComputingElement, Placement, shared
from broker_core.jobs.site_names import site_names
from broker_core.jobs.states import JobState
from broker_core.jobs.transitions import EventType

_TIMES = {
    EventType.ACCEPTED: "accepted",
    EventType.MATCHED: "matched",
    EventType.SCHEDULED: "scheduled",
    EventType.RUNNING: "started",
    EventType.DONE: "ended",
    EventType.ABORTED: "ended",
    EventType.REFUSED: "ended",
    EventType.CANCELED: "ended",
    EventType.CANCEL_REQUESTED: "canceling",
}
_SAYS_NOTHING = frozenset({EventType.MESSAGE_LATE, EventType.LEFT_EXPIRES, EventType.PURGED})
_NO_ERROR = frozenset({EventType.DONE, EventType.CANCELED})
_HOLDS = frozenset({EventType.HELD, EventType.RELEASED})


@immutable
class JobRecord:
    """A job as it stands now: the row of the jobs table (CB-UI-02). Times: seconds since the epoch."""

    id: str
    owner: str
    name: str
    """Short name for people; the base name of the executable if none was given."""
    structure: str
    """Normal, Parallel or Workflow (CB-JOB-01)."""
    interactive: bool
    cpus: int
    state: JobState
    description: str
    """SHA-256 (hex) of the description's text in the store."""
    batch: str = ""
    """Id that the jobs of one submission share; empty for a single job."""
    parameter: str = ""
    """Value that replaces `_PARAM_` in the description; empty for a plain job."""
    pinned: str = ""
    """The only site it may go to, as its owner asked; empty: any."""
    rerun_of: str = ""
    """Id of the job that it repeats, with whose batch and value; that one counts no more in its batch."""
    reason: str = ""
    """Why it is in this state, of the last event that said so."""
    held: str = ""
    """Why it is on hold; empty if it is not. Only meaningful while Waiting."""
    placements: tuple[Placement, ...] = ()
    """Of the components of the current or last attempt; the column `site` in the store and on the wire."""
    attempt: int = 0
    submitted: float = 0.0
    accepted: float | None = None
    matched: float | None = None
    scheduled: float | None = None
    started: float | None = None
    ended: float | None = None
    """When the application ended, or the job was aborted or canceled."""
    exit_code: int | None = None
    signal: int | None = None
    error_line: str = ""
    """The last line that a failed job wrote to its standard error, as far as it can be shown; else empty."""
    memory: int | None = None
    """Most bytes that it had in main memory at one look, on its first node; None: not known."""
    canceling: float | None = None
    """When the owner asked to cancel, while the sites are being told."""
    seq: int = 0
    """Number of its last event."""
    position: int = 0
    """Place of its last event in the broker's log."""
    schema: int = 1

    @property
    def component(self) -> Component:
        """The first component of the current or last attempt."""
        return Component(self.id, self.attempt)

    def components_at(self, site: str) -> list[Component]:
        """The components of the current or last attempt that are at a site of this name; of one that is at a
        single computing element, that one."""
        if len(self.placements) < 2:
            return [self.component]
        return [
            Component(self.id, self.attempt, index)
            for index, one in enumerate(self.placements)
            if one.ce.site == site
        ]

    @property
    def ce(self) -> ComputingElement:
        """Where the first component is, or was, and with it the files of the job."""
        return self.placements[0].ce if self.placements else NOWHERE

    @property
    def sites(self) -> str:
        """Names of the sites of the current or last attempt, for people."""
        return site_names(tuple(one.ce.id for one in self.placements))


COLUMNS = tuple("site" if one.name == "placements" else one.name for one in fields(JobRecord))
"""Names of the fields in the store and on the wire, in order."""

_copied = copier(JobRecord)


def first_record(event: JobEvent) -> JobRecord:
    """The row that a `job.submitted` event begins; its details hold the fixed columns."""
    fixed = event.details
    return JobRecord(
        id=event.job,
        owner=event.owner,
        name=fixed["name"],
        structure=fixed["structure"],
        interactive=fixed["interactive"],
        cpus=fixed["cpus"],
        state=event.new,
        description=fixed["description"],
        batch=fixed.get("batch", ""),
        parameter=fixed.get("parameter", ""),
        pinned=fixed.get("pinned", ""),
        rerun_of=fixed.get("rerun_of", ""),
        reason=event.reason,
        submitted=event.time,
        seq=event.seq,
        position=event.position,
        schema=event.schema,
    )


def relinked(record: JobRecord, rerun_of: str) -> JobRecord:
    """The row once the job that it repeated was removed, and it repeats the one before that."""
    after = _copied(record)
    after.rerun_of = rerun_of  # type: ignore[misc]
    return after


def apply(record: JobRecord | None, event: JobEvent) -> JobRecord:
    """Return the row after `event`. Pure: replaying a job's events gives its stored row."""
    if record is None:
        return first_record(event)
    after, kind = _copied(record), event.type
    # Only here, where the row is new and nobody has it yet, are its fields set one by one.
    after.state, after.seq, after.position = event.new, event.seq, event.position  # type: ignore[misc]
    column = _TIMES.get(kind)
    # Most events have a time of their own, and are none of the others.
    if column is not None:
        setattr(after, column, event.time)
    elif kind in _SAYS_NOTHING:
        return after
    elif kind in _HOLDS:
        after.held = event.reason if kind is EventType.HELD else ""  # type: ignore[misc]
    after.reason = event.reason  # type: ignore[misc]
    if event.attempt > after.attempt:
        after.attempt = event.attempt  # type: ignore[misc]
    if event.resources and kind is not EventType.COMPONENT_CHANGED:
        after.placements = shared(event.resources, after.cpus)  # type: ignore[misc]
    if event.details:
        _detail(after, event)
    if after.error_line and kind in _NO_ERROR and "error_line" not in event.details:
        after.error_line = ""  # type: ignore[misc] # an earlier attempt left one
    if after.canceling is not None and event.new.ended:
        after.canceling = None  # type: ignore[misc]
    return after


def _detail(after: JobRecord, event: JobEvent) -> None:
    details = event.details
    if "exit_code" in details:
        after.exit_code = details["exit_code"]  # type: ignore[misc]
    if "signal" in details:
        after.signal = details["signal"]  # type: ignore[misc]
    if "error_line" in details:
        after.error_line = details["error_line"]  # type: ignore[misc]
    if "usage" in details:
        most = details["usage"].get("max_rss_bytes")
        after.memory = int(most) if most else None  # type: ignore[misc]
