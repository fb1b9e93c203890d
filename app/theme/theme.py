"""The theme of the desk: tokens to colours, icons and fonts; tells when it changes."""

from __future__ import annotations

import re
from functools import cache

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QFontMetrics, QGuiApplication, QIcon
from PySide6.QtWidgets import QApplication

from app.theme.embedded import embed
from app.theme.icons import TokenIcon
from app.theme.palette import palette
from app.theme.plain_style import PlainStyle
from app.theme.sheet import sheet
from app.theme.tokens import Mode, value
from broker_core.client import shipped

FACE, MONO = "Inter", "JetBrains Mono"
BASE = 13
"""Pixels of the base size; small is 2 less, title 4 more."""
_FILES = (
    "Inter-Regular.otf",
    "Inter-Medium.otf",
    "Inter-SemiBold.otf",
    "JetBrainsMono-Regular.ttf",
    "JetBrainsMono-Bold.ttf",
)
_STEPS = {"base": 0, "small": -2, "title": 4, "strong": 0, "medium": 0, "mono": 0}
_WEIGHTS = {"title": QFont.Weight.DemiBold, "strong": QFont.Weight.DemiBold, "medium": QFont.Weight.Medium}


class DeskTheme(QObject):
    """Implements app.context.Theme on Fusion with the desk's own palettes and stylesheet."""

    changed = Signal()

    def __init__(self, app: QApplication, mode: Mode = Mode.SYSTEM, size: int = BASE) -> None:
        super().__init__(app)
        self._app = app
        self.mode, self.size = mode, size
        self._colors: dict[str, QColor] = {}
        self._icons: dict[tuple[str, str], QIcon] = {}
        for name in _FILES:
            QFontDatabase.addApplicationFontFromData(shipped.data(f"fonts/{name}"))
        app.setStyle(PlainStyle())
        QGuiApplication.styleHints().colorSchemeChanged.connect(self._system_changed)
        self._apply()

    @property
    def shown(self) -> Mode:
        """The mode that is worn now: never SYSTEM."""
        if self.mode is not Mode.SYSTEM:
            return self.mode
        dark = QGuiApplication.styleHints().colorScheme() is Qt.ColorScheme.Dark
        return Mode.DARK if dark else Mode.LIGHT

    def wear(self, mode: Mode | None = None, size: int | None = None) -> None:
        """Change mode or font size and repaint everything."""
        self.mode = self.mode if mode is None else mode
        self.size = self.size if size is None else size
        self._apply()
        self.changed.emit()

    def color(self, token: str) -> QColor:
        """Return the colour of a token in the mode worn now."""
        found = self._colors.get(token)
        if found is None:
            found = self._colors[token] = QColor(value(token, self.shown))
        return found

    def icon(self, name: str, token: str = "text") -> QIcon:
        """Return a bundled icon (Lucide name) that follows the theme."""
        found = self._icons.get((name, token))
        if found is None:
            found = self._icons[name, token] = QIcon(TokenIcon(self, name, token))
        return found

    def font(self, role: str = "base") -> QFont:
        """Return a font: base, small, title, strong, medium or mono. Figures are tabular."""
        made = QFont(MONO if role == "mono" else FACE)
        made.setPixelSize(self.size + _STEPS[role])
        made.setWeight(_WEIGHTS.get(role, QFont.Weight.Normal))
        made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        if role != "mono":
            made.setFeature(QFont.Tag("tnum"), 1)
        return made

    def height(self, compact: bool = False) -> int:
        """Return the height of a table row in pixels: 28, compact 24, more with a larger font."""
        return max(24 if compact else 28, QFontMetrics(self.font()).height() + (6 if compact else 10))

    def _system_changed(self) -> None:
        if self.mode is Mode.SYSTEM:
            self.wear()

    def _apply(self) -> None:
        self._colors.clear()
        shown = self.shown
        self._app.setFont(self.font())
        self._app.setPalette(palette(shown))
        sizes = {name: self.size + step for name, step in _STEPS.items()}
        template = shipped.text("themes/desk.qss")
        self._app.setStyleSheet(sheet(template, shown, sizes, _sheet_icons(template, shown)))


@cache
def _sheet_icons(template: str, shown: Mode) -> str:
    """Make the icons that a stylesheet names, in the colour of muted text; return their folder.

    A stylesheet can only name files, and an SVG file cannot know the theme.
    """
    color = QColor(value("muted", shown)).name().encode()
    names = set(re.findall(r"@icons/([a-z0-9-]+\.svg)", template))
    files = {name: shipped.data(f"icons/{name}").replace(b"currentColor", color) for name in names}
    return embed(f"/crossdesk/{shown.value}", files)
