"""Lines found in logs as a table, grouped by job: each hit with what stands around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QWidget

from app.inspector.logs.ansi import plain
from app.widgets.cells import FONT, GLYPH, TONE
from app.widgets.state_glyph import style_of_row
from broker_core.wire.log_search import SearchedLog

COLUMNS = ("Job", "Log", "Line", "Text")
JOB, LOG, LINE, TEXT = range(4)
_ROLES = {"stdout": "Output", "stderr": "Errors"}
_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class FoundLine:
    """One row of the table."""

    job: str
    path: str
    role: str
    text: str
    tone: str
    """Token of its color: text for a hit, muted for what stands around it, warning for a remark."""
    line: int = 0
    """Number of the line; 0 for a remark."""
    offset: int = 0
    """Of the hit that it belongs to, in the file."""
    first: bool = False
    """True for the first row of a log, which names the job."""

    @property
    def hit(self) -> bool:
        """True for a line that has what was looked for."""
        return self.tone == "text"


def found_lines(log: SearchedLog) -> Iterator[FoundLine]:
    """Return the rows of one log; lines around two hits stand once."""
    first, last = True, 0
    for hit in log.hits:
        around = [
            *((hit.line - len(hit.before) + at, text, "muted") for at, text in enumerate(hit.before)),
            (hit.line, hit.text, "text"),
            *((hit.line + 1 + at, text, "muted") for at, text in enumerate(hit.after)),
        ]
        hits = {one.line for one in log.hits}
        for number, text, tone in around:
            if number <= last or (tone == "muted" and number in hits):
                continue
            shown = plain(text.encode("utf-8", "replace"))
            yield FoundLine(log.job, log.path, log.role, shown, tone, number, hit.offset, first)
            first, last = False, number
    remarks = ["There are more hits in this log."] if log.more else []
    for remark in [*remarks, *([log.remark] if log.remark else [])]:
        yield FoundLine(log.job, log.path, log.role, remark, "warning", first=first)
        first = False


class FoundLines(QAbstractTableModel):
    """The rows found so far."""

    def __init__(self, row_of: Callable[[str], dict[str, Any] | None], parent: QWidget) -> None:
        super().__init__(parent)
        self._row_of = row_of
        self.rows: list[FoundLine] = []

    def clear(self) -> None:
        """Forget all rows."""
        self.beginResetModel()
        self.rows = []
        self.endResetModel()

    def add(self, rows: Sequence[FoundLine]) -> None:
        """Put rows below the others."""
        if rows:
            self.beginInsertRows(QModelIndex(), len(self.rows), len(self.rows) + len(rows) - 1)
            self.rows.extend(rows)
            self.endInsertRows()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation is Qt.Orientation.Horizontal:
            return COLUMNS[section]
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = self.rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.text if column == TEXT else self._name(row)
        if role == TONE:
            return row.tone if column == TEXT else ("text" if column == JOB else "muted")
        if role == FONT:
            return "mono" if column == TEXT and row.line else ("strong" if column == JOB else "")
        if role == Qt.ItemDataRole.TextAlignmentRole and column == LINE:
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == GLYPH and column == JOB and row.first and (job := self._row_of(row.job)):
            style = style_of_row(job)
            return style.shape, style.token
        return None

    def _text(self, row: FoundLine, column: int) -> str:
        if column == TEXT:
            return row.text
        if column == LINE:
            return f"{row.line:,}" if row.line else ""
        if not row.first:
            return ""
        return self._name(row) if column == JOB else _ROLES.get(row.role, row.path)

    def _name(self, row: FoundLine) -> str:
        job = self._row_of(row.job) or {}
        name = str(job.get("name") or row.job)
        value = str(job.get("parameter") or "")
        return f"{name} · {value}" if value and value not in name else name
