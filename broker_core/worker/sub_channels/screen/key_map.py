"""Which key of the virtual keyboard makes a symbol (a keysym of X11), and with Shift or without."""

from __future__ import annotations

from collections.abc import Sequence

SHIFT = 0xFFE1
"""The left Shift key."""
_SHIFTS = (0xFFE1, 0xFFE2)
_FUNCTIONS = range(0xFD00, 0x10000)
"""Keys that type nothing: arrows, Return, modifiers; Shift is left as it is."""
_LATIN, _UNICODE = range(0x20, 0x10000), range(0x01000100, 0x01110000)


class UnknownKey(ValueError):
    """What is to be pressed is no key."""


def is_symbol(symbol: int) -> bool:
    """Whether a number is a keysym that can be pressed."""
    return symbol in _LATIN or symbol in _UNICODE


class KeyMap:
    """The keys of a keyboard; symbols that it lacks are given to keys that are free."""

    def __init__(self, first: int, per_key: int, symbols: Sequence[int]) -> None:
        """`first`: code of the first key; `per_key`: symbols of each."""
        self._codes: dict[int, tuple[int, bool | None]] = {}
        self._free: list[int] = []
        rows = [symbols[start : start + per_key] for start in range(0, len(symbols), per_key)]
        for code, row in enumerate(rows, first):
            if not any(row):
                self._free.append(code)
            elif row[0]:
                self._codes.setdefault(row[0], (code, False))
        for code, row in enumerate(rows, first):
            if per_key > 1 and row[1]:
                self._codes.setdefault(row[1], (code, True))

    def find(self, symbol: int) -> tuple[int, bool | None] | None:
        """The key of a symbol and whether it takes Shift (None: as it is); None: no key has it."""
        found = self._codes.get(symbol)
        return found if found is None or symbol not in _FUNCTIONS else (found[0], None)

    def assign(self, symbol: int) -> int:
        """The free key that has the symbol from now on; the oldest one loses its own. Raises UnknownKey."""
        if not self._free:
            raise UnknownKey("the keyboard has no free key")
        code = self._free.pop(0)
        self._free.append(code)
        self._codes = {one: key for one, key in self._codes.items() if key[0] != code}
        self._codes[symbol] = (code, None)
        return code


class Keyboard:
    """What is pressed; turns symbols into presses of keys."""

    def __init__(self, keys: KeyMap) -> None:
        self._keys = keys
        self.assigned: tuple[int, int] | None = None
        """Key and symbol that the last press gave to it; the server has to be told first."""
        self._pressed: dict[int, int] = {}

    def press(self, symbol: int) -> list[tuple[int, bool]]:
        """Codes of keys that go down (True) or up, in their order; one that is down already is repeated.

        Raises UnknownKey.
        """
        if not is_symbol(symbol):
            raise UnknownKey("there is no such key")
        self.assigned = None
        found = self._keys.find(symbol)
        if found is None:
            found = self._keys.assign(symbol), None
            self.assigned = found[0], symbol
        code, shifted = found
        if self._pressed.get(symbol) == code:
            return [(code, False), (code, True)]
        self._pressed[symbol] = code
        down = [one for one in _SHIFTS if one in self._pressed]
        if shifted is None or shifted == bool(down):
            return [(code, True)]
        shift = self._keys.find(SHIFT)
        around = [self._pressed[one] for one in down] if down else [shift[0]] if shift else []
        return [*((one, shifted) for one in around), (code, True), *((one, not shifted) for one in around)]

    def release(self, symbol: int) -> list[tuple[int, bool]]:
        """The same for a key that goes up."""
        code = self._pressed.pop(symbol, None)
        return [] if code is None else [(code, False)]

    def release_all(self) -> list[tuple[int, bool]]:
        """Whatever is down goes up."""
        codes = list(dict.fromkeys(self._pressed.values()))
        self._pressed.clear()
        return [(code, False) for code in codes]
