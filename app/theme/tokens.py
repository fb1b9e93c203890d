"""The one table of colours: token to its value in the light, the dark and the high-contrast theme."""

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
    "text": ("#1b1e25", "#e4e7ec", "#ffffff"),
    "muted": ("#5d6573", "#9aa2b0", "#d6d6d6"),
    "faint": ("#8b92a0", "#6c7482", "#bdbdbd"),
    "accent": ("#2b5bd7", "#7ea6ff", "#66d9ff"),
    "accent-hover": ("#214bb8", "#9bbaff", "#9be7ff"),
    "accent-text": ("#ffffff", "#0d1424", "#000000"),
    "accent-soft": ("#e8eefc", "#212c47", "#10304a"),
    "selection": ("#dbe6fd", "#28395f", "#0b4f8a"),
    "selection-text": ("#1b1e25", "#eef2fa", "#ffffff"),
    "focus": ("#2b5bd7", "#7ea6ff", "#ffff00"),
    "positive": ("#1a7f4e", "#5cc991", "#4dff9a"),
    "positive-soft": ("#e2f4ea", "#17332a", "#003b1c"),
    "warning": ("#9a5b00", "#e8b25c", "#ffd24d"),
    "warning-soft": ("#fdf1dc", "#3a2f1a", "#3d2e00"),
    "negative": ("#c23616", "#f5856b", "#ff8a70"),
    "negative-soft": ("#fce9e4", "#43231c", "#4a1000"),
    "shadow": ("#1a1d23", "#000000", "#000000"),
    "code-keyword": ("#2b5bd7", "#82aaff", "#66d9ff"),
    "code-string": ("#1a7f4e", "#8fd19e", "#4dff9a"),
    "code-number": ("#a2450c", "#f0a56f", "#ffd24d"),
    "code-comment": ("#757c8a", "#7d8694", "#bdbdbd"),
    "code-function": ("#7a3ea8", "#c79bf2", "#e5b3ff"),
    "code-operator": ("#5d6573", "#9aa2b0", "#ffffff"),
    "code-attribute": ("#1b1e25", "#e4e7ec", "#ffffff"),
    "code-reference": ("#0b7285", "#66c7d6", "#66ffff"),
    "find": ("#ffe58a", "#6b5614", "#806600"),
    "state-Submitted": ("#5b6b82", "#94a5bf", "#d0dcf0"),
    "state-Submitted-soft": ("#eaeef3", "#252b35", "#1a2330"),
    "state-Waiting": ("#5b6b82", "#94a5bf", "#d0dcf0"),
    "state-Waiting-soft": ("#eaeef3", "#252b35", "#1a2330"),
    "state-Ready": ("#9a5b00", "#e5b04f", "#ffd24d"),
    "state-Ready-soft": ("#fcf0d9", "#382d17", "#3d2e00"),
    "state-Scheduled": ("#9a5b00", "#e5b04f", "#ffd24d"),
    "state-Scheduled-soft": ("#fcf0d9", "#382d17", "#3d2e00"),
    "state-Running": ("#2062c4", "#6ea8ff", "#66b3ff"),
    "state-Running-soft": ("#e3eefc", "#1c2c47", "#00284d"),
    "state-Done": ("#1a7f4e", "#5cc991", "#4dff9a"),
    "state-Done-soft": ("#e2f4ea", "#17332a", "#003b1c"),
    "state-Cleared": ("#4c7a63", "#86b39d", "#b3e6cc"),
    "state-Cleared-soft": ("#eaf2ee", "#1e2b26", "#0f2a1d"),
    "state-Failed": ("#c23616", "#f5785b", "#ff8a70"),
    "state-Failed-soft": ("#fce9e4", "#43231c", "#4a1000"),
    "state-Canceled": ("#6b7078", "#9ba0a8", "#c8c8c8"),
    "state-Canceled-soft": ("#eeeff1", "#282b30", "#262626"),
    "state-Unheard": ("#7d828b", "#878d96", "#c8c8c8"),
    "state-Unheard-soft": ("#f1f2f4", "#24272b", "#262626"),
    "series-1": ("#2b5bd7", "#7ea6ff", "#66d9ff"),
    "series-2": ("#b75300", "#f39a4a", "#ffad5c"),
    "series-3": ("#1a7f4e", "#5cc991", "#4dff9a"),
    "series-4": ("#7a3ea8", "#c79bf2", "#e5b3ff"),
    "series-5": ("#0b7285", "#66c7d6", "#66ffff"),
    "series-6": ("#c23616", "#f5785b", "#ff8a70"),
}
"""Every colour of the desktop. Text tokens stand 4.5:1 or better on ground, surface and raised."""


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
