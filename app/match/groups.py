"""Groups of computing elements for a job over several of them, by their number (CB-UI-05)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app import units
from app.match.choices import TriedChoices
from app.widgets.cells import BADGE, FONT, GLYPH, TONE
from app.widgets.match_style import rank_words, sentence
from app.widgets.state_style import StateShape
from broker_core.jobs.site_names import element_words, site_name

if TYPE_CHECKING:
    from broker_core.wire.matches import MatchedGroup, MatchedResource, MatchReport

Index = QModelIndex | QPersistentModelIndex
_NOWHERE = QModelIndex()
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
COLUMNS = ("Group", "Rank", "CPUs", "Free", "Used")
CPUS, FREE = 2, 3
_MEMBER = 1 << 40
"""Internal ids: 0 for a size, 1 + place of the size for a group, this + place of the group for a member."""


class Groups(QAbstractItemModel):
    """Sizes, the groups of each size, and the members of each group; the group taken first is marked."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._groups: list[MatchedGroup] = []
        self._tried = TriedChoices()
        self._sizes: list[tuple[int, list[int]]] = []
        self._where: dict[int, tuple[int, int]] = {}

    def show_report(self, report: MatchReport) -> None:
        """Show the groups of a report; sizes stand in the order in which they would be taken."""
        self.beginResetModel()
        self._groups = list(report.groups)
        sizes: dict[int, list[int]] = {}
        for place, group in enumerate(self._groups):
            sizes.setdefault(group.size, []).append(place)
        self._sizes = list(sizes.items())
        self._where = {
            place: (size, row)
            for size, (_, places) in enumerate(self._sizes)
            for row, place in enumerate(places)
        }
        self.endResetModel()

    def mark(self, tried: TriedChoices) -> None:
        """Mark the group that is being tried, and those that failed."""
        self._tried = tried
        for size, (_, found) in enumerate(self._sizes):
            above = self.index(size, 0)
            self.dataChanged.emit(self.index(0, 0, above), self.index(len(found) - 1, 0, above))

    def error(self, group: MatchedGroup) -> str:
        """Why a group did not take the job when it was tried; empty: it was not, or is being tried."""
        return self._tried.error(_ces(group))

    def group_at(self, index: Index) -> MatchedGroup | None:
        """Return the group of an index (of a member: the group it is in), None for a size."""
        number = index.internalId() if index.isValid() else 0
        if not number:
            return None
        return self._groups[number - _MEMBER if number >= _MEMBER else self._place(index)]

    def member_at(self, index: Index) -> MatchedResource | None:
        """Return the member of an index, None for a group or a size."""
        number = index.internalId() if index.isValid() else 0
        return self._groups[number - _MEMBER].members[index.row()] if number >= _MEMBER else None

    def first(self) -> QModelIndex:
        """Return the index of the group taken first."""
        return self.index(0, 0, self.index(0, 0)) if self._sizes else QModelIndex()

    def _place(self, index: Index) -> int:
        return self._sizes[index.internalId() - 1][1][index.row()]

    def index(self, row: int, column: int, parent: Index = _NOWHERE) -> QModelIndex:
        """Index of a size, group or member."""
        if not self.hasIndex(row, column, parent):
            return QModelIndex()
        if not parent.isValid():
            return self.createIndex(row, column, 0)
        if not parent.internalId():
            return self.createIndex(row, column, 1 + parent.row())
        return self.createIndex(row, column, _MEMBER + self._place(parent))

    def parent(self, index: Index = _NOWHERE) -> QModelIndex:  # type: ignore[override]
        """The size of a group, the group of a member."""
        number = index.internalId() if index.isValid() else 0
        if not number:
            return QModelIndex()
        if number < _MEMBER:
            return self.createIndex(number - 1, 0, 0)
        size, row = self._where[number - _MEMBER]
        return self.createIndex(row, 0, 1 + size)

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """Sizes, groups of a size, or members of a group."""
        if not parent.isValid():
            return len(self._sizes)
        number = parent.internalId()
        if parent.column() or number >= _MEMBER:
            return 0
        return len(self._groups[self._place(parent)].members) if number else len(self._sizes[parent.row()][1])

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        """The same on every level."""
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        """Titles; numbers stand right."""
        if role == Qt.ItemDataRole.DisplayRole and orientation is Qt.Orientation.Horizontal:
            return COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if section else _LEFT
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, how the rank was made in the tooltip, and the mark of the group taken first."""
        column, number = index.column(), index.internalId()
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _RIGHT if column else None
        if not number:
            return self._size_data(index.row(), column, role)
        member = self.member_at(index)
        if member is not None:
            return self._member_data(index, member, role)
        place = self._place(index)
        group = self._groups[place]
        if role == Qt.ItemDataRole.DisplayRole:
            error = "" if column else self.error(group)
            return f"{_group_text(group, column)}: {error}" if error else _group_text(group, column)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._group_words(group, column, role)
        if column or role not in (BADGE, GLYPH):
            return None
        if role == BADGE:
            return self._tried.badge(_ces(group)) or (None if place else "first")
        return self._tried.glyph(_ces(group)) or (StateShape.CHECK, "positive")

    def _group_words(self, group: MatchedGroup, column: int, role: int) -> str | None:
        """What a screen reader says of a cell, or the tooltip: how it fared, and how its rank was made."""
        badge, error = self._tried.badge(_ces(group)), self.error(group)
        fared = f"{badge}: {error}" if error else badge
        if role == Qt.ItemDataRole.AccessibleTextRole:
            text = _group_text(group, column)
            return f"{text}, {fared}" if fared and not column else text
        rank = f"Rank: {group.calculation}" if group.calculation else ""
        return "\n".join(filter(None, (sentence(fared), rank))) or None

    def _size_data(self, row: int, column: int, role: int) -> Any:
        size, places = self._sizes[row]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole) and not column:
            return f"{units.count(size, 'computing element')}: {units.count(len(places), 'group')}"
        return "strong" if role == FONT else None

    def _member_data(self, index: Index, member: MatchedResource, role: int) -> Any:
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            group = self._groups[index.internalId() - _MEMBER]
            used = group.cpus[index.row()] if index.row() < len(group.cpus) else None
            texts = (member.ce, rank_words(member.rank), f"{member.total_cpus:,}", f"{member.free_cpus:,}",
                     "" if used is None else f"{used:,}")  # fmt: skip
            return texts[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{member.site}\n{element_words(member.ce)}"
        return "muted" if role == TONE else None


def _ces(group: MatchedGroup) -> list[str]:
    return [one.ce for one in group.members]


def group_name(group: MatchedGroup) -> str:
    """Name a group by its sites; a site with several of its elements stands once, with their number."""
    counted: dict[str, int] = {}
    for one in group.members:
        name = one.site or site_name(one.ce)
        counted[name] = counted.get(name, 0) + 1
    return " + ".join(f"{number} x {name}" if number > 1 else name for name, number in counted.items())


def _group_text(group: MatchedGroup, column: int) -> str:
    texts = (group_name(group), rank_words(group.rank), f"{group.total_cpus:,}", f"{group.free_cpus:,}",
             f"{sum(group.cpus):,}" if group.cpus else "")  # fmt: skip
    return texts[column]
