"""Sending a description to the place that was chosen in the match view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app import units
from app.context import Notice, Tone
from app.description.values import list_source
from app.jobs.again import submission_again
from broker_core.jdl.syntax.edit import set_attribute
from broker_core.jdl.syntax.parse import parse

if TYPE_CHECKING:
    from app.context import AppContext
    from app.match.view import MatchTarget


def confined(text: str, ces: Sequence[str]) -> str:
    """Return the description with its Requirements narrowed to these computing elements; nothing else
    changes, and no element leaves it as it is."""
    if not ces:
        return text
    mine = f"member(other.GlueCEUniqueID, {list_source(list(ces))})"
    before = _requirements(text)
    return set_attribute(text, "Requirements", f"({before}) && {mine}" if before else mine)


def _requirements(text: str) -> str:
    ad = parse(text).ad
    entry = ad.entries.get("requirements") if ad is not None else None
    return text[entry.value_start : entry.value_end].strip() if entry is not None else ""


async def send_job_again(context: AppContext, row: Mapping[str, Any], place: MatchTarget) -> None:
    """Submit a job's description and files once more, to this place only."""
    submission = await submission_again(context.client, [row])
    for item in submission.items:
        item.description = confined(item.description, place.ces)
    receipt = await context.client.submit(submission.model_copy(update={"site": place.site}))
    said = f"{units.count(len(receipt.ids), 'job')} submitted to {place.name}."
    context.notify(Notice(said, Tone.GOOD, job=receipt.ids[0]))
    context.show_job(receipt.ids[0])
