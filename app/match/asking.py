"""Asking the broker where a description could run: after the last change, never two questions at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal
from shiboken6 import isValid

from broker_core.errors import CrossDeskError
from broker_core.jdl.limits import DEFAULT

if TYPE_CHECKING:
    from pathlib import Path

    from app.context import AppContext
    from broker_core.client.programs.node_files import Complete
    from broker_core.wire.matches import MatchedResource, MatchReport

DEBOUNCE_MS = 150
PAGE = 100
"""Resources in one page of the list."""
_MOST = 2000
"""Resources in one answer where all are wanted."""


@dataclass(frozen=True, slots=True)
class MatchQuestion:
    """What is asked about a description."""

    description: str = ""
    only: str = "all"
    """all, matching or rejected."""
    text: str = ""
    fails: str = ""
    """Text of the clause at which the resources shown fail; empty for any."""
    assume_access: bool = False
    part: str = ""
    """Of a description that stands for many jobs; empty for the first."""

    def fields(self) -> dict[str, Any]:
        """Return the fields of a MatchRequest beside the description."""
        chosen = asdict(self)
        del chosen["description"]
        return chosen


class MatchRequests(QObject):
    """Keeps at most one question and one explanation on their way; answers to older ones are dropped."""

    answered = Signal(object)
    """MatchReport: counts, and the first page."""
    paged = Signal(object)
    """MatchReport: a later page, its place in `offset`."""
    explained = Signal(object)
    """MatchedResource with its clauses."""
    failed = Signal(str)

    def __init__(self, context: AppContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self.base: Path | None = None
        """The folder of files that the description names as its nodes; None: it names none."""
        self._whole: Complete | None = None
        self.question = MatchQuestion()
        self._turn, self._busy, self._again = 0, False, False
        self._pages: set[int] = set()
        self._wanted: tuple[str, ...] = ()
        self._explaining = False
        self._timer = QTimer(self, singleShot=True, interval=DEBOUNCE_MS)
        self._timer.timeout.connect(self._start)

    @property
    def pending(self) -> bool:
        """True from a change of the question until its answer."""
        return self._busy or self._timer.isActive()

    def ask(self, question: MatchQuestion, soon: bool = False) -> None:
        """Ask this instead; with `soon` when nothing has changed for a moment."""
        self.question = question
        self._turn += 1
        self._pages.clear()
        self._timer.start(DEBOUNCE_MS if soon else 0)

    def change(self, soon: bool = False, **fields: Any) -> None:
        """Ask about the same description with other fields."""
        self.ask(replace(self.question, **fields), soon)

    def forget(self) -> None:
        """Drop what is asked."""
        self._turn += 1
        self._timer.stop()

    def _start(self) -> None:
        if self._busy:
            self._again = True
            return
        self._busy = True
        self._run(self._ask(self.question, self._turn), "asking where the description could run")

    def _run(self, work: Coroutine[Any, Any, None], doing: str) -> None:
        self._context.run(work, doing)

    async def _ask(self, question: MatchQuestion, turn: int) -> None:
        try:
            self._whole = await self._read(question.description)
            wrong = [one for one in self._whole.diagnostics if one.severity == "error"] if self._whole else []
            if wrong:
                raise CrossDeskError(wrong[0].message)
            report = await self._match(question, limit=PAGE, explain=False)
        except CrossDeskError as error:
            self._tell(turn, partial(self._refused, question, error))
        else:
            self._tell(turn, lambda: self.answered.emit(report))
        finally:
            self._busy = False
        if self._again:
            self._again = False
            self._start()

    def _refused(self, question: MatchQuestion, error: CrossDeskError) -> None:
        """Say why; a part that the text has no longer gives way to the first one."""
        if question.part and error.code == "no_such_part":
            self.change(part="")
        else:
            self.failed.emit(str(error))

    def _tell(self, turn: int, tell: Callable[[], None]) -> None:
        if turn == self._turn and isValid(self):  # a page may be closed while an answer is on its way
            tell()

    async def _match(self, question: MatchQuestion, **fields: Any) -> MatchReport:
        text = self._whole.text if self._whole is not None else question.description
        return await self._context.client.match(text, **question.fields(), **fields)

    async def _read(self, text: str) -> Complete | None:
        """Write the files of nodes into the description, as submitting does; None where it names none."""
        small = text.lower()
        if self.base is None or "nodes" not in small or "file" not in small:
            return None
        from broker_core.client.programs.node_files import completed

        return await asyncio.to_thread(completed, text, self.base, DEFAULT)

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Return where a span that the broker tells is in the description as it was asked about."""
        return self._whole.place(start, end) if self._whole is not None and end else (start, end)

    # --- later pages

    def page(self, offset: int) -> None:
        """Ask for the page with this row, unless it is on its way."""
        first = offset // PAGE * PAGE
        if first not in self._pages and first:
            self._pages.add(first)
            self._run(self._page(first, self._turn), "reading more resources")

    async def _page(self, first: int, turn: int) -> None:
        report = await self._match(self.question, offset=first, limit=PAGE, explain=False)
        self._tell(turn, lambda: self.paged.emit(report))

    async def every_resource(self) -> list[MatchedResource]:
        """Return all resources that the filter leaves, in order, page by page."""
        found: list[MatchedResource] = []
        question = self.question
        while True:
            report = await self._match(question, offset=len(found), limit=_MOST, explain=False)
            found += report.resources
            if not report.resources or len(found) >= report.selected:
                return found

    # --- the explanation of one resource

    def explain(self, ce: str) -> None:
        """Ask for the clauses of one resource; the last one asked for is the one that is told."""
        self._wanted = (ce,)
        if not self._explaining:
            self._explaining = True
            self._run(self._explain(), "asking why")

    async def _explain(self) -> None:
        try:
            while self._wanted:
                (ce,), self._wanted, turn = self._wanted, (), self._turn
                question = replace(self.question, only="all", text="", fails="")
                report = await self._match(question, ces=[ce], explain=True, limit=1)
                if report.resources and not self._wanted:
                    one: MatchedResource = report.resources[0]
                    self._tell(turn, partial(self.explained.emit, one))
        finally:
            self._explaining = False
