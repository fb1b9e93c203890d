"""Keys and the mouse as a terminal sends them: encoded by the library, in the modes that the program set."""

from __future__ import annotations

from typing import Any

from pyghostty._ffi import check, ffi, lib
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent

from app.console.emulator.ghostty import Ghostty

_ROOM = 256
_M = Qt.KeyboardModifier
_MODIFIERS = (
    (_M.ShiftModifier, 1),
    (_M.ControlModifier, 2),
    (_M.AltModifier, 4),
    (_M.MetaModifier, 8),
)
_K = Qt.Key
_NAMED: dict[int, str] = {
    _K.Key_Return: "ENTER", _K.Key_Enter: "NUMPAD_ENTER", _K.Key_Tab: "TAB", _K.Key_Backtab: "TAB",
    _K.Key_Backspace: "BACKSPACE", _K.Key_Escape: "ESCAPE", _K.Key_Space: "SPACE", _K.Key_Delete: "DELETE",
    _K.Key_Insert: "INSERT", _K.Key_Home: "HOME", _K.Key_End: "END", _K.Key_PageUp: "PAGE_UP",
    _K.Key_PageDown: "PAGE_DOWN", _K.Key_Up: "ARROW_UP", _K.Key_Down: "ARROW_DOWN",
    _K.Key_Left: "ARROW_LEFT", _K.Key_Right: "ARROW_RIGHT", _K.Key_Minus: "MINUS", _K.Key_Equal: "EQUAL",
    _K.Key_Comma: "COMMA", _K.Key_Period: "PERIOD", _K.Key_Slash: "SLASH", _K.Key_Semicolon: "SEMICOLON",
    _K.Key_Apostrophe: "QUOTE", _K.Key_BracketLeft: "BRACKET_LEFT", _K.Key_BracketRight: "BRACKET_RIGHT",
    _K.Key_Backslash: "BACKSLASH", _K.Key_QuoteLeft: "BACKQUOTE",
}  # fmt: skip
_NAMED |= {int(_K.Key_A) + index: chr(65 + index) for index in range(26)}
_NAMED |= {int(_K.Key_0) + index: f"DIGIT_{index}" for index in range(10)}
_NAMED |= {int(_K.Key_F1) + index: f"F{index + 1}" for index in range(24)}
_BUTTONS = {Qt.MouseButton.LeftButton: 1, Qt.MouseButton.RightButton: 2, Qt.MouseButton.MiddleButton: 3}
PRESS, RELEASE, MOTION = 0, 1, 2
WHEEL_UP, WHEEL_DOWN = 4, 5


