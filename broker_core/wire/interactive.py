"""Sessions of interactive jobs, and the desks that may have them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from broker_core.wire.submission import Wire


class DeskKey(Wire):
    """The public key of a desk."""

    key: Annotated[str, Field(pattern=r"^ssh-ed25519 [A-Za-z0-9+/=]{60,80}( [^\r\n]{0,80})?$")]
    """As in OpenSSH, `ssh-ed25519 ...`; the private part never leaves the desk."""
    name: Annotated[str, Field(max_length=80)] = ""
    """For people: user and machine."""
    door: Annotated[str, Field(max_length=280, pattern=r"^([^\s]+:\d{1,5})?$")] = ""
    """host:port at which the desk waits for agents of its jobs; empty: it listens nowhere."""


class NewDesk(DeskKey):
    """A desk that is to be registered: by the login of who asks, or by the word of a desk that is."""

    again: bool = False
    """Register it even though it was forgotten once."""
    by: str = ""
    """Fingerprint of the registered desk that vouches for it."""
    time: int = 0
    """When that desk did so, in seconds since the epoch."""
    signature: Annotated[str, Field(max_length=200)] = ""
    """Of `vouched_text`, by the key of that desk; in Base64."""


def vouched_text(key: str, time: int) -> bytes:
    """What a registered desk signs to add another one: the kind and body of its key, and when."""
    return " ".join(["crossdesk-desk", *key.split()[:2], str(time)]).encode()


class DeskView(DeskKey):
    """A desk that is registered."""

    fingerprint: str
    added: float
    """Seconds since the epoch."""
    added_by: str
    """How it proved whose desk it is."""


class MeetingPlace(Wire):
    """A relay at which the agent waits."""

    host: str
    port: int


class SessionManners(Wire):
    """What the broker's settings say of desks."""

    buffer: int = 4096
    """Bytes of output after which it is shown without waiting for the end of a line."""
    flush_time: float = 0.2
    """Seconds after which it is."""
    ports: str = "20000-25000"
    """FIRST-LAST at which agents may call a desk, unless the desk says otherwise; `none`: nowhere."""


class ContactState(StrEnum):
    """Whether the agent of a job can be reached."""

    WAITING = "waiting"
    """The job or its agent is not there yet."""
    THERE = "there"
    """It can."""
    OVER = "over"
    """The job has ended, and its agent with it."""
    NONE = "none"
    """It has no agent of ours."""

    __hash__ = str.__hash__


class SessionContact(Wire):
    """What a desk needs to reach the agent of a job."""

    job: str
    attempt: int
    state: ContactState
    reason: str = ""
    """What is waited for, or why there is none."""
    token: str = ""
    places: list[MeetingPlace] = []
    host_key: str = ""
    fingerprint: str = ""
    node: str = ""
    agent: str = ""
    """`terminal`: it speaks SSH with desks; `plain`: the broker carries lines, or has the output of a job
    that ended before any desk came; empty while there is none."""
    manners: SessionManners = SessionManners()
    missing: str = ""
    """Why it is not of the better kind, in words; empty where it is."""
    exit_code: int | None = None
    """Of a job that is over and was not aborted or canceled."""
    signal: int | None = None
    """That ended it."""
    dead: bool = False
    """Its agent waited too long for a desk, and ended the program."""
