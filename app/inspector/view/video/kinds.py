"""Kinds of video files that a display can be recorded as. Loads nothing."""

from __future__ import annotations

KINDS = ("webm", "mp4")
"""The first one where a name says nothing else."""
FILTERS = ("WebM video (*.webm)", "MP4 video (*.mp4)")
