"""The theme of the desktop: tokens to colours, icons and fonts; tells when it changes."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from PySide6.QtCore import QByteArray, QObject, QRect, QRectF, QResource, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontMetrics,
    QGuiApplication,
    QIcon,
    QIconEngine,
    QPainter,
    QPalette,
    QPixmap,
    QPixmapCache,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication

from app.theme.style import PlainStyle
from app.theme.tokens import Mode, value
from broker_core.client import package_data as shipped

_TOKEN = re.compile(r"@([a-z][a-zA-Z0-9-]*)")
_ROLES = {
    QPalette.ColorRole.Window: "ground",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "surface",
    QPalette.ColorRole.AlternateBase: "sunken",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.PlaceholderText: "faint",
    QPalette.ColorRole.Button: "raised",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "negative",
    QPalette.ColorRole.Highlight: "selection",
    QPalette.ColorRole.HighlightedText: "selection-text",
    QPalette.ColorRole.Link: "accent",
    QPalette.ColorRole.LinkVisited: "code-function",
    QPalette.ColorRole.ToolTipBase: "raised",
    QPalette.ColorRole.ToolTipText: "text",
    QPalette.ColorRole.Accent: "accent",
    QPalette.ColorRole.Light: "raised",
    QPalette.ColorRole.Midlight: "hover",
    QPalette.ColorRole.Mid: "border",
    QPalette.ColorRole.Dark: "border-strong",
    QPalette.ColorRole.Shadow: "shadow",
}
_DISABLED = (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText)
_THIN = b'stroke-width="1.75"'
APPLICATION_ICON = "icons/crossdesk.svg"
_WINDOW_ICON_SIZES = (16, 24, 32, 48, 64, 128, 256)
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
_HEADER = struct.Struct(">4sIIII")
_FOLDER = 2
"""Flag of a node that has children."""
_NO_COUNTRY, _C_LANGUAGE = 0, 1
_registered: list[bytes] = []
"""Qt copies none of them."""


def _sheet(template: str, mode: Mode, sizes: dict[str, int], icons: str) -> str:
    """Fill a stylesheet: `@token` by its colour, `@px-name` by a size, `@icons` by the icons' folder."""

    def fill(found: re.Match[str]) -> str:
        name = found.group(1)
        if name == "icons":
            return icons
        if name.startswith("px-"):
            return f"{sizes[name[3:]]}px"
        return value(name, mode)

    return _TOKEN.sub(fill, template)


def _palette(mode: Mode) -> QPalette:
    """Return the palette of a mode."""
    made = QPalette()
    for role, token in _ROLES.items():
        made.setColor(role, QColor(value(token, mode)))
    for role in _DISABLED:
        made.setColor(QPalette.ColorGroup.Disabled, role, QColor(value("faint", mode)))
    return made


@lru_cache(maxsize=512)
def _renderer(name: str, color: str) -> QSvgRenderer:
    source = shipped.data(f"icons/{name}.svg")
    source = source.replace(b"currentColor", color.encode()).replace(b'stroke-width="2"', _THIN)
    return QSvgRenderer(QByteArray(source))


def _picture(name: str, color: str, edge: int, ratio: float) -> QPixmap:
    """An icon of `edge` logical pixels: to draw it anew costs more than the line that it stands in."""
    key, made = f"icon {name} {color} {edge} {ratio}", QPixmap()
    if not QPixmapCache.find(key, made):
        made = QPixmap(round(edge * ratio), round(edge * ratio))
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        _renderer(name, color).render(painter, QRectF(made.rect()))
        painter.end()
        made.setDevicePixelRatio(ratio)
        QPixmapCache.insert(key, made)
    return made


class TokenIcon(QIconEngine):
    """Paints one icon in the colour that its token has now, so that a new theme needs no new icons."""

    def __init__(self, color: Callable[[str], QColor], name: str, token: str) -> None:
        super().__init__()
        self._color, self._name, self._token = color, name, token
        shipped_name = f"icons/{name}.svg"
        if not shipped.exists(shipped_name):
            raise FileNotFoundError(shipped_name)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Paint a square at the left of `rect`, which is wider in buttons; a disabled icon is faint."""
        token = "faint" if mode is QIcon.Mode.Disabled else self._token
        edge = min(rect.width(), rect.height())
        ratio = painter.device().devicePixelRatioF()
        picture = _picture(self._name, self._color(token).name(), edge, ratio)
        painter.drawPixmap(rect.left(), rect.top() + (rect.height() - edge) // 2, picture)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Return a picture of `size` device pixels."""
        made = QPixmap(size)
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        self.paint(painter, QRect(0, 0, size.width(), size.height()), mode, state)
        painter.end()
        return made

    def clone(self) -> QIconEngine:
        """Return an equal engine, as Qt asks when an icon is changed."""
        return TokenIcon(self._color, self._name, self._token)


