"""Synthetic rows for the models, in the columns of the wire."""

from __future__ import annotations

from typing import Any

from broker_core.jobs.annotations import PAGE_COLUMNS

NOW = 1_800_000_000.0
_BLANK: dict[str, Any] = {
    "owner": "ann", "structure": "Normal", "interactive": False, "cpus": 1, "state": "Waiting",
    "description": "d", "batch": "", "parameter": "", "reason": "", "held": "", "site": "",
    "attempt": 0, "seq": 1, "schema": 1, "tags": "", "note": "",
}  # fmt: skip


def columns(*jobs: dict[str, Any]) -> dict[str, list[Any]]:
    """Return wire columns of jobs; each has at least an id."""
    rows = [_whole(job) for job in jobs]
    return {name: [row.get(name) for row in rows] for name in PAGE_COLUMNS}


def _whole(job: dict[str, Any]) -> dict[str, Any]:
    return {"name": f"job {job['id']}", "submitted": NOW, "position": 1} | _BLANK | job


def many(number: int, *, batch: int = 0) -> dict[str, list[Any]]:
    """Return that many jobs, newest first; with `batch` so many of them in each batch."""
    return columns(
        *(
            {"id": f"j{place:06d}", "submitted": NOW - place, "batch": f"b{place // batch}" if batch else ""}
            for place in range(number)
        )
    )
