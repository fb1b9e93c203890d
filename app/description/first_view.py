"""Which view of a job is wanted as soon as it is submitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from broker_core.jdl.description import JobDescription


def first_view(description: JobDescription | None) -> str:
    """`display` for a program that draws, `console` for one that is talked to; empty for others."""
    if description is None or not description.interactive:
        return ""
    return "display" if description.display is not None else "console"
