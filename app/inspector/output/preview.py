"""A look into one file of a job: as text, image, table, or a word about why not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QPlainTextEdit, QStackedLayout, QWidget

from app.inspector import job_times
from app.inspector.output.table_data import ParsedTable, looks_like_table, read_table
from app.inspector.output.table_view import TablePreview
from app.widgets.empty_state import EmptyState
from app.widgets.plots.image_view import ENDINGS, ImageView, decode
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.views import OutputFile

TEXT_MOST, TABLE_MOST, IMAGE_MOST = 1 << 18, 32 << 20, 64 << 20
"""Bytes of each kind that are brought here for a look."""


class Preview(QWidget):
    """Asks for as much of a file as is worth a look; answers about another file are dropped."""

    opened = Signal()
    """The user wants the file outside."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._turn = 0
        self._shown: tuple[str, str, int, float] | None = None
        self._file = ("", "")
        self.empty_state, self.text = EmptyState(context), QPlainTextEdit()
        self.image, self.table = ImageView(context), TablePreview(context)
        self.text.setReadOnly(True)
        self.text.setProperty("frame", "none")
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setAccessibleName("Text of the file")
        self._stack = QStackedLayout(self)
        for page in (self.empty_state, self.text, self.image, self.table):
            self._stack.addWidget(page)
        self.empty_state.acted.connect(self.opened)
        context.theme.changed.connect(self._restyle)
        self._restyle()
        self.show_nothing()

    def _restyle(self) -> None:
        self.text.setFont(self._context.theme.font("mono"))

    def kind(self) -> str:
        """Return what is shown: empty, text, image or table."""
        names = {self.empty_state: "empty", self.text: "text", self.image: "image", self.table: "table"}
        return names[self._stack.currentWidget()]  # type: ignore[index]

    def show_nothing(self) -> None:
        """No file is chosen."""
        self._turn += 1
        self._shown, self._file = None, ("", "")
        self._say("file", "No file chosen", "Choose a file to look into it.")

    def show_absent(self, path: str) -> None:
        """The job has no file of this name."""
        self.show_nothing()
        self._say("file", "No such file", f"This job has no {path}.")

    def show_file(self, job: str, file: OutputFile) -> None:
        """Show this file as it is now; nothing happens if it has not changed."""
        state = (job, file.path, file.size, file.modified)
        if state == self._shown:
            return
        if (job, file.path) != self._file:
            self.empty_state.load()
            self._stack.setCurrentWidget(self.empty_state)
        self._shown, self._file = state, (job, file.path)
        self._turn += 1
        self._context.run(self._look(job, file, self._turn), f"reading {file.path}")

    async def _look(self, job: str, file: OutputFile, turn: int) -> None:
        limit = _limit(file.path)
        try:
            part = await self._context.client.read_file(job, file.path, 0, limit)
            show = await self._prepared(file, part.content, part.size)
        except CrossDeskError as error:
            if turn == self._turn:
                self._shown = None
                self._say("circle-alert", "This file could not be read", str(error), token="negative")
            return
        if turn == self._turn:
            show()

    async def _prepared(self, file: OutputFile, content: bytes, size: int) -> Callable[[], None]:
        """Do the heavy part in a thread; return what remains for the window."""
        if not size:
            growing = "It may still be written." if file.growing else "Nothing was written to it."
            return lambda: self._say("file", "An empty file", growing)
        if file.path.lower().endswith(ENDINGS):
            return await self._image(content, size)
        if b"\0" in content[:8192]:
            return lambda: self._say(
                "file",
                "A binary file",
                f"It holds {job_times.size(size)} that are not text. Open it with its own program.",
                "Open outside",
            )
        if looks_like_table(file.path):
            table = await asyncio.to_thread(read_table, content, file.path, len(content) == size)
            if table.rows:
                return lambda: self._show_table(table)
        return lambda: self._show_text(content, size)

    async def _image(self, content: bytes, size: int) -> Callable[[], None]:
        if size > len(content):
            return lambda: self._say(
                "image",
                "A large image",
                f"It holds {job_times.size(size)}. Open it with its own program.",
                "Open outside",
            )
        image, why = await asyncio.to_thread(decode, content)
        if image is None:
            return lambda: self._say("image", "This image cannot be shown", why, "Open outside")
        return lambda: self._show_image(image)

    def _show_image(self, image: QImage) -> None:
        self.image.show_image(image)
        self._stack.setCurrentWidget(self.image)

    def _show_table(self, table: ParsedTable) -> None:
        self._stack.setCurrentWidget(self.table)
        self.table.show_table(table)

    def _show_text(self, content: bytes, size: int) -> None:
        text = content[:TEXT_MOST].decode("utf-8", "replace").replace("\r\n", "\n")
        if size > TEXT_MOST:
            text += f"\n\n… {job_times.size(size - TEXT_MOST)} more. The Logs tab shows all of it."
        bar = self.text.verticalScrollBar()
        place = bar.value()
        self.text.setPlainText(text)
        bar.setValue(place)
        self._stack.setCurrentWidget(self.text)

    def _say(self, icon: str, heading: str, sentence: str, button: str = "", token: str = "muted") -> None:
        self.empty_state.say(icon, heading, sentence, button, token)
        self._stack.setCurrentWidget(self.empty_state)


def _limit(path: str) -> int:
    if path.lower().endswith(ENDINGS):
        return IMAGE_MOST
    return TABLE_MOST if looks_like_table(path) else TEXT_MOST
