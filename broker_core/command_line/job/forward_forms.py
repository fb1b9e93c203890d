"""Forwards as users of ssh write them: `-L`, `-R`, `-D` with ports, addresses and UNIX sockets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from broker_core.client.desk_settings import PORTS_VARIABLE
from broker_core.errors import BadRequest

if TYPE_CHECKING:
    from broker_core.client.interactive import ShadowSession

HERE = "127.0.0.1"
NODE = "localhost"
Where = tuple[str, int] | str
"""Host and port, or the path of a UNIX socket."""

DirectPorts = Annotated[
    str,
    typer.Option(
        "--direct-ports",
        envvar=PORTS_VARIABLE,
        help="FIRST-LAST, where the agent may call this desk without the relay; none: nowhere; if not given:"
        " as the broker's setting shadow_ports says.",
    ),
]
"""Where an interactive job's agent may call this desk without the relay."""
Local = Annotated[
    list[str] | None,
    typer.Option(
        "-L",
        "--local",
        help="[ADDRESS:]PORT:HOST:PORT, a port here to one that the node reaches. Either side may be the path"
        " of a UNIX socket: PORT:PATH, PATH:HOST:PORT, PATH:PATH. Port 0 here: a free one.",
    ),
]
Remote = Annotated[
    list[str] | None,
    typer.Option(
        "-R",
        "--remote",
        help="PORT:HOST:PORT, a port of the node, for the job's own processes, to one that is reached from"
        " here. Either side may be a UNIX socket, on the node in the job's directory. Port 0: a free one.",
    ),
]
Dynamic = Annotated[
    list[str] | None,
    typer.Option("-D", "--dynamic", help="[ADDRESS:]PORT, SOCKS here to all that the node reaches."),
]


@dataclass(frozen=True, slots=True)
class ForwardRequests:
    """Forwards that are wished for."""

    local: tuple[tuple[Where, Where], ...] = ()
    remote: tuple[tuple[Where, Where], ...] = ()
    dynamic: tuple[Where, ...] = ()

    async def open(self, session: ShadowSession) -> None:
        """Open all; raises CannotForward."""
        for listen, target in self.local:
            await session.forwards.local(listen, target)
        for listen, target in self.remote:
            await session.forwards.remote(listen, target)
        for listen in self.dynamic:
            await session.forwards.dynamic(listen)

    def __bool__(self) -> bool:
        return bool(self.local or self.remote or self.dynamic)


def wishes(
    local: Sequence[str] | None, remote: Sequence[str] | None, dynamic: Sequence[str] | None
) -> ForwardRequests:
    """Read what the options say; raises BadRequest for what is no forward."""
    return ForwardRequests(
        tuple(_pair(text, HERE) for text in local or ()),
        tuple(_remote(text) for text in remote or ()),
        tuple(_dynamic(text) for text in dynamic or ()),
    )


def _remote(text: str) -> tuple[Where, Where]:
    listen, target = _pair(text, NODE)
    if not isinstance(listen, str) and listen[0] not in (NODE, HERE, "::1"):
        raise BadRequest(
            "A port of the node is for the job's own processes only.",
            place=text,
            remedy="Leave the address out.",
            code="usage",
        )
    return listen, target


def _pair(text: str, own: str) -> tuple[Where, Where]:
    """Both ends of `[ADDRESS:]PORT:HOST:PORT` and its forms with sockets."""
    parts = _split(text)
    ends: tuple[list[str], list[str]] | None = None
    if len(parts) == 4:
        ends = parts[:2], parts[2:]
    elif len(parts) == 3:
        split = 2 if "/" in parts[2] else 1
        ends = parts[:split], parts[split:]
    elif len(parts) == 2 and not parts[1].isdecimal():
        ends = parts[:1], parts[1:]
    if ends is None or not all(parts):
        raise BadRequest("A forward is written [ADDRESS:]PORT:HOST:PORT.", place=text, code="usage")
    return _where(ends[0], own, text), _where(ends[1], "", text, least=1)


def _dynamic(text: str) -> Where:
    parts = _split(text)
    if len(parts) > 2 or not all(parts):
        raise BadRequest("SOCKS is offered at [ADDRESS:]PORT.", place=text, code="usage")
    return _where(parts, HERE, text)


def _where(parts: list[str], own: str, text: str, least: int = 0) -> Where:
    """One end: `HOST, PORT`, a port of our own address, or a path."""
    if len(parts) == 2:
        return ("0.0.0.0" if parts[0] == "*" else parts[0]), _port(parts[1], text, least)  # noqa: S104
    if own and parts[0].isdecimal():
        return own, _port(parts[0], text, least)
    if parts[0].isdecimal():
        raise BadRequest("The host is missing.", place=text, code="usage")
    return parts[0]


def _split(text: str) -> list[str]:
    """Parts between colons; an address in brackets is one."""
    parts, inside = [""], False
    for letter in text:
        if letter in "[]":
            inside = letter == "["
        elif letter == ":" and not inside:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _port(text: str, whole: str, least: int) -> int:
    if not text.isdecimal() or not least <= int(text) <= 65535:
        raise BadRequest(f"{text!r} is no port.", place=whole, code="usage")
    return int(text)
