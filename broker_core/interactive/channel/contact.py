"""Where and how the agent of a job is met: what the broker introduces the desk with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from broker_core.errors import CrossDeskError
from broker_core.interactive.channel.rendezvous import PORTS, Endpoint
from broker_core.interactive.channel.stream_link import CarriedLink, StreamListener


@dataclass(frozen=True, slots=True)
class FlowSettings:
    """How desks behave, as the broker's settings have it; times in seconds, sizes in bytes."""

    flush_size: int = 4096
    """Output of lines that may wait for the end of its line (CB-BYP-06)."""
    flush_time: float = 0.2
    """How long it may wait."""
    ports: range = PORTS
    """Where agents may call a desk that says nothing else (CB-BYP-09); empty: nowhere."""


@dataclass(frozen=True, slots=True)
class Contact:
    """The agent of one attempt of a job."""

    job: str
    token: str
    places: tuple[Endpoint, ...]
    """Relays at which it waits; where we listen ourselves it comes to us."""
    host_key: str
    """The agent's public key, made on the node, as in OpenSSH; nothing else is spoken to."""
    node: str = ""
    attempt: int = 0
    carried: Callable[[StreamListener], CarriedLink] | None = None
    """Makes a link by way of the broker, where no agent can be met."""
    notice: str = ""
    """What is missing then, and why, in words for people with the remedy."""
    manners: FlowSettings = FlowSettings()


class NotYet(CrossDeskError):
    """The agent is not there yet; the message says what is waited for."""

    code = "session_not_yet"


class SessionOver(CrossDeskError):
    """The job has ended, and with it its session."""

    code = "session_over"
    exit_code: int | None = None
    """Of the program, where the broker knows it."""
    signal: int | None = None
    """That ended it."""
    dead: bool = False
    """The agent gave up waiting for a desk."""


Introduce = Callable[[], Awaitable[Contact]]
"""Asks for the contact, before each attempt to connect: raises NotYet, SessionOver, or what is wrong."""
