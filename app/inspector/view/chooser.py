"""The list by which one of several published things is chosen."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox

_MOST = 260
"""Pixels: programs choose the names."""


def chooser(name: str) -> QComboBox:
    """A list as wide as its names, called `name` for who hears it."""
    made = QComboBox()
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    made.setMaximumWidth(_MOST)
    made.setAccessibleName(name)
    return made
