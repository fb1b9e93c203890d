"""What the sites need of whoever carries glideins out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from broker_core.jobs.attempt_events import AttemptReport
from broker_core.jobs.placement import Component
from broker_core.sites.contract import LaunchOrder


@dataclass(frozen=True, slots=True)
class Handover:
    """Something for a site that the scheduler did not send there by itself."""

    order: Callable[[], Awaitable[LaunchOrder | None]]
    """Makes the order; None: it is not wanted any more. Raises CrossDeskError."""
    taken: Callable[[str], None]
    """Called with the site's id once the site has it for good."""
    refused: Callable[[str], None]
    """Called with the reason where the site did not take it."""


class GlideinReports(Protocol):
    """Glideins as far as sites deal with them."""

    def take(self, site: str, report: AttemptReport) -> bool:
        """Take what a site says of a glidein; False for what is of a job."""
        ...

    def known(self, site: str) -> Sequence[Component]:
        """The glideins that are believed to be at a site."""
        ...

    def has(self, attempt: Component) -> bool:
        """True for an attempt that a glidein has, or is to get."""
        ...


class NoGlideins:
    """Stands where there are none."""

    def take(self, site: str, report: AttemptReport) -> bool:
        """Everything is of jobs."""
        return False

    def known(self, site: str) -> Sequence[Component]:
        """None."""
        return ()

    def has(self, attempt: Component) -> bool:
        """None has."""
        return False
