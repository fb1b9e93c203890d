"""Jobs of the table that are dragged onto a site."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from app.context import Notice, Tone
from app.jobs.again import submission_again
from app.model import words

if TYPE_CHECKING:
    from app.context import Desk


def jobs_sentence(desk: Desk, ids: Sequence[str], site: str) -> tuple[str, str]:
    """Say what letting go of these jobs does: a headline, and a line below it."""
    said, one = _named(desk, ids), len(ids) == 1
    if not site:
        return f"Drop {said} on a site", f"It submits {'it' if one else 'them'} there once more"
    cpus = sum((desk.jobs.row(job) or {}).get("cpus") or 1 for job in ids)
    kept = "this one stays as it is" if one else "these stay as they are"
    return (
        f"Drop to run {said} on {site} with {words.count(cpus, 'CPU')}",
        f"Submitted once more with the same files; {kept}",
    )


async def send_jobs(desk: Desk, ids: Sequence[str], site: str) -> None:
    """Submit the descriptions and files of jobs once more, to this site only."""
    rows = [row for row in map(desk.jobs.row, ids) if row]
    submission = await submission_again(desk.client, rows)
    receipt = await desk.client.submit(submission.model_copy(update={"site": site}))
    said = f"{words.count(len(receipt.ids), 'job')} submitted to {site}."
    desk.notify(Notice(said, Tone.GOOD, job=receipt.ids[0]))


def _named(desk: Desk, ids: Sequence[str]) -> str:
    row: dict[str, Any] | None = desk.jobs.row(ids[0]) if len(ids) == 1 else None
    return f"“{row['name']}”" if row else words.count(len(ids), "job")
