"""The states of a session in words, with a shape and a colour."""

from __future__ import annotations

from dataclasses import dataclass

from app.theme.faces import Shape
from broker_core.client.interactive import SessionState, Status


@dataclass(frozen=True, slots=True)
class SessionFace:
    """How a state is shown: never by its colour alone."""

    word: str
    shape: Shape
    token: str


FACES = {
    SessionState.STARTING: SessionFace("Starting", Shape.HOLLOW, "muted"),
    SessionState.CONNECTED: SessionFace("Connected", Shape.FILLED, "positive"),
    SessionState.DRAINING: SessionFace("Catching up", Shape.HALF, "accent"),
    SessionState.BUFFERING: SessionFace("Connection lost", Shape.HALF, "warning"),
    SessionState.DEAD: SessionFace("Given up", Shape.CROSS, "negative"),
    SessionState.CLOSED: SessionFace("Ended", Shape.CHECK, "muted"),
    SessionState.REFUSED: SessionFace("Not to be had", Shape.CROSS, "negative"),
}
_UNITS = ("bytes", "KiB", "MiB", "GiB")


def size(count: int) -> str:
    """Bytes for people: `12.3 KiB`."""
    value, unit = float(count), 0
    while value >= 1024 and unit < len(_UNITS) - 1:
        value, unit = value / 1024, unit + 1
    return f"{count} {'byte' if count == 1 else 'bytes'}" if not unit else f"{value:.1f} {_UNITS[unit]}"


def sentence(status: Status) -> str:
    """What the strip says beside the state's word."""
    parts = [_STATES[status.state](status)] if status.state in _STATES else []
    if status.state in (SessionState.CONNECTED, SessionState.DRAINING):
        if status.viewers > 1:
            parts.append(f"{status.viewers} desks are watching")
        if not status.writer:
            parts.append("another desk types")
    if status.unsent:
        parts.append(f"{size(status.unsent)} of input wait here")
    return " · ".join(part for part in parts if part)


def _buffering(status: Status) -> str:
    tries = f"try {status.retries}" if status.retries else "trying again"
    kept = f", {size(status.waiting)} of output wait at the node" if status.waiting else ""
    return f"the program runs on{kept}; {tries}"


def _closed(status: Status) -> str:
    if status.signal is not None:
        return f"by signal {status.signal}"
    return f"exit code {status.exit_code}" if status.exit_code is not None else ""


_STATES = {
    SessionState.STARTING: lambda status: status.reason,
    SessionState.CONNECTED: lambda status: f"at {status.node}" if status.node else "",
    SessionState.DRAINING: lambda status: f"{size(status.waiting)} to come" if status.waiting else "",
    SessionState.BUFFERING: _buffering,
    SessionState.DEAD: lambda status: status.reason,
    SessionState.CLOSED: _closed,
    SessionState.REFUSED: lambda status: status.reason,
}
