"""What is on the screen as arrays of cells, read in bulk; only rows that changed are read again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyghostty._ffi import check, ffi, lib

from app.console.emulator.cell_style import CellStyle, CellStyles
from app.console.emulator.cells import CellGrid, Style, stretches
from app.console.emulator.ghostty import Ghostty

_NAMED = 16
_SELECT, _CELL = lib.ghostty_render_state_row_cells_select, lib.ghostty_render_state_row_cells_get
_ROW, _NEXT = lib.ghostty_render_state_row_get, lib.ghostty_render_state_row_iterator_next
_NEXT_DIRTY = lib.ghostty_render_state_row_iterator_next_dirty
_RAW_DATA = lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS_RAW
_CELLS_DATA = lib.GHOSTTY_RENDER_STATE_ROW_DATA_CELLS
_CHOSEN_DATA = lib.GHOSTTY_RENDER_STATE_ROW_DATA_SELECTION
_STYLE_DATA = lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_STYLE
_SHAPES = {0: "bar", 1: "block", 2: "underline", 3: "hollow"}


@dataclass(frozen=True, slots=True)
class ScreenCursor:
    """Where the cursor is; row -1: out of sight or hidden."""

    column: int = 0
    row: int = -1
    shape: str = "block"
    """`block`, `bar`, `underline` or `hollow`."""
    blinking: bool = False


@dataclass(slots=True)
class ScreenRow:
    """One row in sight, a value for each column."""

    letters: NDArray[np.uint32]
    """Codepoints; blank and the second halves of wide characters are spaces."""
    cell_styles: NDArray[np.uint16]
    """Numbers of `CellStyles`."""
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


class ScreenFrame:
    """The rows in sight, kept up to date by `update`."""

    def __init__(self, terminal: Ghostty) -> None:
        self._terminal = terminal
        self.cell_styles = CellStyles()
        self._state = _made("ghostty_render_state_new", "GhosttyRenderState*")
        self._rows = _made("ghostty_render_state_row_iterator_new", "GhosttyRenderStateRowIterator*")
        self._cells: list[Any] = []
        """A handle for the cells of each row that is read, for what is not in their bits."""
        self._view, self._place = ffi.new("GhosttyCellsView*"), ffi.new("uint16_t*")
        self._style = _sized("GhosttyStyle")
        self._style_bytes = ffi.buffer(self._style)
        self._colors = _sized("GhosttyRenderStateColors")
        self._chosen = _sized("GhosttyRenderStateRowSelection")
        self.rows: list[ScreenRow] = []
        self.cursor = ScreenCursor()

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
            self._read_colors()
        changed = self._read_all(count, columns) if whole else self._read_changed(count, columns)
        check(lib.ghostty_render_state_clean(self._state[0]), "clean")
        return sorted({*changed, *self._moved()})

    def forget(self) -> None:
        """Read everything anew next time."""
        self.rows = []

    def close(self) -> None:
        """Give its memory back."""
        for cells in self._cells:
            lib.ghostty_render_state_row_cells_free(cells[0])
        lib.ghostty_render_state_row_iterator_free(self._rows[0])
        lib.ghostty_render_state_free(self._state[0])

    def _read_all(self, count: int, columns: int) -> list[int]:
        raw = np.zeros((count, columns), dtype=np.uint64)
        chosen: list[tuple[int, int] | None] = []
        while len(chosen) < count and _NEXT(self._rows[0]):
            chosen.append(self._gather(raw[len(chosen)], len(chosen)))
        places = list(range(len(chosen)))
        self.rows = self._read(raw[: len(places)], places, chosen)
        return places

    def _read_changed(self, count: int, columns: int) -> list[int]:
        raw = np.zeros((count, columns), dtype=np.uint64)
        chosen: list[tuple[int, int] | None] = []
        places = []
        while _NEXT_DIRTY(self._rows[0], self._place):
            chosen.append(self._gather(raw[len(chosen)], len(chosen)))
            places.append(int(self._place[0]))
        for place, row in zip(places, self._read(raw[: len(places)], places, chosen), strict=True):
            self.rows[place] = row
        return places

    def _gather(self, raw: NDArray[np.uint64], number: int) -> tuple[int, int] | None:
        """Take the bits of the row whose turn it is, and keep a handle of it; what of it is selected."""
        check(_ROW(self._rows[0], _RAW_DATA, self._view), "cells")
        size = min(self._view.len, len(raw))
        raw[:size] = np.frombuffer(ffi.buffer(self._view.ptr, size * 8), dtype=np.uint64)
        if number == len(self._cells):
            self._cells.append(_made("ghostty_render_state_row_cells_new", "GhosttyRenderStateRowCells*"))
        check(_ROW(self._rows[0], _CELLS_DATA, self._cells[number]), "row cells")
        if _ROW(self._rows[0], _CHOSEN_DATA, self._chosen):
            return None
        return self._chosen.start_x, self._chosen.end_x

    def _moved(self) -> set[int]:
        """The rows that the cursor left and entered."""
        old, self.cursor = self.cursor, self._cursor()
        return {one.row for one in (old, self.cursor) if one.row >= 0} if old != self.cursor else set()

    def _cursor(self) -> ScreenCursor:
        found = _sized("GhosttyRenderStateCursor")
        self._get("CURSOR", found)
        if not (found.visible and found.viewport_has_value):
            return ScreenCursor()
        column = found.viewport_x - bool(found.wide_tail)
        return ScreenCursor(column, found.viewport_y, _SHAPES[found.visual_style], bool(found.blinking))

    def _read(
        self, raw: NDArray[np.uint64], places: list[int], chosen: list[tuple[int, int] | None]
    ) -> list[ScreenRow]:
        cells = CellGrid(raw)
        clusters: list[list[tuple[int, int, str]]] = [[] for _ in places]
        for row, column in cells.odd():
            size, text = cells.character(row, column)
            clusters[row].append((column, size, text or self._grapheme(row, column)))
        letters, cell_styles = cells.letters(), self._styled(cells.styles(), places)
        return [
            ScreenRow(letters[row], cell_styles[row], tuple(clusters[row]), chosen[row])
            for row in range(len(places))
        ]

    def _styled(self, styles: NDArray[np.uint64], places: list[int]) -> NDArray[np.uint16]:
        """The look of each cell."""
        if not styles.any():
            return np.zeros(styles.shape, dtype=np.uint16)
        firsts, which = stretches(styles, self._terminal.pages(places))
        columns = styles.shape[1]
        numbers = [
            self._number_of(first // columns, first % columns, Style(style))
            for first, style in zip(firsts.tolist(), styles.ravel()[firsts].tolist(), strict=True)
        ]
        return np.array(numbers, dtype=np.uint16)[which].reshape(styles.shape)

    def _number_of(self, row: int, column: int, style: Style) -> int:
        """Styles are known by the content of their style."""
        if style.bare:
            return self.cell_styles.ground(self._ground(style))
        if not style.number:
            return self.cell_styles.plain(style.link)
        _SELECT(self._cells[row][0], column)
        check(_CELL(self._cells[row][0], _STYLE_DATA, self._style), "style")
        key = (bytes(self._style_bytes), style.link)
        found = self.cell_styles.numbers.get(key)
        return self.cell_styles.add(key, self._cell_style(style.link)) if found is None else found

    def _cell_style(self, link: bool) -> CellStyle:
        one = self._style
        return CellStyle(
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
            underline_color=self._resolved(one.underline_color),
            link=link,
            named=_named(one.bg_color) and one.fg_color.tag != lib.GHOSTTY_STYLE_COLOR_RGB,
        )

    def _resolved(self, color: Any) -> int:
        if color.tag == lib.GHOSTTY_STYLE_COLOR_RGB:
            return _number(color.value.rgb)
        if color.tag == lib.GHOSTTY_STYLE_COLOR_PALETTE:
            return _number(self._colors.palette[color.value.palette])
        return -1

    def _ground(self, style: Style) -> int:
        return style.color if style.palette < 0 else _number(self._colors.palette[style.palette])

    def _grapheme(self, row: int, column: int) -> str:
        cells = self._cells[row][0]
        _SELECT(cells, column)
        size = ffi.new("uint32_t*")
        check(_CELL(cells, lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_GRAPHEMES_LEN, size), "length")
        points = ffi.new("uint32_t[]", max(size[0], 1))
        check(_CELL(cells, lib.GHOSTTY_RENDER_STATE_ROW_CELLS_DATA_GRAPHEMES_BUF, points), "cluster")
        return "".join(chr(points[index]) for index in range(size[0]))

    def _read_colors(self) -> None:
        """Styles are kept as long as the program does not change the palette, and are not too many."""
        before = bytes(ffi.buffer(self._colors))
        self._get("COLORS", self._colors)
        if bytes(ffi.buffer(self._colors)) != before or self.cell_styles.full:
            self.cell_styles.clear()

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


def _sized(type_: str) -> Any:
    made = ffi.new(f"{type_}*")
    made.size = ffi.sizeof(type_)
    return made


def _named(color: Any) -> bool:
    return bool(color.tag == lib.GHOSTTY_STYLE_COLOR_PALETTE and color.value.palette < _NAMED)


def _number(rgb: Any) -> int:
    return int(rgb.r << 16 | rgb.g << 8 | rgb.b)
