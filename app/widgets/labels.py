"""Labels that wear a role of the stylesheet and never read markup from data."""

from __future__ import annotations

import re
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy

_LONG_WORD = re.compile(r"\S{30,}")


def label(text: str = "", role: str = "", *, wrap: bool = False, fluid: bool = False) -> QLabel:
    """Return a plain-text label: role muted, small, title, strong, section...; `fluid` may be cut off."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setWordWrap(wrap)
    if role:
        made.setProperty("role", role)
    if fluid:
        made.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    return made


def lead(where: QLabel, text: str) -> None:
    """Show a sentence with the part before its first colon strong, so that the eye meets the answer first."""
    head, colon, rest = text.partition(": ")
    where.setTextFormat(Qt.TextFormat.RichText)
    strong = f'<span style="font-weight: 600">{escape(head)}{":" if colon else ""}</span>'
    where.setText(f"{strong} {escape(rest)}".rstrip())
    where.setAccessibleName(text)


def give_way(where: QLabel) -> None:
    """Let a wrapped label be narrower than its longest word, so that it never widens what it stands in."""
    policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    policy.setHeightForWidth(True)
    where.setSizePolicy(policy)


def breakable(text: str) -> str:
    """Allow long words, such as paths, to be broken where a line ends."""
    return _LONG_WORD.sub(lambda word: "\u200b".join(word.group()), text)
