"""Running jobs again in their place: a batch counts the last run of each of its jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from app import units
from app.context import Notice, Tone

if TYPE_CHECKING:
    from app.context import AppContext


def run_again(
    context: AppContext, ids: Sequence[str], changes: Mapping[str, str] | None = None, site: str | None = ""
) -> None:
    """Ask the broker to run jobs again, each in its place. `changes`: attribute to what is written for it.

    `site`: the only one allowed; empty: as before; None: wherever they fit.
    """
    context.run(
        _run_again(context, list(ids), changes or {}, site), f"rerunning {units.count(len(ids), 'job')}"
    )


async def _run_again(
    context: AppContext, ids: list[str], changes: Mapping[str, str], site: str | None
) -> None:
    receipt = await context.client.resubmit(ids, changes, site=site or "", anywhere=site is None)
    text = f"Rerunning {units.count(len(receipt.ids), 'job')}."
    context.notify(Notice(text, Tone.GOOD, "", receipt.ids[0] if receipt.ids else ""))
