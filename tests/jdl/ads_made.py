"""Random ads, as text, from a seed; no attribute refers to itself or to one behind it."""

from __future__ import annotations

import random

from tests.jdl.expressions_made import expression

NAMES = ("Own", "Twice", "Deep", "Late", "Tags")


def ad(chance: random.Random) -> str:
    """The statements of an ad: each of NAMES with an expression over those before it; some are left out."""
    statements: list[str] = []
    there: list[str] = []
    for name in NAMES:
        if chance.random() < 0.15:
            continue
        value = expression(chance, chance.randint(0, 2), there)
        if chance.random() < 0.15:
            value = f"[ inner = {value}; second = inner ]"
        statements.append(f"{name} = {value}")
        there.append(name)
    return "; ".join(statements)
