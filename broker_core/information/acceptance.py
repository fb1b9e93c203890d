"""Answers held to the contract before they are published; plug-ins may give anything."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from broker_core.information.glue.plausible import TWICE
from broker_core.information.glue.python_values import accepted, attributes
from broker_core.information.glue.refusals import Refusals
from broker_core.information.updater import SourceAnswer, SourceFailed
from broker_core.resources.facts import Facts

_SLICE = 50
"""Facts that are looked at before others get their turn."""
_LONGEST_NAME = 255


async def acceptable(answer: object) -> SourceAnswer:
    """The answer with what cannot be left out and noted; raises SourceFailed if it is none at all."""
    if not isinstance(answer, SourceAnswer):
        raise SourceFailed(
            f"The updater gives {type(answer).__name__} instead of an answer.",
            remedy="Correct the plug-in: `fetch` returns broker_core.information.updater.Answer.",
        )
    if answer.checked:
        return answer
    remarks, kept = Refusals(), dict[str, Facts]()
    given = list(answer.facts)
    for start in range(0, len(given), _SLICE):
        for one in accepted(_well_formed(given[start : start + _SLICE], remarks), remarks):
            if kept.setdefault(one.ce, one) is not one:
                remarks.add(one.ce, TWICE)
        await asyncio.sleep(0)
    storage = {str(name): attributes(str(name), one, remarks) for name, one in answer.storage.items()}
    own = [str(remark) for remark in answer.remarks]
    return replace(
        answer,
        facts=tuple(kept.values()),
        complete=bool(answer.complete),
        silent=tuple(str(name) for name in answer.silent),
        remarks=(*own, *remarks.shown),
        refused=len(own) + remarks.count,
        checked=True,
        storage=storage,
    )


def _well_formed(given: Iterable[Any], remarks: Refusals) -> list[Facts]:
    found = []
    for one in given:
        if not isinstance(one, Facts) or not isinstance(one.ce, str) or not isinstance(one.attributes, dict):
            remarks.add(str(one)[:80], "entry refused: these are no facts")
        elif not isinstance(one.site, str) or len(one.site) > _LONGEST_NAME:
            remarks.add(one.ce, "entry refused: no site can have that name")
        else:
            found.append(one)
    return found
