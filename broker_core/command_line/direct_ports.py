"""Where an interactive job's agent may call this desk without the relay."""

from __future__ import annotations

from typing import Annotated

import typer

from broker_core.errors import BadRequest
from broker_core.interactive.meeting import read_ports

VARIABLE = "CROSSDESK_DIRECT_PORTS"
"""Of the environment; says it where no option does."""
DirectPorts = Annotated[
    str,
    typer.Option(
        "--direct-ports",
        envvar=VARIABLE,
        help="FIRST-LAST, where the agent may call this desk without the relay; none: nowhere; if not given:"
        " as the broker's setting shadow_ports says.",
    ),
]


def ports_of(text: str) -> range | None:
    """The ports of such a text, None where nothing is said; raises BadRequest."""
    if not text:
        return None
    try:
        return read_ports(text)
    except ValueError as error:
        raise BadRequest(str(error), place=text, remedy="E.g. 20000-25000.", code="usage") from error
