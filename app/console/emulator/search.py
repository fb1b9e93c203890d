"""Search in a terminal, its scroll-back included, in slices."""

from __future__ import annotations

import time
from typing import Any

from pyghostty._ffi import check, ffi, lib

from app.console.emulator.ghostty import Ghostty

_POINT, _VIEWPORT = lib.ghostty_terminal_point_from_grid_ref, lib.GHOSTTY_POINT_TAG_VIEWPORT
_SHOWN = 2048
"""Hits on one screen that are marked, at most."""


class ScreenSearch:
    """One search for a text, whatever its case. `work` until it says that it is done."""

    def __init__(self, terminal: Ghostty, text: str) -> None:
        self._terminal = terminal
        self._search = ffi.new("GhosttySearch*")
        check(lib.ghostty_search_new(ffi.NULL, self._search, terminal.handle), "search")
        self._needle = ffi.from_buffer(text.encode())
        needle = ffi.new("GhosttyString*", {"ptr": self._needle, "len": len(self._needle)})
        self._set("NEEDLE", needle)
        self._room = ffi.new("GhosttySelection[]", _SHOWN)
        for one in range(_SHOWN):
            self._room[one].size = ffi.sizeof("GhosttySelection")
        self._status = ffi.new("GhosttySearchStatus*")
        self._where = ffi.new("GhosttyPointCoordinate*")

    def close(self) -> None:
        """Give its memory back."""
        lib.ghostty_search_free(self._search[0])

    def work(self, seconds: float) -> bool:
        """Search for about so long; True when everything was searched that is there now."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            check(lib.ghostty_search_tick(self._search[0], self._status), "tick")
            if self._status[0] == lib.GHOSTTY_SEARCH_STATUS_COMPLETE:
                return True
            if self._status[0] == lib.GHOSTTY_SEARCH_STATUS_FEED_REQUIRED:
                check(lib.ghostty_search_feed(self._search[0]), "feed")
        return False

    @property
    def hits(self) -> int:
        """How many were found so far."""
        return self._number("TOTAL_MATCHES")

    def step(self, way: int) -> int:
        """Select the next hit, -1 towards the past, and bring it into sight; its number, the newest is 1."""
        if not self.hits:
            return 0
        self._set("SELECT_NEXT" if way < 0 else "SELECT_PREV", ffi.NULL)
        chosen = ffi.new("GhosttySelection*")
        chosen.size = ffi.sizeof("GhosttySelection")
        if lib.ghostty_search_get(self._search[0], lib.GHOSTTY_SEARCH_DATA_SELECTED_MATCH, chosen) == 0:
            option = lib.GHOSTTY_TERMINAL_OPT_SELECTION
            check(lib.ghostty_terminal_set(self._terminal.handle, option, chosen), "select")
        return self._number("SELECTED_INDEX") + 1

    def in_sight(self) -> dict[int, list[tuple[int, int]]]:
        """Row in sight to the first and last columns of the hits there."""
        found = ffi.new("GhosttySelectionBuffer*", {"ptr": self._room, "cap": _SHOWN})
        which = lib.GHOSTTY_SEARCH_DATA_VIEWPORT_MATCHES
        if lib.ghostty_search_get(self._search[0], which, found):
            return {}
        rows: dict[int, list[tuple[int, int]]] = {}
        columns, handle = self._terminal.size[0], self._terminal.handle
        for one in self._room[0 : found.len]:
            start, end = self._point(handle, one.start), self._point(handle, one.end)
            if start is None or end is None:
                continue
            for row in range(start[1], end[1] + 1):
                first = start[0] if row == start[1] else 0
                rows.setdefault(row, []).append((first, end[0] if row == end[1] else columns - 1))
        return rows

    def _point(self, handle: Any, ref: Any) -> tuple[int, int] | None:
        where = self._where
        if _POINT(handle, ffi.addressof(ref), _VIEWPORT, where):
            return None
        return where.x, where.y

    def _number(self, what: str) -> int:
        out = ffi.new("size_t*")
        if lib.ghostty_search_get(self._search[0], getattr(lib, f"GHOSTTY_SEARCH_DATA_{what}"), out):
            return 0
        return int(out[0])

    def _set(self, option: str, value: Any) -> None:
        which = getattr(lib, f"GHOSTTY_SEARCH_OPT_{option}")
        check(lib.ghostty_search_set(self._search[0], which, value), option)
