"""The states of a session in words, with a shape and a colour."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from app.units import size
from app.widgets.state_style import StateShape
from broker_core.client.interactive import SessionState, Status

_NOTED = 4096
"""Bytes of input under way that are worth a word while the connection stands."""
_READ_ONLY = "read only: another window has the keyboard"


@dataclass(frozen=True, slots=True)
class SessionStyle:
    """How a state is shown: never by its colour alone."""

    word: str
    shape: StateShape
    token: str


SESSION_STYLES = {
    SessionState.STARTING: SessionStyle("Starting", StateShape.HOLLOW, "muted"),
    SessionState.CONNECTED: SessionStyle("Connected", StateShape.FILLED, "positive"),
    SessionState.DRAINING: SessionStyle("Draining", StateShape.HALF, "accent"),
    SessionState.BUFFERING: SessionStyle("Buffering", StateShape.HALF, "warning"),
    SessionState.DEAD: SessionStyle("Dead", StateShape.CROSS, "negative"),
    SessionState.CLOSED: SessionStyle("Closed", StateShape.CHECK, "muted"),
    SessionState.REFUSED: SessionStyle("Unavailable", StateShape.CROSS, "negative"),
}


def style_of_session(status: Status) -> SessionStyle:
    """How a session is shown: silence, a failure of the program, and an end that nobody knows are seen."""
    style = SESSION_STYLES[status.state]
    if status.silent:
        return replace(style, shape=StateShape.HALF, token="warning")
    if status.signal is not None or status.exit_code:
        return replace(style, shape=StateShape.CROSS, token="negative")
    if status.state is SessionState.CLOSED and status.exit_code is None:
        return replace(style, shape=StateShape.QUESTION, token="warning")
    return style


def sentence(status: Status) -> str:
    """What the toolbar says beside the state's word."""
    parts = [_STATES[status.state](status)] if status.state in _STATES else []
    if status.silent:
        parts.append(f"no answer for {status.silent} s")
    if status.state in (SessionState.CONNECTED, SessionState.DRAINING):
        if status.viewers > 1:
            parts.append(f"open at {status.viewers} places")
        if status.windows:
            parts.append("1 window waits" if status.windows == 1 else f"{status.windows} windows wait")
        if not status.writer:
            parts.append(_READ_ONLY if status.taken else "nobody types")
    waits = status.silent or status.state is SessionState.BUFFERING
    if status.unsent > _NOTED or (status.unsent and waits):
        parts.append(f"{size(status.unsent)} of input not sent yet")
    return " · ".join(part for part in parts if part)


def _buffering(status: Status) -> str:
    tries = f"try {status.retries}" if status.retries else "trying again"
    kept = f", {size(status.waiting)} of output kept at the node" if status.waiting else ""
    return f"the connection is lost, the program runs on{kept}; {tries}"


def _closed(status: Status) -> str:
    """How the program ended; a reason is there where this console did not see its end."""
    if status.signal is not None:
        ended = f"the program was ended by signal {status.signal}"
    elif status.exit_code is not None:
        ended = f"the program has ended with exit code {status.exit_code}"
    else:
        return status.reason or "the program has ended"
    return f"{ended}; its last output may be missing here" if status.reason else ended


_STATES: dict[SessionState, Callable[[Status], str]] = {
    SessionState.STARTING: lambda status: status.reason,
    SessionState.CONNECTED: lambda status: f"at {status.node}" if status.node else "",
    SessionState.DRAINING: lambda status: (
        f"what was missed comes first, {size(status.waiting)} are left"
        if status.waiting
        else "what was missed comes first"
    ),
    SessionState.BUFFERING: _buffering,
    SessionState.DEAD: lambda status: status.reason,
    SessionState.CLOSED: _closed,
    SessionState.REFUSED: lambda status: status.reason,
}
