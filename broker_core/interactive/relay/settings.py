"""Settings of a relay, read from its TOML file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from broker_core.errors import BadRequest
from broker_core.interactive.channel.rendezvous import PORTS


@dataclass(frozen=True, slots=True)
class RelaySettings:
    """All times in seconds; a time of 0 sets no limit."""

    address: str = "127.0.0.1"
    """Address that it listens on; `0.0.0.0` or `::` for all."""
    port: int = 0
    """Port; 0: the first free one from `first_port` to `last_port`."""
    first_port: int = PORTS.start
    last_port: int = PORTS.stop - 1
    pairs: int = 500
    """Pairs of connections that are forwarded at the same time."""
    waiting: int = 2000
    """Connections that wait for their other side."""
    from_one_address: int = 500
    """Connections from one address."""
    for_one_token: int = 16
    """Connections of one role that wait under one token."""
    buffer: int = 256 * 1024
    """Bytes that are kept of one direction of a pair; a faster sender has to wait."""
    hello_time: float = 10.0
    """For saying who one is."""
    desk_time: float = 60.0
    """That a desk may wait for its agent."""
    sign_of_life: float = 20.0
    """Between two words to those who wait, so that gateways on the way do not forget them."""
    silence: float = 300.0
    """Without a byte in either direction, after which a pair is cut."""
    idle_exit: float = 0.0
    """Without a connection, after which the relay ends."""


def load(path: Path) -> RelaySettings:
    """The settings in a file; raises BadRequest that names what is wrong."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadRequest(f"The settings of the relay cannot be read: {error}.", place=str(path)) from error
    known = {field.name: getattr(RelaySettings(), field.name) for field in fields(RelaySettings)}
    for name, value in found.items():
        _check(name, value, known, path)
    return RelaySettings(**found)


def _check(name: str, value: Any, known: dict[str, Any], path: Path) -> None:
    if name not in known:
        raise BadRequest(f"There is no setting {name}.", place=str(path), remedy="Remove it.")
    kinds = (int, float) if isinstance(known[name], float) else (type(known[name]),)
    fitting = type(value) in kinds and (isinstance(value, str) or value >= 0)
    if not fitting:
        raise BadRequest(f"The setting {name} must be like {known[name]!r}.", place=str(path))


def text_of(settings: RelaySettings) -> str:
    """The settings as a file."""
    lines = [f"{field.name} = {_toml(getattr(settings, field.name))}" for field in fields(settings)]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)
