"""The one table of colors: token to its value in the light, the dark and the high-contrast theme."""

from __future__ import annotations

from enum import StrEnum

TOKENS: dict[str, tuple[str, str, str]] = {
    # token: (light, dark, high contrast)
    "ground": ("#f3f4f7", "#131519", "#000000"),  # behind the panes
    "surface": ("#ffffff", "#1a1d22", "#000000"),  # where data stand
    "raised": ("#ffffff", "#23272e", "#0a0a0a"),  # what floats above: menus, cards, notices
    "sunken": ("#f7f8fa", "#16181c", "#000000"),  # sidebars, headers
    "hover": ("#eceef3", "#2a2f37", "#1f3a5f"),
    "border": ("#dfe2e8", "#2e333b", "#ffffff"),
    "border-strong": ("#c3c8d2", "#454c57", "#ffffff"),
    "border-field": ("#858c9a", "#6c7482", "#ffffff"),  # around what can be typed into or ticked
    "text": ("#1b1e25", "#e4e7ec", "#ffffff"),
    "muted": ("#4e5664", "#adb5c2", "#d6d6d6"),
    "faint": ("#616876", "#969eac", "#bdbdbd"),
    "accent": ("#2b5bd7", "#7ea6ff", "#66d9ff"),
    "accent-hover": ("#214bb8", "#9bbaff", "#9be7ff"),
    "accent-text": ("#ffffff", "#0d1424", "#000000"),
    "accent-soft": ("#e8eefc", "#212c47", "#10304a"),
    "selection": ("#e0e9fe", "#243455", "#0a4172"),
    "selection-text": ("#1b1e25", "#eef2fa", "#ffffff"),
    "focus": ("#2b5bd7", "#7ea6ff", "#ffff00"),
    "positive": ("#1a774a", "#5cc991", "#4dff9a"),
    "positive-soft": ("#e2f4ea", "#17332a", "#003b1c"),
    "warning": ("#965900", "#e8b25c", "#ffd24d"),
    "warning-soft": ("#fdf1dc", "#3a2f1a", "#3d2e00"),
    "negative": ("#c03516", "#f5856b", "#ff8c72"),
    "negative-soft": ("#fce9e4", "#43231c", "#4a1000"),
    "shadow": ("#1a1d23", "#000000", "#000000"),
    "code-keyword": ("#2b5bd7", "#82aaff", "#66d9ff"),
    "code-string": ("#1a774a", "#8fd19e", "#4dff9a"),
    "code-number": ("#a2450c", "#f0a56f", "#ffd24d"),
    "code-comment": ("#616876", "#959eac", "#bdbdbd"),
    "code-function": ("#7a3ea8", "#c79bf2", "#e5b3ff"),
    "code-operator": ("#5d6573", "#9aa2b0", "#ffffff"),
    "code-attribute": ("#1b1e25", "#e4e7ec", "#ffffff"),
    "code-reference": ("#0b7285", "#66c7d6", "#66ffff"),
    "find": ("#ffe58a", "#6b5614", "#806600"),
    "state-Submitted": ("#596980", "#94a5bf", "#d0dcf0"),
    "state-Submitted-soft": ("#eaeef3", "#252b35", "#1a2330"),
    "state-Waiting": ("#596980", "#94a5bf", "#d0dcf0"),
    "state-Waiting-soft": ("#eaeef3", "#252b35", "#1a2330"),
    "state-Ready": ("#965900", "#e5b04f", "#ffd24d"),
    "state-Ready-soft": ("#fcf0d9", "#382d17", "#3d2e00"),
    "state-Scheduled": ("#965900", "#e5b04f", "#ffd24d"),
    "state-Scheduled-soft": ("#fcf0d9", "#382d17", "#3d2e00"),
    "state-Running": ("#2062c4", "#6ea8ff", "#66b3ff"),
    "state-Running-soft": ("#e3eefc", "#1c2c47", "#00284d"),
    "state-Done": ("#1a774a", "#5cc991", "#4dff9a"),
    "state-Done-soft": ("#e2f4ea", "#17332a", "#003b1c"),
    "state-Cleared": ("#43715a", "#86b39d", "#b3e6cc"),
    "state-Cleared-soft": ("#eaf2ee", "#1e2b26", "#0f2a1d"),
    "state-Failed": ("#c03516", "#f57a5d", "#ff8c72"),
    "state-Failed-soft": ("#fce9e4", "#43231c", "#4a1000"),
    "state-Canceled": ("#636870", "#9ba0a8", "#c8c8c8"),
    "state-Canceled-soft": ("#eeeff1", "#282b30", "#262626"),
    "state-Unheard": ("#636871", "#989ea7", "#c8c8c8"),
    "state-Unheard-soft": ("#f1f2f4", "#24272b", "#262626"),
    "series-1": ("#2b5bd7", "#7ea6ff", "#66d9ff"),
    "series-2": ("#b75300", "#f39a4a", "#ffad5c"),
    "series-3": ("#1a7f4e", "#5cc991", "#4dff9a"),
    "series-4": ("#7a3ea8", "#c79bf2", "#e5b3ff"),
    "series-5": ("#0b7285", "#66c7d6", "#66ffff"),
    "series-6": ("#c23616", "#f5785b", "#ff8a70"),
}
"""Every color of the desktop. Text stands 4.5:1 or better on every ground, the selected row among them."""


class Mode(StrEnum):
    """Which colours the desktop wears."""

    SYSTEM = "system"
    """As the desktop environment says; light where it says nothing."""
    LIGHT = "light"
    DARK = "dark"
    CONTRAST = "contrast"


_COLUMN = {Mode.LIGHT: 0, Mode.DARK: 1, Mode.CONTRAST: 2}


def value(token: str, mode: Mode) -> str:
    """Return `#rrggbb` of a token in a mode; an unknown token is a KeyError that names it."""
    return TOKENS[token][_COLUMN.get(mode, 0)]
