"""Pictures as jobs leave them."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QColor, QImage


def picture(path: Path) -> None:
    image = QImage(320, 200, QImage.Format.Format_RGB32)
    for y in range(200):
        for x in range(320):
            image.setPixelColor(x, y, QColor(x * 255 // 320, y * 255 // 200, 120))
    image.save(str(path))
