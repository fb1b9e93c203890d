"""One attempt at a remote site: what the broker knows of it while it is not over."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.jobs.placement import Component
from broker_core.sites.adapter import Seen
from broker_core.sites.contract import LaunchOrder
from broker_core.worker.markers import EndedMark, StartedMark


@dataclass(slots=True, eq=False)
class Tracked:
    """An attempt, from its submission or finding again until its end is reported. Times are monotonic."""

    attempt: Component
    order: LaunchOrder | None
    """None for what was found again after a restart."""
    id: str = ""
    arrived: float | None = None
    """When the site was first known to have it."""
    sent: bool = False
    """It may be at the site."""
    handing: bool = False
    """A submission is under way."""
    seen: Seen | None = None
    """By the last look."""
    reason: str = ""
    hopeless: bool = False
    """By the last look it will never start."""
    confirmed: bool = False
    release_sent: float | None = None
    let_go: bool = False
    """It was seen to be released: should somebody hold it later, that is their will."""
    cancel_asked: bool = False
    cancel_sent: float | None = None
    told_held: bool = False
    told_waits: str = ""
    """Why it waits, as it was told last."""
    told_runs: bool = False
    told_start: bool = False
    started: StartedMark | None = None
    ended: EndedMark | None = None
    gone_looks: int = 0
    """So often in a row the batch system did not know it, though no marker tells its end."""
    gone_at: float = 0.0
    """When the last of these looks was over."""
    gone_for: float = 0.0
    """Seconds that count as passed meanwhile."""
    beat: bytes = b""
    """Its starter's last sign of life that was seen while the batch system did not know it."""
    was_listed: bool = False
    """The batch system was seen to know it."""
    ending: bool = False
    """Its end is known; its files are being brought."""

    sizes: dict[str, int] = field(default_factory=dict)
    """Files that could be read when they were last listed."""

    @property
    def tag(self) -> str:
        """The attempt's tag."""
        return self.attempt.tag
