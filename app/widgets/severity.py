"""How errors, warnings and hints on a description look."""

from __future__ import annotations

SEVERITY_ICONS = {
    "error": ("circle-x", "negative"),
    "warning": ("triangle-alert", "warning"),
    "hint": ("info", "accent"),
}
"""Severity to icon and colour token."""
SQUIGGLES = {"error": "negative", "warning": "warning", "hint": "accent"}
"""Severity to the colour token of its squiggle."""
