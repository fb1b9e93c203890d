"""The sixteen colours of a terminal for each look of the desktop."""

from __future__ import annotations

from app.theme.tokens import Mode

_LIGHT = (
    "#24292f #b3261e #1a7f4e #8a5a00 #2b5bd7 #8a3fa8 #0b7285 #6e7681 "
    "#57606a #c23616 #1f8f5a #9a6700 #3d6be0 #9b4dca #10899e #a9b0ba"
)
_DARK = (
    "#3b414b #f5785b #5cc991 #e5b04f #7ea6ff #c79bf2 #66c7d6 #c9ced6 "
    "#6c7482 #ff9a85 #7fdcae #f2c97d #a3c0ff #d9b8ff #8fdfe9 #f2f4f7"
)
_CONTRAST = (
    "#000000 #ff8a70 #4dff9a #ffd24d #66b3ff #e5b3ff #66ffff #e0e0e0 "
    "#808080 #ffb3a1 #99ffc7 #ffe699 #99ccff #f2d9ff #99ffff #ffffff"
)
PALETTES = {Mode.LIGHT: _LIGHT.split(), Mode.DARK: _DARK.split(), Mode.CONTRAST: _CONTRAST.split()}
"""Look to its colours 0 to 15; readable on the surface of that look."""
