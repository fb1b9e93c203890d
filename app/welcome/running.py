"""Submitting a sample that comes with the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app import units
from app.context import Notice, Tone
from app.description.first_view import first_view

if TYPE_CHECKING:
    from app.context import AppContext


async def run_sample(context: AppContext, name: str) -> list[str]:
    """Prepare and submit a sample, then show its (first) job; returns the ids.

    The display or the console of an interactive one comes to the front, the logs of another.
    """
    from broker_core.client.prepare import prepare
    from broker_core.client.samples import sample

    one = sample(name)
    prepared = await prepare(one.jdl, one.folder)
    transfer = context.transfers.begin(f"Files of “{one.title}”")
    try:
        receipt = await context.client.submit_prepared(prepared, values=one.values, progress=transfer.advance)
    finally:
        transfer.end("sent" if context.link.up else "not sent")
    jobs = units.count(len(receipt.ids), "job")
    many = f": {jobs}" if len(receipt.ids) > 1 and jobs not in one.title else ""
    view = first_view(prepared.description)
    hint = " Type into its console." if view == "console" else ""
    if one.opens:
        context.jobs.opening.update(receipt.ids)
        hint = " Its page opens in your browser."
    context.notify(Notice(f"Submitted “{one.title}”{many}.{hint}", Tone.GOOD, "", receipt.ids[0]))
    context.show_job(receipt.ids[0], view or "logs")
    return receipt.ids


def open_sample(context: AppContext, name: str) -> None:
    """Open the description of a sample in an editor, with its folder as the place of its files."""
    from broker_core.client.samples import sample

    for path in sample(name).descriptions:
        context.open_editor(path.read_text(encoding="utf-8"), path)
