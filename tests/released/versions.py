"""The versions whose files were recorded."""

from __future__ import annotations

from pathlib import Path

RELEASED = sorted(Path(__file__).parent.glob("version_*"))
"""What each release wrote; a folder is added with each, never changed."""


ids = [path.name for path in RELEASED]
