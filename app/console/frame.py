"""What is on the screen as arrays of cells, read in bulk; only rows that changed are read again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyghostty._ffi import check, ffi, lib

from app.console.ghostty import Ghostty
from app.console.looks import Look, Looks

_CODEPOINT, _STYLE, _WIDE, _LINK = 2, 26, 42, 45
"""Where these lie in the 64 bits of a cell."""
_GRAPHEME = 1
_NAMED = 16
_GROUND = 1 << 40
"""Marks a cell that is nothing but its background, beside the numbers of styles."""
_PLAIN_LETTERS = 0x180
"""Below this a character is one cell and has a glyph of its own in every font of the desk."""
_SELECT, _CELL = lib.ghostty_render_state_row_cells_select, lib.ghostty_render_state_row_cells_get
_ROW, _NEXT = lib.ghostty_render_state_row_get, lib.ghostty_render_state_row_iterator_next
_NEXT_DIRTY = lib.ghostty_render_state_row_iterator_next_dirty
_RAW_DATA = lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS_RAW
_CELLS_DATA = lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS
_CHOSEN_DATA = lib.GHOSTTY_RENDER_STATE_ROW_DATA_SELECTION
_STYLE_DATA = lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_STYLE
_SHAPES = {0: "bar", 1: "block", 2: "underline", 3: "hollow"}


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where the cursor is; row -1: out of sight or hidden."""

    column: int = 0
    row: int = -1
    shape: str = "block"
    """`block`, `bar`, `underline` or `hollow`."""
    blinking: bool = False


@dataclass(slots=True)
class Row:
    """One row in sight, a value for each column."""

    letters: NDArray[np.uint32]
    """Codepoints; blank and the second halves of wide characters are spaces."""
    looks: NDArray[np.uint16]
    """Numbers of `Looks`."""
    clusters: tuple[tuple[int, int, str], ...] = ()
    """Column, columns and text of what is no plain letter."""
    selected: tuple[int, int] | None = None
    """First and last selected column."""

    def text(self) -> str:
        """The row as plain text, for tests and screen readers."""
        cells = [chr(point) for point in self.letters.tolist()]
        for column, columns, text in self.clusters:
            cells[column : column + columns] = [text] + [""] * (columns - 1)
        return "".join(cells).rstrip()


