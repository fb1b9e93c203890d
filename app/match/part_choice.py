"""Which of the jobs of a sweep, collection or graph the answer is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSizePolicy, QWidget

from app.inspector.labels import label
from app.model import words

if TYPE_CHECKING:
    from broker_core.wire.matches import MatchPart, MatchReport


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
    name = one.name if one.jobs == 1 else f"{one.name} and {words.count(one.jobs - 1, 'more job')} like it"
    return f"{name}: {one.matching:,} of {words.count(one.known, 'resource')} match"
