"""What sites say of attempts: one set of facts, from a site's adapter to the scheduler (CB-LIFE-02)."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from broker_core.jobs.immutable import immutable
from broker_core.jobs.placement import Component

FAILURES = (
    "download",
    "executable-missing",
    "software",
    "agent",
    "no-desk",
    "upload",
    "wall-limit",
    "output-limit",
    "out-of-memory",
    "killed",
    "lost",
    "lease",
    "refused-second-start",
    "never-starts",
    "starter",
    "made-room",
)
"""What can end an attempt other than the application itself (CB-JS-06).

`killed` answers a cancel; with `no-desk` the Bypass agent gave the program up (CB-BYP-05); `made-room`: for
another job on the same machine, to run again (CB-GLI-13).
"""


@immutable
class AttemptAccepted:
    """A site has an attempt for good; the answer to a Submit effect."""

    name: ClassVar[str] = "site.accepted"
    component: Component
    site_id: str = ""
    held: bool = False
    """It starts there only after a Confirm effect."""


@immutable
class AttemptRefused:
    """A site did not take an attempt; the answer to a Submit effect (CB-ERR-1, CB-ERR-2)."""

    name: ClassVar[str] = "site.refused"
    component: Component
    reason: str
    counts: bool = True
    """False where the failure says nothing about the job, e.g. a full disk: it is no round of CB-ERR-6."""
    down: bool = False
    """The resource does not answer at all; left alone until a source reports it healthy (CB-ERR-1)."""


@immutable
class AttemptFound:
    """An attempt that was looked for after a restart is at its site, and waits there for its Confirm."""

    name: ClassVar[str] = "site.found"
    component: Component
    site_id: str
    """The site's own id."""


@immutable
class AttemptRuns:
    """A site says that it runs an attempt, but nothing was heard from the attempt itself (SA-LCH-07)."""

    name: ClassVar[str] = "site.runs"
    component: Component


@immutable
class AttemptWaits:
    """A site keeps an attempt waiting for another reason than before; empty: for its turn alone."""

    name: ClassVar[str] = "site.waits"
    component: Component
    reason: str


@immutable
class AttemptStarted:
    """The application was started."""

    name: ClassVar[str] = "attempt.started"
    component: Component
    time: float
    """Seconds since the epoch, by the node's clock."""
    node: str = ""
    pid: int = 0
    """Of the application on its node; 0: not known."""


@immutable
class AgentReady:
    """The agent of an interactive job left its key at the site, or says something new of itself."""

    name: ClassVar[str] = "agent.ready"
    component: Component
    node: str
    fingerprint: str
    words: str = ""
    """What people are told of it."""


@immutable
class AttemptEnded:
    """An attempt is over: every process of it is gone."""

    name: ClassVar[str] = "attempt.ended"
    component: Component
    time: float
    """Seconds since the epoch."""
    exit_code: int | None = None
    """0 to 255, None where the application did not end by itself or never started."""
    signal: int | None = None
    """Signal that ended the application."""
    failure: str = ""
    """Empty for a normal end; else one of FAILURES."""
    reason: str = ""
    """The failure in words, with location and remedy."""
    usage: dict[str, float] = field(default_factory=dict)
    """`wall_s`, `cpu_s`, `max_rss_bytes` as known."""
    started: float | None = None
    """When the application started, should that event have been lost; None if it never did."""
    error_line: str = ""
    """The last line of its standard error, where it failed; added by the broker."""


AttemptReport = (
    AttemptAccepted
    | AttemptRefused
    | AttemptFound
    | AttemptRuns
    | AttemptWaits
    | AttemptStarted
    | AgentReady
    | AttemptEnded
)
