"""What pointer, menu and shortcuts see of the terminal that they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QPoint, QSizeF, SignalInstance
from PySide6.QtWidgets import QWidget

from app.console.terminal.clipboard import Clip

if TYPE_CHECKING:
    from app.console.emulator.ghostty import Ghostty
    from app.console.emulator.keys import KeyEncoder


class TerminalSurface(Protocol):
    """A terminal on the screen: its state, its cells, and what can be done with it."""

    terminal: Ghostty
    keys: KeyEncoder
    typed: SignalInstance
    """bytes for the program."""
    find_asked: SignalInstance
    save_asked: SignalInstance
    link_opened: SignalInstance
    """The address of a link to be opened."""

    @property
    def cell(self) -> QSizeF:
        """Size of a cell in pixels."""
        ...

    def viewport(self) -> QWidget:
        """What is painted on."""
        ...

    def cell_at(self, point: QPoint) -> tuple[int, int]:
        """Column and row below a point of the viewport."""
        ...

    def copy(self, where: Clip = Clip.Clipboard) -> None:
        """Put what is selected on a clipboard."""
        ...

    def paste(self, text: str | None = None) -> None:
        """Type a text, or what the clipboard holds."""
        ...

    def refresh(self) -> None:
        """Paint what changed."""
        ...

    def scroll_lines(self, lines: int) -> None:
        """Scroll by lines; up is negative."""
        ...

    def zoom(self, step: int) -> None:
        """Larger letters, smaller ones, or (0) the usual size."""
        ...
