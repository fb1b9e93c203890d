"""Pictures as jobs leave them, and pictures of the inspector for people to look at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtGui import QColor, QImage

from app.inspector.inspector import Inspector
from app.theme.tokens import Mode
from tests.app.inspector.recorded import TestContext

SCREENS = Path(__file__).parents[3] / "build" / "screenshots"


def picture(path: Path) -> None:
    image = QImage(320, 200, QImage.Format.Format_RGB32)
    for y in range(200):
        for x in range(320):
            image.setPixelColor(x, y, QColor(x * 255 // 320, y * 255 // 200, 120))
    image.save(str(path))


def shoot(inspector: Inspector, context: TestContext, name: str, turn: Callable[[], None]) -> list[Path]:
    """Save the picture in both themes and two widths."""
    made = []
    SCREENS.mkdir(parents=True, exist_ok=True)
    for mode in (Mode.LIGHT, Mode.DARK):
        context.theme.wear(mode)
        for width in (360, 900):
            inspector.resize(width, 820)
            turn()
            path = SCREENS / f"inspector-{name}-{mode.value}-{width}.png"
            assert inspector.grab().save(str(path))
            made.append(path)
    return made