class Theme(QObject):
    """The Fusion style with palettes and a stylesheet of our own."""

    changed = Signal()

    def __init__(self, app: QApplication, mode: Mode = Mode.SYSTEM, size: int = BASE) -> None:
        super().__init__(app)
        self._app = app
        self.mode, self.size = mode, size
        self._colors: dict[str, QColor] = {}
        self._icons: dict[tuple[str, str], QIcon] = {}
        self._fonts: dict[str, QFont] = {}
        for name in _FILES:
            QFontDatabase.addApplicationFontFromData(shipped.data(f"fonts/{name}"))
        app.setStyle(PlainStyle(self.icon))
        app.setWindowIcon(_application_icon())
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
            found = self._icons[name, token] = QIcon(TokenIcon(self.color, name, token))
        return found

    def font(self, role: str = "base") -> QFont:
        """Return a font of one's own: base, small, title, strong, medium or mono. Figures are tabular."""
        found = self._fonts.get(role)
        if found is None:
            found = self._fonts[role] = self._made_font(role)
        return QFont(found)

    def _made_font(self, role: str) -> QFont:
        made = QFont(MONO if role == "mono" else FACE)
        made.setPixelSize(self.size + _STEPS[role])
        made.setWeight(_WEIGHTS.get(role, QFont.Weight.Normal))
        made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        if role != "mono":
            made.setFeature(QFont.Tag("tnum"), 1)
        return made

    def height(self, compact: bool = False) -> int:
        """Return the height of a table row in pixels: 28, compact 24, more with a larger font."""
        return max(24 if compact else 28, self._line + (6 if compact else 10))

    def _system_changed(self) -> None:
        if self.mode is Mode.SYSTEM:
            self.wear()

    def _apply(self) -> None:
        self._colors.clear()
        self._fonts.clear()
        self._line = QFontMetrics(self.font()).height()
        shown = self.shown
        self._app.setFont(self.font())
        self._app.setPalette(_palette(shown))
        sizes = {name: self.size + step for name, step in _STEPS.items()}
        template = shipped.text("themes/desk.qss")
        self._app.setStyleSheet(_sheet(template, shown, sizes, _sheet_icons(template, shown)))


def _application_icon() -> QIcon:
    """Return the icon of all windows, drawn for each size that desktops ask for."""
    drawing, made = QSvgRenderer(QByteArray(shipped.data(APPLICATION_ICON))), QIcon()
    for edge in _WINDOW_ICON_SIZES:
        picture = QPixmap(edge, edge)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        drawing.render(painter, QRectF(0, 0, edge, edge))
        painter.end()
        made.addPixmap(picture)
    return made


@cache
def _sheet_icons(template: str, shown: Mode) -> str:
    """Make the icons that a stylesheet names, in the colour of muted text; return their folder.

    A stylesheet can only name files, and an SVG file cannot know the theme.
    """
    color = QColor(value("muted", shown)).name().encode()
    names = set(re.findall(r"@icons/([a-z0-9-]+\.svg)", template))
    files = {name: shipped.data(f"icons/{name}").replace(b"currentColor", color) for name in names}
    return embed(f"/crossdesk/{shown.value}", files)


def embed(folder: str, files: Mapping[str, bytes]) -> str:
    """Give Qt files under a folder, for the life of this process; returns the folder as Qt knows it.

    `folder`: a path from the root, unique in this process. Raises ValueError when Qt does not take them.
    """
    data = _compiled(files)
    if not QResource.registerResourceData(data, folder):
        raise ValueError(f"Qt does not take the files of {folder}.")
    _registered.append(data)
    return f":{folder}"


def _compiled(files: Mapping[str, bytes]) -> bytes:
    """One folder of files: header, tree, content, names. Qt finds children by bisection over their hashes."""
    names, content, nodes = b"", b"", []
    for name in sorted(files, key=_hash):
        nodes.append(struct.pack(">IHHHI", len(names), 0, _NO_COUNTRY, _C_LANGUAGE, len(content)))
        names += struct.pack(">HI", len(name), _hash(name)) + name.encode("utf-16-be")
        content += struct.pack(">I", len(files[name])) + files[name]
    tree = struct.pack(">IHII", 0, _FOLDER, len(files), 1) + b"".join(nodes)
    begin = _HEADER.size
    at_content, at_names = begin + len(tree), begin + len(tree) + len(content)
    return _HEADER.pack(b"qres", 1, begin, at_content, at_names) + tree + content + names


def _hash(name: str) -> int:
    """Qt's own hash of the name of a resource."""
    value = 0
    for (unit,) in struct.iter_unpack(">H", name.encode("utf-16-be")):
        value = (value << 4) + unit
        value ^= (value & 0xF0000000) >> 23
        value &= 0x0FFFFFFF
    return value
