"""Drag and drop: what was dropped, and what it would do."""
