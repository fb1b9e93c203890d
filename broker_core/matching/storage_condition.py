"""A job that names where its output goes runs close to that storage element (OutputSE)."""

from __future__ import annotations

from collections.abc import Iterator

from broker_core.jdl.description import JobDescription
from broker_core.matching.condition import Condition
from broker_core.matching.view import View
from broker_core.resources.closeness import CLOSE, near, storage_of

_SHOWN = 4


def output(description: JobDescription) -> Iterator[Condition]:
    """The condition of a description with OutputSE."""
    named = description.ad.get("outputse") if description.ad is not None else None
    wanted = getattr(named, "value", "")
    if not isinstance(wanted, str) or not wanted:
        return

    def words(view: View, row: int, held: bool) -> str:
        if held:
            return f"OutputSE {wanted} is close"
        close = sorted(storage_of({name: view.pool.value(row, name) for name in CLOSE}))
        more = f" and {len(close) - _SHOWN} more" if len(close) > _SHOWN else ""
        told = ", ".join(close[:_SHOWN]) + more if close else "no storage element"
        return f"OutputSE {wanted} is not close; {told} is"

    yield Condition(
        f"OutputSE {wanted}", "policy", lambda view: near(wanted, view.pool.columns, view.size), words
    )
