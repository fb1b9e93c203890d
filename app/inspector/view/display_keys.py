"""Keys of this desk as symbols of X11, which the program's display takes."""

from __future__ import annotations

from PySide6.QtCore import Qt

K = Qt.Key
_FUNCTION_KEYS = 35
_SYMBOLS: dict[int, int] = {
    K.Key_Backspace: 0xFF08, K.Key_Tab: 0xFF09, K.Key_Backtab: 0xFF09, K.Key_Return: 0xFF0D,
    K.Key_Pause: 0xFF13, K.Key_Escape: 0xFF1B, K.Key_Home: 0xFF50, K.Key_Left: 0xFF51, K.Key_Up: 0xFF52,
    K.Key_Right: 0xFF53, K.Key_Down: 0xFF54, K.Key_PageUp: 0xFF55, K.Key_PageDown: 0xFF56,
    K.Key_End: 0xFF57, K.Key_Print: 0xFF61, K.Key_Insert: 0xFF63, K.Key_Menu: 0xFF67, K.Key_Enter: 0xFF8D,
    K.Key_Shift: 0xFFE1, K.Key_Control: 0xFFE3, K.Key_Alt: 0xFFE9, K.Key_Meta: 0xFFEB, K.Key_Delete: 0xFFFF,
    **{K.Key_F1 + number: 0xFFBE + number for number in range(_FUNCTION_KEYS)},
}  # fmt: skip
_LATIN = (range(0x20, 0x7F), range(0xA0, 0x100))
_UNICODE = 0x01000000


def symbol_of(key: int, text: str, *, shift: bool) -> int | None:
    """The symbol of a key that types `text`; None for what only changes other keys, as AltGr does."""
    found = _SYMBOLS.get(key)
    if found is not None:
        return found
    if len(text) == 1 and text.isprintable():
        return _of_character(ord(text))
    if key in _LATIN[0]:
        # With Control and Alt a key types no text.
        return ord(chr(key).upper() if shift else chr(key).lower())
    return None


def _of_character(number: int) -> int:
    return number if any(number in part for part in _LATIN) else _UNICODE | number
