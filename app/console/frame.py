"""What is on the screen as runs of equal look, read in bulk; only rows that changed are read again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pyghostty._ffi import check, ffi, lib

from app.console.ghostty import Ghostty

_CODEPOINT, _STYLE, _WIDE, _LINK = 2, 26, 42, 45
"""Where these lie in the 64 bits of a cell; `_layout_holds` compares with what the library says."""
_GRAPHEME, _PALETTE, _RGB = 1, 2, 3
_LOOKS = 4096


@dataclass(frozen=True, slots=True)
class Look:
    """How a run of cells is painted; colours 0xRRGGBB, -1: that of the terminal."""

    fg: int = -1
    bg: int = -1
    bold: bool = False
    italic: bool = False
    faint: bool = False
    inverse: bool = False
    invisible: bool = False
    strikethrough: bool = False
    overline: bool = False
    underline: int = 0
    """0 none, 1 single, 2 double, 3 curly, 4 dotted, 5 dashed."""
    underline_colour: int = -1
    link: bool = False


class Run(NamedTuple):
    """Cells side by side that look the same."""

    column: int
    columns: int
    text: str
    """One character for each cell where `simple`, else one cluster of one or two cells."""
    look: Look
    simple: bool


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
    """One row in sight."""

    runs: list[Run]
    selected: tuple[int, int] | None = None
    """First and last selected column."""


_SHAPES = {0: "bar", 1: "block", 2: "underline", 3: "hollow"}
_PLAIN, _LINKED = Look(), Look(link=True)
_SELECT, _CELL = lib.ghostty_render_state_row_cells_select, lib.ghostty_render_state_row_cells_get
_ROW = lib.ghostty_render_state_row_get
_STYLE_DATA = lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_STYLE
_RAW_DATA = lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS_RAW
_CELLS_DATA = lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS
_CHOSEN_DATA = lib.GHOSTTY_RENDER_STATE_ROW_DATA_SELECTION


class Frame:
    """The rows in sight, kept up to date by `update`."""

    def __init__(self, terminal: Ghostty) -> None:
        self._terminal = terminal
        self._state = _made("ghostty_render_state_new", "GhosttyRenderState*")
        self._rows = _made("ghostty_render_state_row_iterator_new", "GhosttyRenderStateRowIterator*")
        self._cells = _made("ghostty_render_state_row_cells_new", "GhosttyRenderStateRowCells*")
        self._view = ffi.new("GhosttyCellsView*")
        self._style = ffi.new("GhosttyStyle*")
        self._style.size = ffi.sizeof("GhosttyStyle")
        self._style_bytes = ffi.buffer(self._style)
        self._looks: dict[tuple[bytes, bool], Look] = {}
        self._colours = ffi.new("GhosttyRenderStateColors*")
        self._colours.size = ffi.sizeof("GhosttyRenderStateColors")
        self._rgb = ffi.new("GhosttyColorRgb*")
        self._chosen = ffi.new("GhosttyRenderStateRowSelection*")
        self._chosen.size = ffi.sizeof("GhosttyRenderStateRowSelection")
        self._place = ffi.new("uint16_t*")
        self.rows: list[Row] = []
        self.cursor = Cursor()

    def update(self) -> list[int]:
        """Read what changed since the last call; returns the rows to paint again, in order."""
        check(lib.ghostty_render_state_update(self._state[0], self._terminal.handle), "update")
        count = self._number("ROWS")
        whole = len(self.rows) != count or self._number("DIRTY", "int") == lib.GHOSTTY_RENDER_STATE_DIRTY_FULL
        if len(self.rows) != count:
            self.rows = [Row([]) for _ in range(count)]
        self._get("ROW_ITERATOR", self._rows)
        if whole:
            self._read_colours()
        changed = self._read_all() if whole else self._read_changed()
        check(lib.ghostty_render_state_clean(self._state[0]), "clean")
        return sorted({*changed, *self._moved()})

    def close(self) -> None:
        """Give its memory back."""
        lib.ghostty_render_state_row_cells_free(self._cells[0])
        lib.ghostty_render_state_row_iterator_free(self._rows[0])
        lib.ghostty_render_state_free(self._state[0])

    def _read_all(self) -> list[int]:
        place = 0
        while place < len(self.rows) and lib.ghostty_render_state_row_iterator_next(self._rows[0]):
            self._read(place)
            place += 1
        return list(range(place))

    def _read_changed(self) -> list[int]:
        changed = []
        while lib.ghostty_render_state_row_iterator_next_dirty(self._rows[0], self._place):
            self._read(self._place[0])
            changed.append(self._place[0])
        return changed

    def _moved(self) -> set[int]:
        """The rows that the cursor left and entered."""
        old, self.cursor = self.cursor, self._cursor()
        return {one.row for one in (old, self.cursor) if one.row >= 0} if old != self.cursor else set()

    def _cursor(self) -> Cursor:
        found = ffi.new("GhosttyRenderStateCursor*")
        found.size = ffi.sizeof("GhosttyRenderStateCursor")
        self._get("CURSOR", found)
        if not (found.visible and found.viewport_has_value):
            return Cursor()
        column = found.viewport_x - bool(found.wide_tail)
        return Cursor(column, found.viewport_y, _SHAPES[found.visual_style], bool(found.blinking))

    def _read(self, place: int) -> None:
        row = self._rows[0]
        check(_ROW(row, _RAW_DATA, self._view), "cells")
        raw = np.frombuffer(ffi.buffer(self._view.ptr, self._view.len * 8), dtype=np.uint64)
        chosen = None
        if _ROW(row, _CHOSEN_DATA, self._chosen) == 0:
            chosen = (self._chosen.start_x, self._chosen.end_x)
        self.rows[place] = Row(self._runs(raw), chosen)

    def _runs(self, raw: NDArray[np.uint64]) -> list[Run]:
        used = np.flatnonzero(raw)
        if not used.size:
            return []
        raw = raw[: used[-1] + 1]
        # What tells one run from the next: the style, the link, and whether a cell stands for itself.
        kind = (raw >> np.uint64(_STYLE)) & np.uint64(0xFFFF)
        tag, wide = raw & np.uint64(3), (raw >> np.uint64(_WIDE)) & np.uint64(3)
        points = ((raw >> np.uint64(_CODEPOINT)) & np.uint64(0x1FFFFF)).astype(np.uint32)
        link = (raw >> np.uint64(_LINK)) & np.uint64(1)
        odd = (tag != 0) | (wide != 0) | (points > 0x17F)
        key = kind | (link << np.uint64(16)) | (odd.astype(np.uint64) << np.uint64(17))
        breaks = np.flatnonzero(key[1:] != key[:-1]) + 1
        points[(points == 0) | (tag > 1)] = 32
        bounds = [0, *breaks.tolist(), len(raw)]
        self._begin_cells()
        text = points.tobytes().decode("utf-32-le")
        looks: dict[int, Look] = {}
        runs: list[Run] = []
        keys, strange = key[bounds[:-1]].tolist(), odd[bounds[:-1]].tolist()
        for first, end, one, several in zip(bounds, bounds[1:], keys, strange, strict=False):
            if several:
                runs += self._clusters(raw, first, end)
                continue
            look = looks.get(one)
            if look is None:
                look = looks[one] = self._look(first, one & 0xFFFF, bool(one >> 16 & 1))
            runs.append(Run(first, end - first, text[first:end], look, True))
        return runs

    def _clusters(self, raw: NDArray[np.uint64], first: int, end: int) -> list[Run]:
        """Cells that need care one by one: wide, combined, or of a script that another font may paint."""
        found = []
        for column in range(first, end):
            cell = int(raw[column])
            wide = cell >> _WIDE & 3
            if wide in (2, 3):
                continue
            tag = cell & 3
            text = chr(cell >> _CODEPOINT & 0x1FFFFF) if tag == 0 else ""
            if tag == _GRAPHEME:
                text = self._grapheme(column)
            look = self._look(column, cell >> _STYLE & 0xFFFF, bool(cell >> _LINK & 1))
            if tag in (_PALETTE, _RGB):
                look = Look(bg=self._background(column))
            found.append(Run(column, 2 if wide == 1 else 1, text or " ", look, simple=False))
        return found

    def _begin_cells(self) -> None:
        check(_ROW(self._rows[0], _CELLS_DATA, self._cells), "row cells")

    def _look(self, column: int, style: int, link: bool) -> Look:
        """The look of a cell; styles are numbered anew in each row's page, so they are known by content."""
        if not style:
            return _LINKED if link else _PLAIN
        check(_SELECT(self._cells[0], column), "select")
        check(_CELL(self._cells[0], _STYLE_DATA, self._style), "style")
        key = (bytes(self._style_bytes), link)
        look = self._looks.get(key)
        if look is None:
            look = self._looks[key] = self._made_look(link)
        return look

    def _made_look(self, link: bool) -> Look:
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
        )

    def _resolved(self, colour: Any) -> int:
        if colour.tag == lib.GHOSTTY_STYLE_COLOR_RGB:
            return _number(colour.value.rgb)
        if colour.tag == lib.GHOSTTY_STYLE_COLOR_PALETTE:
            return _number(self._colours.palette[colour.value.palette])
        return -1

    def _read_colours(self) -> None:
        """Looks are kept as long as the program does not change the palette, and are not too many."""
        before = bytes(ffi.buffer(self._colours))
        self._get("COLORS", self._colours)
        if bytes(ffi.buffer(self._colours)) != before or len(self._looks) > _LOOKS:
            self._looks.clear()

    def _background(self, column: int) -> int:
        _SELECT(self._cells[0], column)
        if _CELL(self._cells[0], lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_BG_COLOR, self._rgb):
            return -1
        return _number(self._rgb[0])

    def _grapheme(self, column: int) -> str:
        lib.ghostty_render_state_row_cells_select(self._cells[0], column)
        size = ffi.new("uint32_t*")
        self._cell("GRAPHEMES_LEN", size)
        points = ffi.new("uint32_t[]", max(size[0], 1))
        self._cell("GRAPHEMES_BUF", points)
        return "".join(chr(points[index]) for index in range(size[0]))

    def _cell(self, what: str, out: Any) -> None:
        data = getattr(lib, f"GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_{what}")
        check(lib.ghostty_render_state_row_cells_get(self._cells[0], data, out), what)

    def _number(self, what: str, type_: str = "uint16_t") -> int:
        out = ffi.new(f"{type_}*")
        self._get(what, out)
        return int(out[0])

    def _get(self, what: str, out: Any) -> None:
        data = getattr(lib, f"GHOSTTY_RENDER_STATE_DATA_{what}")
        check(lib.ghostty_render_state_get(self._state[0], data, out), what)


def _made(call: str, type_: str) -> Any:
    out = ffi.new(type_)
    check(getattr(lib, call)(ffi.NULL, out), call)
    return out


def _number(rgb: Any) -> int:
    return int(rgb.r << 16 | rgb.g << 8 | rgb.b)
