"""Where an interactive job's agent may call this desk without the relay."""

from __future__ import annotations

from typing import Annotated

import typer

from broker_core.client.desk_settings import PORTS_VARIABLE

DirectPorts = Annotated[
    str,
    typer.Option(
        "--direct-ports",
        envvar=PORTS_VARIABLE,
        help="FIRST-LAST, where the agent may call this desk without the relay; none: nowhere; if not given:"
        " as the broker's setting shadow_ports says.",
    ),
]
