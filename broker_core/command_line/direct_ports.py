"""Where an interactive job's agent may call this desk without the relay."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from broker_core.errors import BadRequest

DirectPorts = Annotated[
    str,
    typer.Option(
        "--direct-ports",
        envvar="CROSSDESK_DIRECT_PORTS",
        help="FIRST-LAST, where the agent may call this desk without the relay; none: nowhere.",
    ),
]
DIRECT_PORTS = "20000-25000"
NONE = "none"
_FORM = re.compile(r"(\d{1,5})-(\d{1,5})")


def ports_of(text: str) -> range:
    """The ports of such a text; raises BadRequest."""
    if text == NONE:
        return range(0)
    found = _FORM.fullmatch(text)
    first, last = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 0 < first <= last < 65536:
        raise BadRequest(
            "Ports are given as FIRST-LAST, or none.",
            place=text,
            remedy=f"E.g. {DIRECT_PORTS}.",
            code="usage",
        )
    return range(first, last + 1)
