"""Jobs outside CrossDesk as columns of the jobs table. Loads no models, so that the window opens soon."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from broker_core.wire.outside import OutsideJob

UNKNOWN = "Unknown"
"""State of a job that left the batch system's list without a word on how it ended; no JobState."""
OUTSIDE_COLUMNS = ("outside", "word")
"""Columns that these rows have beside those of the jobs table."""


def outside_columns(jobs: Sequence[OutsideJob], position: int = 0) -> dict[str, list[Any]]:
    """The jobs as columns of the jobs table, for its queries and its rows; `outside` marks them."""
    columns: dict[str, list[Any]] = {
        name: [getattr(job, name) for job in jobs]
        for name in ("name", "state", "cpus", "submitted", "started", "ended", "exit_code", "reason", "site")
    }
    count = len(jobs)
    texts = (
        "parameter",
        "tags",
        "note",
        "batch",
        "held",
        "error_line",
        "rerun_of",
        "description",
        "pinned",
        "owner",
        "files",
    )
    columns |= {name: [""] * count for name in texts}
    nothing = ("signal", "canceling", "accepted", "matched", "scheduled", "memory")
    columns |= {name: [None] * count for name in nothing}
    columns |= {"structure": ["Normal"] * count, "interactive": [False] * count, "outside": [True] * count}
    columns |= {"id": [job.key for job in jobs], "position": [position] * count}
    columns |= {"word": [job.word for job in jobs]}
    return columns
