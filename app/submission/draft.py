"""One job that may be submitted: its description, and what goes with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class JobDraft:
    """One description, as it was opened or dropped."""

    name: str
    """For people."""
    text: str = ""
    """The description; empty if it is still in its file."""
    path: Path | None = None
    """The description's file, if it has one."""
    files: int = 0
    """How many dropped files go with it."""
    size: int = 0
    """Bytes of them."""
    base: Path | None = None
    """The folder that relative names in `text` start from; None: absolute names only."""
