"""The log of a site's connection: what happened to it, newest last; reading it is not disturbed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QPlainTextEdit

from app import units
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.sites import LogLine

_HEIGHT = 200


class LinkLog(QPlainTextEdit):
    """Asked for while it is in sight, when its site changed."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context, self._site = context, ""
        self._lines: list[LogLine] = []
        self._asking = False
        self.setReadOnly(True)
        self.setAccessibleName("Log of the connection")
        self.setPlaceholderText("Nothing happened yet.")
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.setMaximumBlockCount(1000)
        self.setFixedHeight(_HEIGHT)
        context.theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        font = self._context.theme.font("mono")
        font.setPixelSize(font.pixelSize() - 2)
        self.setFont(font)

    def show_site(self, name: str, other: bool) -> None:
        """Ask for the log of this site; `other`: it was another one before."""
        self._site = name
        if other:
            self._lines = []
            self.clear()
        if not self._asking and self._context.link.up:
            self._asking = True
            self._context.run(self._look(name), f"reading the connection log of {name}")

    async def _look(self, name: str) -> None:
        try:
            lines = await self._context.client.site_log(name)
        except CrossDeskError as error:
            self.setPlaceholderText(f"The log could not be read: {error}")
            return
        finally:
            self._asking = False
        if name == self._site:
            self._show(lines)

    def _show(self, lines: list[LogLine]) -> None:
        known = len(self._lines)
        if lines[:known] != self._lines:
            self.clear()
            known = 0
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        for line in lines[known:]:
            self.appendPlainText(f"{units.exact(line.time)}  {line.words}")
        self._lines = lines
        if at_end:
            bar.setValue(bar.maximum())
