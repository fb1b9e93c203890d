"""What a drag of jobs out of the table carries."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QMimeData

JOBS = "application/x-crossdesk-jobs"
"""MIME type: ids of jobs, one a line."""


def pack(ids: Sequence[str]) -> QMimeData:
    """Return what a drag of these jobs carries."""
    made = QMimeData()
    made.setData(JOBS, "\n".join(ids).encode())
    return made


def unpack(mime: QMimeData) -> list[str]:
    """Return the ids of the jobs that a drag carries; none for other drags."""
    return bytes(mime.data(JOBS).data()).decode().split() if mime.hasFormat(JOBS) else []
