"""What a computing element cannot truthfully say of itself is refused, attribute by attribute."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from broker_core.information.glue.refusals import Refusals
from broker_core.resources.facts import Facts

TWICE = "entry refused: a computing element of this name was met before"
"""Remark on a second entry for the same computing element."""
_ELEMENT = re.compile(r"[A-Za-z0-9.\-\[\]_]{1,255}:[0-9]{1,5}(?:/[!-~]{1,255})?")
_PARTS = (
    ("GlueCEStateFreeCPUs", ("GlueCEInfoTotalCPUs",)),
    ("GlueCEStateFreeJobSlots", ("GlueCEInfoTotalCPUs",)),
    ("GlueHostFreeCPUs", ("GlueCEInfoTotalCPUs",)),
    (
        "GLUE2ComputingShareFreeSlots",
        ("GLUE2ComputingManagerTotalSlots", "GLUE2ComputingManagerTotalLogicalCPUs", "GlueCEInfoTotalCPUs"),
    ),
)
"""What cannot be more than the largest of the others."""


def plausible(facts: Iterable[Facts], remarks: Refusals) -> list[Facts]:
    """The facts that can be. Each computing element counts once."""
    found: dict[str, Facts] = {}
    for one in facts:
        if not _ELEMENT.fullmatch(one.ce):
            remarks.add(
                one.ce[:80] or "(no name)", "entry refused: not host:port or host:port/manager-system-queue"
            )
        elif one.ce in found:
            remarks.add(one.ce, TWICE)
        else:
            found[one.ce] = _without_excess(one, remarks)
    return list(found.values())


def _without_excess(facts: Facts, remarks: Refusals) -> Facts:
    met = facts.attributes
    wrong: dict[str, str] = {}
    for part, wholes in _PARTS:
        known = [met[whole] for whole in wholes if isinstance(met.get(whole), int)]
        if known and _number(met.get(part)) > max(known):
            wrong[part] = f"{met[part]} of {max(known)} cannot be free"
    if not wrong:
        return facts
    for name, why in wrong.items():
        remarks.add(facts.ce, f"{name} refused: {why}")
    kept = {name: value for name, value in met.items() if name not in wrong}
    return Facts(facts.ce, facts.site, kept, facts.static)


def _number(value: Any) -> int | float:
    return value if isinstance(value, int | float) else 0
