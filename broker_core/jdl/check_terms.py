"""Requirements and Rank: slips that would make them never hold, or hold the wrong way round."""

from __future__ import annotations

from broker_core.jdl.reading import Reading
from broker_core.jdl.tree import Literal


def check(reading: Reading) -> None:
    """Complain about Requirements and Rank."""
    for key in ("requirements", "rank"):
        node = reading.node(key)
        if isinstance(node, Literal) and isinstance(node.value, str):
            message = f"{reading.ad.entries[key].name} is a string; write the expression without quotes."
            reading.error("quoted-expression", message, key)
