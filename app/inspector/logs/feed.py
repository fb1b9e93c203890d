"""Bringing a job's file here, and going on while it grows."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.inspector.logs.spool import LogSpool
from broker_core.errors import CrossDeskError, Unreachable

if TYPE_CHECKING:
    from app.context import AppContext

_FIRST, _PART = 1 << 17, 1 << 21
_PAUSE_S = 0.7
"""How often a growing file is looked at when no event of the job says that it should be."""


class LogFeed(QObject):
    """Copies one file of one job into a spool, part by part; ends with the file or when closed."""

    grown = Signal()
    """More rows can be read."""
    failed = Signal(object)
    """A CrossDeskError: the file cannot be read."""

    def __init__(
        self, context: AppContext, job: str, path: str, growing: bool, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._context, self.job, self.path = context, job, path
        self.spool = LogSpool()
        self.growing = growing
        self.size: int | None = None
        """Bytes that the file had when last asked; None: not asked yet."""
        self.watched = True
        """False while nobody sees it: then it looks only when told to."""
        self._closed = threading.Event()
        self._knock = asyncio.Event()

    @property
    def complete(self) -> bool:
        """True once everything that was there has been copied."""
        return self.size is not None and self.spool.size >= self.size

    def start(self) -> None:
        """Begin."""
        self._context.run(self._copy(), f"reading {self.path}")

    def close(self) -> None:
        """Stop; the copy goes when nobody reads it any more."""
        self._closed.set()
        self._knock.set()

    def look(self, growing: bool) -> None:
        """Look for more now; `growing` says whether still more may come."""
        self.growing = growing
        self._knock.set()

    async def _copy(self) -> None:
        while not self._closed.is_set():
            self._knock.clear()
            try:
                await self._copy_what_is_there()
            except Unreachable as error:
                self._tell(error)
            except CrossDeskError as error:
                self._tell(error)
                return
            await self._pause()

    def _tell(self, error: CrossDeskError) -> None:
        if not self._closed.is_set():
            self.failed.emit(error)

    async def _pause(self) -> None:
        try:
            more = self.watched and (self.growing or not self.complete)
            # `wait_for` would lose a cancel that comes with the knock.
            async with asyncio.timeout(_PAUSE_S if more else None):
                await self._knock.wait()
        except TimeoutError:
            return

    async def _copy_what_is_there(self) -> None:
        while not self._closed.is_set():
            start = self.spool.size
            part = await self._context.client.read_file(
                self.job, self.path, start, _PART if start else _FIRST
            )
            if self._closed.is_set():
                return
            if part.size < start:
                self._begin_again()
                continue
            self.size = max(part.size, start) if part.content else start
            await self._keep(part.content)
            if self._closed.is_set():
                return
            self.grown.emit()
            if self.complete:
                return

    async def _keep(self, content: bytes) -> None:
        spool = self.spool
        if len(content) < 1 << 16:
            spool.append(content)
        else:
            await asyncio.to_thread(spool.append, content)

    def _begin_again(self) -> None:
        self.spool = LogSpool()
