"""The line over the list of resources: text, which of them, and sites that need an account first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from app import units
from app.widgets.labels import label

if TYPE_CHECKING:
    from app.theme.theme import Theme
    from broker_core.wire.matches import MatchPart, MatchReport


_PAUSE_MS = 150
_WHICH = (("All", "all"), ("Matching", "matching"), ("Not matching", "rejected"))


class Filters(QWidget):
    """Emits what is wanted once typing pauses."""

    changed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.edit = QLineEdit(placeholderText="Filter by site, queue or reason")
        self.edit.setAccessibleName("Filter resources")
        self.edit.setClearButtonEnabled(True)
        sign = theme.icon("list-filter", "muted")
        self.edit.addAction(sign, QLineEdit.ActionPosition.LeadingPosition).setToolTip("Filter")
        self.which = QComboBox()
        self.which.setAccessibleName("Which resources are shown")
        for title, word in _WHICH:
            self.which.addItem(title, word)
        self.access = QCheckBox("Also sites without an account")
        self.access.setToolTip("Count sites that this broker cannot send jobs to yet as if it could")
        self.access.hide()
        self.count = label(role="small")
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.changed)
        self.edit.textChanged.connect(lambda _: self._pause.start())
        self.which.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.access.toggled.connect(lambda _: self.changed.emit())
        self._lay_out()

    def _lay_out(self) -> None:
        first, second = QHBoxLayout(), QHBoxLayout()
        self._first, self._second = first, second
        first.setSpacing(8)
        first.addWidget(self.edit, 1)
        first.addWidget(self.which)
        second.addWidget(self.access)
        second.addStretch(1)
        second.addWidget(self.count, 0, Qt.AlignmentFlag.AlignRight)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(8)
        column.addLayout(first)
        column.addLayout(second)

    def fields(self) -> dict[str, Any]:
        """Return the fields of the question that are chosen here."""
        return {"text": self.edit.text().strip(), "only": self.which.currentData(),
                "assume_access": self.access.isChecked()}  # fmt: skip

    def add(self, button: QWidget) -> None:
        """Put a button behind the choices."""
        self._first.addWidget(button)

    def add_beside_count(self, button: QWidget) -> None:
        """Put a button behind the number of resources."""
        self._second.addWidget(button)

    def offer_access(self, lacking: bool) -> None:
        """Offer to count sites without an account where there are any; what is ticked stays."""
        self.access.setVisible(lacking or self.access.isChecked())

    def reset(self) -> None:
        """Let everything through."""
        self.edit.clear()
        self.which.setCurrentIndex(0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape empties the text."""
        if event.key() == Qt.Key.Key_Escape and self.edit.text():
            self.edit.clear()
        else:
            super().keyPressEvent(event)


class PartChoice(QWidget):
    """The parts of a description in a box; nothing where it has one part alone."""

    chosen = Signal(str)
    """Name of the part that the user wants to see."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = QComboBox()
        self.box.setAccessibleName("Part of the description")
        self.box.setToolTip("Jobs of this description that ask for the same are one part")
        self.box.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.box.activated.connect(lambda row: self.chosen.emit(self.box.itemData(row)))
        title = label("Part", "small")
        title.setBuddy(self.box)
        line = QHBoxLayout(self)
        line.setContentsMargins(12, 0, 12, 8)
        line.setSpacing(8)
        line.addWidget(title)
        line.addWidget(self.box, 1)
        self.hide()

    def show_report(self, report: MatchReport, part: str) -> None:
        """Show the parts of a report about this one (empty: the first)."""
        self.setVisible(len(report.parts) > 1)
        fresh = [(said(one), one.name) for one in report.parts]
        if fresh != [(self.box.itemText(row), self.box.itemData(row)) for row in range(self.box.count())]:
            self.box.clear()
            for text, name in fresh:
                self.box.addItem(text, name)
        self.box.setCurrentIndex(max(0, self.box.findData(part, flags=Qt.MatchFlag.MatchExactly)))


def said(one: MatchPart) -> str:
    """Return the line of a part: its name, its jobs, and how many resources match them."""
    name = one.name if one.jobs == 1 else f"{one.name} and {units.count(one.jobs - 1, 'more job')} like it"
    return f"{name}: {one.matching:,} of {units.count(one.known, 'resource')} match"
