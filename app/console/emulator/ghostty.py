"""The one door to libghostty-vt: a terminal's state, its scroll-back, selection, search and replies."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyghostty import Terminal
from pyghostty._ffi import check, ffi, lib, union_fn

from app.console.emulator.additions import Additions

SCROLL_BACK = 100_000
"""Lines that are kept beyond the screen."""
_SCROLL_BYTES = 1 << 30
_PAGE = 3000
"""Lines are given up by pages, of as many as this on screens of 20 columns and more."""
_CLIPBOARD_MOST = 1 << 20
_SCHEME = 2031
_WHOLES = {"word": "GhosttyTerminalSelectWordOptions", "line": "GhosttyTerminalSelectLineOptions"}
# libghostty takes this union by value, which cffi cannot pass; a struct of the same layout can be.
ffi.cdef("typedef struct { GhosttyTerminalScrollViewportTag tag; intptr_t value; uint64_t _pad; } ScrollTo;")
assert ffi.sizeof("ScrollTo") == ffi.sizeof("GhosttyTerminalScrollViewport")


@dataclass(slots=True)
class Said:
    """What the program wanted beside painting, gathered while it was fed; taken by `Ghostty.said`."""

    replies: bytearray = field(default_factory=bytearray)
    """Answers to be sent to the program."""
    bells: int = 0
    titled: bool = False
    clipboard: list[str] = field(default_factory=list)
    """Texts that it wants on the clipboard."""


@dataclass(frozen=True, slots=True)
class Scroll:
    """Where the view is, in lines."""

    total: int
    offset: int
    shown: int

    @property
    def at_end(self) -> bool:
        """True where the newest line is in sight."""
        return self.offset + self.shown >= self.total


class Ghostty:
    """One emulated terminal. Coordinates are cells of what is in sight, from 0.

    What takes long can be done beside the window, with `aside`; whoever wants anything of the terminal
    meanwhile waits for it, so that windows ask `busy` first and come back when it is done.
    """

    def __init__(self, columns: int, rows: int, scroll_back: int = SCROLL_BACK) -> None:
        self._native = Terminal(columns, rows, scrollback=scroll_back + _PAGE)
        self._worker: threading.Thread | None = None
        self.size = (columns, rows)
        """Columns and rows."""
        self._said = Said()
        self._callbacks: list[Any] = []
        self._additions = Additions(self)
        self._cell = (0, 0)
        self._dark = False
        size = ffi.new("size_t*", _SCROLL_BYTES)
        self._set("SCROLLBACK_MAX_BYTES", size)
        self._on("WRITE_PTY", "GhosttyTerminalWritePtyFn", self._reply)
        self._on("BELL", "GhosttyTerminalBellFn", self._rung)
        self._on("TITLE_CHANGED", "GhosttyTerminalTitleChangedFn", self._titled)
        self._on("CLIPBOARD_WRITE", "GhosttyTerminalClipboardWriteFn", self._copied)
        self._on("SIZE", "GhosttyTerminalSizeFn", self._sized)
        self._on("COLOR_SCHEME", "GhosttyTerminalColorSchemeFn", self._coloured)
        self._set("CLIPBOARD_WRITE_MAX_BYTES", ffi.new("size_t*", _CLIPBOARD_MOST))

    @property
    def busy(self) -> bool:
        """True while something is being done aside."""
        return self._worker is not None

    def aside(self, work: Callable[[], None], done: Callable[[], None]) -> None:
        """Do something long with this terminal in a thread of its own, then call `done` there."""

        def run() -> None:
            try:
                work()
            finally:
                self._worker = None
                done()

        self._wait()
        worker = threading.Thread(target=run, name="terminal", daemon=True)
        self._worker = worker
        worker.start()

    def _wait(self) -> None:
        worker = self._worker
        if worker is not None and worker is not threading.current_thread():
            worker.join()

    @property
    def _terminal(self) -> Terminal:
        self._wait()
        return self._native

    @property
    def handle(self) -> Any:
        """The native terminal, for `frame` and `keys`."""
        return self._terminal._t[0]

    def close(self) -> None:
        """Give its memory back."""
        self._terminal.close()

    def feed(self, data: bytes | memoryview, *, past: bool = False) -> None:
        """Take output of the program; any bytes, cut anywhere. What is `past` was answered long ago."""
        self._additions.feed(data)
        if past:
            self._said = Said(titled=self._said.titled)

    def write(self, data: bytes | memoryview) -> None:
        """Take bytes as the library knows them."""
        lib.ghostty_terminal_vt_write(self.handle, ffi.from_buffer("uint8_t[]", data), len(data))

    def said(self) -> Said:
        """What the program wanted since the last call."""
        said, self._said = self._said, Said()
        return said

    def resize(self, columns: int, rows: int, cell_width: int, cell_height: int) -> None:
        """Another size in cells, with that of a cell in pixels; lines of the primary screen flow anew."""
        terminal = self._terminal
        self._cell, self.size = (cell_width, cell_height), (columns, rows)
        terminal.resize(columns, rows, cell_width, cell_height)

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row on the screen."""
        column, row = self._terminal.cursor
        return int(column), int(row)

    @property
    def title(self) -> str:
        """What the program calls itself."""
        text = ffi.new("GhosttyString*")
        self._get("TITLE", text)
        return bytes(ffi.buffer(text.ptr, text.len)).decode("utf-8", "replace") if text.len else ""

    @property
    def alternate(self) -> bool:
        """True while a full-screen program has the alternate screen."""
        return bool(self._terminal.get("active_screen", "int") == lib.GHOSTTY_TERMINAL_SCREEN_ALTERNATE)

    @property
    def takes_mouse(self) -> bool:
        """True while the program wants to hear of the mouse."""
        return bool(self._terminal.get("mouse_tracking", "bool"))

    def mode(self, number: int) -> bool:
        """True while a private mode is set, such as 2004 (bracketed paste) or 1004 (focus)."""
        return bool(self._terminal.mode(number))

    def text(self) -> str:
        """The screen as plain text."""
        return str(self._terminal.text())

    def contents(self) -> str:
        """Scroll-back and screen as plain text."""
        return str(self._terminal.contents())

    def colors(self, fg: str, bg: str, cursor: str, palette: list[str]) -> None:
        """Set the colours (`#rrggbb`) that programs do not name themselves; 16 in the palette."""
        for name, value in (("FOREGROUND", fg), ("BACKGROUND", bg), ("CURSOR", cursor)):
            self._set(f"COLOR_{name}", ffi.new("GhosttyColorRgb*", _rgb(value)))
        table = ffi.new("GhosttyColorRgb[256]")
        lib.ghostty_color_palette_default(table)
        for index, value in enumerate(palette):
            table[index] = ffi.new("GhosttyColorRgb*", _rgb(value))[0]
        self._set("COLOR_PALETTE", table)
        self._tell_scheme(bg)

    def _tell_scheme(self, bg: str) -> None:
        """Light or dark, for programs that choose their colours by it (mode 2031 asks to be told)."""
        ground = _rgb(bg)
        dark = ground["r"] * 3 + ground["g"] * 6 + ground["b"] < 1280
        if dark != self._dark:
            self._dark = dark
            if self.mode(_SCHEME):
                self._said.replies += b"\x1b[?997;1n" if dark else b"\x1b[?997;2n"

    def pages(self, rows: Sequence[int]) -> list[int]:
        """The piece of memory, which numbers its styles, of each of some rows in sight, rows in order."""
        first, last = self._page(rows[0]), self._page(rows[-1])
        # Pages follow each other: what lies between two rows of one page is in it too.
        return [first] * len(rows) if first == last else [self._page(row) for row in rows]

    def _page(self, row: int) -> int:
        return int(ffi.cast("uintptr_t", self._terminal.ref(0, row, "viewport").node))

    # Scroll-back

    def scroll(self) -> Scroll:
        """Where the view is."""
        bar = ffi.new("GhosttyTerminalScrollbar*")
        self._get("SCROLLBAR", bar)
        return Scroll(bar.total, bar.offset, bar.len)

    def scroll_to(self, line: int) -> None:
        """Show from this line on, counted from the oldest."""
        self._scroll(lib.GHOSTTY_SCROLL_VIEWPORT_ROW, line)

    def scroll_by(self, lines: int) -> None:
        """Move the view, negative into the past."""
        self._scroll(lib.GHOSTTY_SCROLL_VIEWPORT_DELTA, lines)

    def scroll_to_end(self) -> None:
        """Show the newest lines."""
        self._scroll(lib.GHOSTTY_SCROLL_VIEWPORT_BOTTOM, 0)

    def forget_scroll_back(self) -> None:
        """Drop the lines that have left the screen (ED 3); CAN ends a sequence that was begun."""
        self.feed(b"\x18\x1b[3J")

    def take_history(self) -> str:
        """The lines that have left the screen, as plain text; they are forgotten."""
        columns, rows = self.size
        lines = self.scroll().total - rows
        if lines < 1:
            return ""
        chosen = _sized("GhosttySelection")
        chosen.start = self._terminal.ref(0, 0, "screen")[0]
        chosen.end = self._terminal.ref(columns - 1, lines - 1, "screen")[0]
        text = self._plain(chosen, trim=True)
        self.forget_scroll_back()
        return text

    def leave_alternate(self) -> None:
        """Back to the primary screen, as when a full-screen program ends; CAN ends a sequence begun."""
        self.feed(b"\x18\x1b[?1049l")

    def _scroll(self, tag: int, value: int) -> None:
        call = union_fn("ghostty_terminal_scroll_viewport", "void(*)(GhosttyTerminal, ScrollTo)")
        where = ffi.new("ScrollTo*")
        where.tag, where.value = tag, value
        call(self.handle, where[0])

    # Selection

    def select(
        self, start: tuple[int, int], end: tuple[int, int], *, block: bool = False, by: str = ""
    ) -> None:
        """Select the cells from `start` to `end`, both included, or the whole words or lines of both.

        Either may be out of sight. `by` is `word`, `line` or empty; on blank space there is no word.
        """
        first, last = (start, end) if block or start[::-1] <= end[::-1] else (end, start)
        chosen = _sized("GhosttySelection")
        chosen.start, chosen.end = self._ref(first), self._ref(last)
        if by and (found := self._found(by, chosen.start)) is not None:
            chosen.start = found.start
        if by and (found := self._found(by, chosen.end)) is not None:
            chosen.end = found.end
        elif by and first == last:
            return
        chosen.rectangle = block
        self._set("SELECTION", chosen)

    def select_all(self) -> None:
        """Select everything, scroll-back included."""
        chosen = _sized("GhosttySelection")
        if lib.ghostty_terminal_select_all(self.handle, chosen) == 0:
            self._set("SELECTION", chosen)

    def deselect(self) -> None:
        """Select nothing."""
        lib.ghostty_terminal_set(self.handle, lib.GHOSTTY_TERMINAL_OPT_SELECTION, ffi.NULL)

    @property
    def has_selection(self) -> bool:
        """True if anything is selected."""
        chosen = _sized("GhosttySelection")
        which = lib.GHOSTTY_TERMINAL_DATA_SELECTION
        return bool(lib.ghostty_terminal_get(self.handle, which, chosen) == 0)

    def selected(self) -> str:
        """The selected text, wrapped lines joined; empty where nothing is selected."""
        return self._plain(ffi.NULL, trim=True)

    def line_at(self, at: tuple[int, int]) -> tuple[str, int]:
        """The line at a cell, wrapped rows joined, and which of its letters is there; -1: none is."""
        here = _sized("GhosttySelection")
        here.start = here.end = self._ref(at)
        line = self._found("line", here.end)
        if line is None or not self._plain(here).strip():
            return "", -1
        here.start = line.start
        return self._plain(line), len(self._plain(here)) - 1

    def _plain(self, chosen: Any, *, trim: bool = False) -> str:
        """What is selected by `chosen`, or by the user where that is NULL."""
        options = _sized("GhosttyTerminalSelectionFormatOptions")
        options.emit = lib.GHOSTTY_FORMATTER_FORMAT_PLAIN
        options.unwrap, options.trim, options.selection = True, trim, chosen
        out, size = ffi.new("uint8_t**"), ffi.new("size_t*")
        if lib.ghostty_terminal_selection_format_alloc(self.handle, ffi.NULL, options[0], out, size):
            return ""
        text = bytes(ffi.buffer(out[0], size[0])).decode("utf-8", "replace")
        lib.ghostty_free(ffi.NULL, out[0], size[0])
        return text

    def link(self, at: tuple[int, int]) -> str:
        """The address of the hyperlink that a program put at a cell; empty: none."""
        ref, size = self._terminal.ref(*at, "viewport"), ffi.new("size_t*")
        lib.ghostty_grid_ref_hyperlink_uri(ref, ffi.NULL, 0, size)
        if not size[0]:
            return ""
        buffer = ffi.new("uint8_t[]", size[0])
        if lib.ghostty_grid_ref_hyperlink_uri(ref, buffer, size[0], size):
            return ""
        return bytes(ffi.buffer(buffer, size[0])).decode("utf-8", "replace")

    def _ref(self, at: tuple[int, int]) -> Any:
        """The cell there, also where it is not in sight."""
        line = min(max(0, self.scroll().offset + at[1]), self.scroll().total - 1)
        return self._terminal.ref(at[0], line, "screen")[0]

    def _found(self, what: str, ref: Any) -> Any:
        """The `word` or `line` at a cell, as a selection; None: nothing is there."""
        options, chosen = _sized(_WHOLES[what]), _sized("GhosttySelection")
        options.ref = ref
        call = getattr(lib, f"ghostty_terminal_select_{what}")
        return chosen if call(self.handle, options, chosen) == 0 else None

    # What the program says

    def _reply(self, _terminal: Any, _data: Any, text: Any, size: int) -> None:
        self._said.replies += bytes(ffi.buffer(text, size))

    def _rung(self, _terminal: Any, _data: Any) -> None:
        self._said.bells += 1

    def _titled(self, _terminal: Any, _data: Any) -> None:
        self._said.titled = True

    def _copied(self, _terminal: Any, _data: Any, write: Any) -> None:
        for index in range(write.contents_len):
            data = write.contents[index].data
            if data.len > _CLIPBOARD_MOST:
                continue
            self._said.clipboard.append(bytes(ffi.buffer(data.ptr, data.len)).decode("utf-8", "replace"))

    def _sized(self, _terminal: Any, _data: Any, out: Any) -> bool:
        out.columns, out.rows = self.size
        out.cell_width, out.cell_height = self._cell
        return True

    def _coloured(self, _terminal: Any, _data: Any, out: Any) -> bool:
        out[0] = lib.GHOSTTY_COLOR_SCHEME_DARK if self._dark else lib.GHOSTTY_COLOR_SCHEME_LIGHT
        return True

    def _on(self, option: str, type_: str, call: Callable[..., Any]) -> None:
        callback = ffi.callback(type_, call)
        self._callbacks.append(callback)
        self._set(option, callback)

    def _set(self, option: str, value: Any) -> None:
        which = getattr(lib, f"GHOSTTY_TERMINAL_OPT_{option}")
        check(lib.ghostty_terminal_set(self.handle, which, value), f"set {option}")

    def _get(self, what: str, out: Any) -> None:
        check(lib.ghostty_terminal_get(self.handle, getattr(lib, f"GHOSTTY_TERMINAL_DATA_{what}"), out), what)


def _sized(type_: str) -> Any:
    """A struct that carries its own size, those in it too."""
    made = ffi.new(f"{type_}*")
    made.size = ffi.sizeof(type_)
    for name in ("start", "end", "ref"):
        inner = getattr(made, name, None)
        if inner is not None and hasattr(inner, "size"):
            inner.size = ffi.sizeof("GhosttyGridRef")
    return made


def _rgb(value: str) -> dict[str, int]:
    return {"r": int(value[1:3], 16), "g": int(value[3:5], 16), "b": int(value[5:7], 16)}