class KeyEncoder:
    """What the user does, as bytes for the program."""

    def __init__(self, terminal: Ghostty) -> None:
        self._terminal = terminal
        self._encoder = _made("ghostty_key_encoder_new", "GhosttyKeyEncoder*")
        self._event = _made("ghostty_key_event_new", "GhosttyKeyEvent*")
        self._mouse = _made("ghostty_mouse_encoder_new", "GhosttyMouseEncoder*")
        self._mouse_event = _made("ghostty_mouse_event_new", "GhosttyMouseEvent*")
        self._out, self._size = ffi.new(f"char[{_ROOM}]"), ffi.new("size_t*")

    def close(self) -> None:
        """Give its memory back."""
        lib.ghostty_key_event_free(self._event[0])
        lib.ghostty_key_encoder_free(self._encoder[0])
        lib.ghostty_mouse_event_free(self._mouse_event[0])
        lib.ghostty_mouse_encoder_free(self._mouse[0])

    def key(self, event: QKeyEvent) -> bytes:
        """A key that was pressed, repeated or released; empty where the program does not hear of it."""
        one = self._event[0]
        lib.ghostty_key_event_set_action(one, _action(event))
        lib.ghostty_key_event_set_key(one, getattr(lib, f"GHOSTTY_KEY_{_name(event)}"))
        modifiers = _modifiers(event.modifiers())
        lib.ghostty_key_event_set_mods(one, modifiers)
        text = _text(event)
        lib.ghostty_key_event_set_consumed_mods(one, modifiers & 1 if text else 0)
        kept = ffi.from_buffer(text.encode())
        lib.ghostty_key_event_set_utf8(one, kept, len(kept))
        plain = event.key() if event.key() < 0x110000 else 0
        lib.ghostty_key_event_set_unshifted_codepoint(one, ord(chr(plain).lower()) if plain else 0)
        lib.ghostty_key_encoder_setopt_from_terminal(self._encoder[0], self._terminal.handle)
        return self._encoded(lib.ghostty_key_encoder_encode, self._encoder[0], one)

    def mouse(
        self,
        action: int,
        button: Qt.MouseButton | int,
        at: tuple[float, float],
        cell: tuple[int, int],
        screen: tuple[int, int],
        modifiers: Qt.KeyboardModifier,
    ) -> bytes:
        """A mouse event at a pixel; empty where the program does not want it. Sizes in pixels."""
        one = self._mouse_event[0]
        lib.ghostty_mouse_event_set_action(one, action)
        number = button if isinstance(button, int) else _BUTTONS.get(button, 0)
        if number:
            lib.ghostty_mouse_event_set_button(one, number)
        else:
            lib.ghostty_mouse_event_clear_button(one)
        lib.ghostty_mouse_event_set_mods(one, _modifiers(modifiers))
        lib.ghostty_mouse_event_set_position(one, ffi.new("GhosttyMousePosition*", at)[0])
        lib.ghostty_mouse_encoder_setopt_from_terminal(self._mouse[0], self._terminal.handle)
        size = ffi.new("GhosttyMouseEncoderSize*")
        size.size = ffi.sizeof("GhosttyMouseEncoderSize")
        (size.cell_width, size.cell_height), (size.screen_width, size.screen_height) = cell, screen
        lib.ghostty_mouse_encoder_setopt(self._mouse[0], lib.GHOSTTY_MOUSE_ENCODER_OPT_SIZE, size)
        pressed = ffi.new("bool*", bool(number) and action == MOTION)
        which = lib.GHOSTTY_MOUSE_ENCODER_OPT_ANY_BUTTON_PRESSED
        lib.ghostty_mouse_encoder_setopt(self._mouse[0], which, pressed)
        return self._encoded(lib.ghostty_mouse_encoder_encode, self._mouse[0], one)

    def paste(self, text: str) -> bytes:
        """Text from the clipboard, without control characters; in brackets where the program wants them."""
        data = ffi.new("char[]", text.encode())
        bracketed, size = self._terminal.mode(2004), len(data) - 1
        lib.ghostty_paste_encode(data, size, bracketed, ffi.NULL, 0, self._size)
        out = ffi.new("char[]", self._size[0] + 1)
        check(lib.ghostty_paste_encode(data, size, bracketed, out, self._size[0], self._size), "paste")
        return bytes(ffi.buffer(out, self._size[0]))

    def focus(self, gained: bool) -> bytes:
        """The pane got or lost the focus; empty where the program does not want to know."""
        if not self._terminal.mode(1004):
            return b""
        return b"\x1b[I" if gained else b"\x1b[O"

    def _encoded(self, call: Any, encoder: Any, event: Any) -> bytes:
        check(call(encoder, event, self._out, _ROOM, self._size), "encode")
        return bytes(ffi.buffer(self._out, self._size[0]))


def _made(call: str, type_: str) -> Any:
    out = ffi.new(type_)
    check(getattr(lib, call)(ffi.NULL, out), call)
    return out


def _action(event: QKeyEvent) -> int:
    if event.type() is QEvent.Type.KeyRelease:
        return int(lib.GHOSTTY_KEY_ACTION_RELEASE)
    return int(lib.GHOSTTY_KEY_ACTION_REPEAT if event.isAutoRepeat() else lib.GHOSTTY_KEY_ACTION_PRESS)


def _name(event: QKeyEvent) -> str:
    name = _NAMED.get(event.key(), "UNIDENTIFIED")
    keypad = event.modifiers() & Qt.KeyboardModifier.KeypadModifier
    return name.replace("DIGIT", "NUMPAD") if keypad and name.startswith("DIGIT") else name


def _modifiers(held: Qt.KeyboardModifier) -> int:
    return sum(bit for modifier, bit in _MODIFIERS if held & modifier)


def _text(event: QKeyEvent) -> str:
    """What the key types; control characters are the encoder's business."""
    text = event.text()
    if text and (ord(text[0]) < 32 or text[0] == "\x7f"):
        key = event.key()
        return chr(key).lower() if 32 < key < 127 else ""
    return text
