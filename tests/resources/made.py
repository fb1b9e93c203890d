"""What sources say in these tests."""

from __future__ import annotations

from typing import Any

from broker_core.resources.facts import Facts, SourceHeard

EPOCH = 1_000_000.0


def facts(ce: str, free: int = 5, total: int = 5, site: str = "", **more: Any) -> Facts:
    """One computing element with its counts."""
    counts = {"GlueCEInfoTotalCPUs": total, "GlueCEStateFreeCPUs": free, "GlueCEStateStatus": "Production"}
    return Facts(ce, site or ce.partition(":")[0], counts | more)


def heard(
    *said: Facts, at: float = 0.0, source: str = "index", complete: bool = True, **more: Any
) -> SourceHeard:
    """An answer of a source; an index without an account, unless it is said otherwise."""
    return SourceHeard(source, EPOCH + at, at, said, complete, **more)