class Frame:
    """The rows in sight, kept up to date by `update`."""

    def __init__(self, terminal: Ghostty) -> None:
        self._terminal = terminal
        self.looks = Looks()
        self._state = _made("ghostty_render_state_new", "GhosttyRenderState*")
        self._rows = _made("ghostty_render_state_row_iterator_new", "GhosttyRenderStateRowIterator*")
        self._cells = _made("ghostty_render_state_row_cells_new", "GhosttyRenderStateRowCells*")
        self._view, self._place = ffi.new("GhosttyCellsView*"), ffi.new("uint16_t*")
        self._style = _sized("GhosttyStyle")
        self._style_bytes = ffi.buffer(self._style)
        self._colours = _sized("GhosttyRenderStateColors")
        self._chosen = _sized("GhosttyRenderStateRowSelection")
        self.rows: list[Row] = []
        self.cursor = Cursor()

    def update(self) -> list[int]:
        """Read what changed since the last call; returns the rows to paint again, in order."""
        check(lib.ghostty_render_state_update(self._state[0], self._terminal.handle), "update")
        count, columns = self._number("ROWS"), self._number("COLS")
        whole = (
            len(self.rows) != count
            or not count
            or self._number("DIRTY", "int") == lib.GHOSTTY_RENDER_STATE_DIRTY_FULL
            or len(self.rows[0].letters) != columns
        )
        self._get("ROW_ITERATOR", self._rows)
        if whole:
            self._read_colours()
        changed = self._read_all(count) if whole else self._read_changed()
        check(lib.ghostty_render_state_clean(self._state[0]), "clean")
        return sorted({*changed, *self._moved()})

    def forget(self) -> None:
        """Read everything anew next time."""
        self.rows = []

    def close(self) -> None:
        """Give its memory back."""
        lib.ghostty_render_state_row_cells_free(self._cells[0])
        lib.ghostty_render_state_row_iterator_free(self._rows[0])
        lib.ghostty_render_state_free(self._state[0])

    def _read_all(self, count: int) -> list[int]:
        rows = []
        while len(rows) < count and _NEXT(self._rows[0]):
            rows.append(self._read())
        self.rows = rows
        return list(range(len(rows)))

    def _read_changed(self) -> list[int]:
        changed = []
        while _NEXT_DIRTY(self._rows[0], self._place):
            self.rows[self._place[0]] = self._read()
            changed.append(self._place[0])
        return changed

    def _moved(self) -> set[int]:
        """The rows that the cursor left and entered."""
        old, self.cursor = self.cursor, self._cursor()
        return {one.row for one in (old, self.cursor) if one.row >= 0} if old != self.cursor else set()

    def _cursor(self) -> Cursor:
        found = _sized("GhosttyRenderStateCursor")
        self._get("CURSOR", found)
        if not (found.visible and found.viewport_has_value):
            return Cursor()
        column = found.viewport_x - bool(found.wide_tail)
        return Cursor(column, found.viewport_y, _SHAPES[found.visual_style], bool(found.blinking))

    def _read(self) -> Row:
        check(_ROW(self._rows[0], _RAW_DATA, self._view), "cells")
        raw = np.frombuffer(ffi.buffer(self._view.ptr, self._view.len * 8), dtype=np.uint64)
        chosen = None
        if _ROW(self._rows[0], _CHOSEN_DATA, self._chosen) == 0:
            chosen = (self._chosen.start_x, self._chosen.end_x)
        points = ((raw >> _CODEPOINT) & 0x1FFFFF).astype(np.uint32)
        keys = raw >> _STYLE
        if not keys.any() and not (raw & 3).any() and points.max(initial=0) < _PLAIN_LETTERS:
            points[points == 0] = 32
            return Row(points, np.zeros(len(raw), dtype=np.uint16), (), chosen)
        return self._styled(raw, points, keys, chosen)

    def _styled(
        self,
        raw: NDArray[np.uint64],
        points: NDArray[np.uint32],
        keys: NDArray[np.uint64],
        chosen: tuple[int, int] | None,
    ) -> Row:
        check(_ROW(self._rows[0], _CELLS_DATA, self._cells), "row cells")
        wide, tag = keys >> (_WIDE - _STYLE) & 3, raw & 3
        odd = np.flatnonzero((tag != 0) | (wide == 1) | (points >= _PLAIN_LETTERS))
        clusters = tuple(self._cluster(raw, int(column)) for column in odd if int(wide[column]) < 2)
        points[(points == 0) | (points >= _PLAIN_LETTERS) | (tag != 0) | (wide != 0)] = 32
        styles = (keys & 0xFFFF) | (keys >> (_LINK - _STYLE) & 1) << 16
        styles[tag > 1] = _GROUND | odd_colours(raw[tag > 1])
        return Row(points, self._looked(styles), clusters, chosen)

    def _looked(self, styles: NDArray[np.uint64]) -> NDArray[np.uint16]:
        """The look of each cell; styles are numbered anew in each page, so they are known by content."""
        starts = np.flatnonzero(np.concatenate(([True], styles[1:] != styles[:-1])))
        here: dict[int, int] = {0: 0}
        numbers = []
        for start, style in zip(starts.tolist(), styles[starts].tolist(), strict=True):
            number = here.get(style)
            if number is None:
                number = here[style] = self._number_of(start, style)
            numbers.append(number)
        lengths = np.diff(np.append(starts, len(styles)))
        return np.repeat(np.array(numbers, dtype=np.uint16), lengths)

    def _number_of(self, column: int, style: int) -> int:
        if style & _GROUND:
            return self.looks.ground(self._ground(style))
        link = bool(style >> 16 & 1)
        if not style & 0xFFFF:
            return self.looks.plain(link)
        _SELECT(self._cells[0], column)
        check(_CELL(self._cells[0], _STYLE_DATA, self._style), "style")
        key = (bytes(self._style_bytes), link)
        found = self.looks.numbers.get(key)
        return self.looks.add(key, self._look(link)) if found is None else found

    def _look(self, link: bool) -> Look:
        one = self._style
        return Look(
            fg=self._resolved(one.fg_color),
            bg=self._resolved(one.bg_color),
            bold=one.bold,
            italic=one.italic,
            faint=one.faint,
            inverse=one.inverse,
            invisible=one.invisible,
            strikethrough=one.strikethrough,
            overline=one.overline,
            underline=one.underline,
            underline_colour=self._resolved(one.underline_color),
            link=link,
            named=_named(one.bg_color) and one.fg_color.tag != lib.GHOSTTY_STYLE_COLOR_RGB,
        )

    def _resolved(self, colour: Any) -> int:
        if colour.tag == lib.GHOSTTY_STYLE_COLOR_RGB:
            return _number(colour.value.rgb)
        if colour.tag == lib.GHOSTTY_STYLE_COLOR_PALETTE:
            return _number(self._colours.palette[colour.value.palette])
        return -1

    def _ground(self, style: int) -> int:
        """The colour of a cell that is nothing but its background."""
        value = style & 0xFFFFFF
        if style >> 24 & 1:
            return (value & 0xFF) << 16 | (value & 0xFF00) | value >> 16
        return _number(self._colours.palette[value & 0xFF])

    def _cluster(self, raw: NDArray[np.uint64], column: int) -> tuple[int, int, str]:
        cell = int(raw[column])
        text = chr(cell >> _CODEPOINT & 0x1FFFFF) if cell & 3 == 0 else " "
        if cell & 3 == _GRAPHEME:
            text = self._grapheme(column)
        return column, 2 if cell >> _WIDE & 3 == 1 else 1, text

    def _grapheme(self, column: int) -> str:
        _SELECT(self._cells[0], column)
        size = ffi.new("uint32_t*")
        check(_CELL(self._cells[0], lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_GRAPHEMES_LEN, size), "length")
        points = ffi.new("uint32_t[]", max(size[0], 1))
        check(_CELL(self._cells[0], lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_GRAPHEMES_BUF, points), "cluster")
        return "".join(chr(points[index]) for index in range(size[0]))

    def _read_colours(self) -> None:
        """Looks are kept as long as the program does not change the palette, and are not too many."""
        before = bytes(ffi.buffer(self._colours))
        self._get("COLORS", self._colours)
        if bytes(ffi.buffer(self._colours)) != before or self.looks.full:
            self.looks.clear()

    def _number(self, what: str, type_: str = "uint16_t") -> int:
        out = ffi.new(f"{type_}*")
        self._get(what, out)
        return int(out[0])

    def _get(self, what: str, out: Any) -> None:
        data = getattr(lib, f"GHOSTTY_RENDER_STATE_DATA_{what}")
        check(lib.ghostty_render_state_get(self._state[0], data, out), what)


def odd_colours(raw: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The colour of cells that are nothing but background; bit 24 tells red-green-blue from the palette."""
    return (raw >> _CODEPOINT & 0xFFFFFF) | ((raw & 3) == 3).astype(np.uint64) << 24


def _made(call: str, type_: str) -> Any:
    out = ffi.new(type_)
    check(getattr(lib, call)(ffi.NULL, out), call)
    return out


def _sized(type_: str) -> Any:
    made = ffi.new(f"{type_}*")
    made.size = ffi.sizeof(type_)
    return made


def _named(colour: Any) -> bool:
    return bool(colour.tag == lib.GHOSTTY_STYLE_COLOR_PALETTE and colour.value.palette < _NAMED)


def _number(rgb: Any) -> int:
    return int(rgb.r << 16 | rgb.g << 8 | rgb.b)
