"""What a session tells whoever shows it: output, and where it stands (CB-UI-07)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class SessionState(StrEnum):
    """Where the session stands, as seen from the desk."""

    STARTING = "starting"
    """The job or its agent is not there yet."""
    CONNECTED = "connected"
    """Output arrives as it is written."""
    DRAINING = "draining"
    """Past output is being fetched; then it is connected."""
    BUFFERING = "buffering"
    """The connection is broken: the program runs on, its output is kept on the node, we try again."""
    DEAD = "dead"
    """The agent gave up waiting for a desk and killed the program."""
    CLOSED = "closed"
    """The program has ended and all its output is here."""
    REFUSED = "refused"
    """It cannot be had, and trying again does not help; the reason says why."""


ENDED = (SessionState.DEAD, SessionState.CLOSED, SessionState.REFUSED)


@dataclass(frozen=True, slots=True)
class OutputReceived:
    """Bytes that the program wrote."""

    stream: int
    """1 standard output (all output where there is a terminal), 2 standard error."""
    offset: int
    """Place of the first byte in the stream."""
    data: bytes


@dataclass(frozen=True, slots=True)
class Gap:
    """Output that is lost: the node keeps only so much while no desk is there."""

    stream: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Status:
    """Where the session stands; a new one is told whenever anything in it changes."""

    state: SessionState = SessionState.STARTING
    reason: str = ""
    """Why, in words for people, with the remedy."""
    attempt: int = 0
    """Of the job, of which this is shown; another one begins anew. 0: not known yet."""
    mode: str = ""
    """`terminal` (i2glogin) or `lines` (bypass); empty until known."""
    writer: bool = False
    """Our input goes to the program; else another desk has it."""
    taken: bool = True
    """A desk has the input; else whoever takes it."""
    viewers: int = 0
    """Desks that are connected, we included."""
    retries: int = 0
    """Attempts to connect since the connection broke."""
    waiting: int = 0
    """Bytes of output that wait at the node, as last heard."""
    unsent: int = 0
    """Bytes of input that wait here."""
    received: int = 0
    """Bytes of output that arrived."""
    sent: int = 0
    """Bytes of input that the agent has."""
    node: str = ""
    fingerprint: str = ""
    """Of the agent's key."""
    direct: bool = False
    """Without a relay."""
    notice: str = ""
    """What this session lacks because its node can run no better agent, and the remedy; else empty."""
    display: str = ""
    """Of the program, on its node, as in DISPLAY; empty: it has none."""
    windows: int = 0
    """Windows of the program that wait for a desk which shows them."""
    silent: int = 0
    """Seconds without an answer over a connection that stands; 0: the agent answers."""
    exit_code: int | None = None
    signal: int | None = None
    forwards: tuple[ForwardView, ...] = field(default=())
    services: tuple[ServiceView, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class ForwardView:
    """One forward as shown in a list."""

    kind: str
    """`local`, `remote`, `socket`, `x11` or `network`."""
    listen: str
    target: str
    sent: int
    received: int
    connections: int
    problem: str = ""


class ServiceState(StrEnum):
    """Where a service of a job stands, as its agent sees it."""

    STARTING = "starting"
    """The program named it; nothing listens there yet."""
    READY = "ready"
    ENDED = "ended"
    """Nothing listens there any more, or nothing did for long."""
    REFUSED = "refused"
    """It is not opened; the problem says why."""


@dataclass(frozen=True, slots=True)
class ServiceView:
    """One service as shown in a list, without its secrets. Name and problem are texts of others."""

    name: str
    state: ServiceState
    problem: str = ""


Event = OutputReceived | Gap | Status
