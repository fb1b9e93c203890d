"""Why one resource matches or not: clause by clause, each with its value as shape, colour and word."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.match.groups import group_name
from app.widgets import glyphs
from app.widgets.labels import give_way, label
from app.widgets.match_style import VALUES, origin_words, rank_words, sentence, verdict
from app.widgets.state_style import StateShape
from broker_core.jobs.site_names import element_words

if TYPE_CHECKING:
    from app.theme.theme import Theme
    from broker_core.wire.matches import ClauseView, MatchedGroup, MatchedResource


_STEPS = 40
"""Steps of a selection that are shown, the last ones."""


class ClauseLine(QWidget):
    """One clause: a shape, the word for its value, its text, and what was met there."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._face: tuple[StateShape, str] = (StateShape.CHECK, "positive")
        self.picture, self.word, self.text = QLabel(), label(role="strong"), label(wrap=True)
        self.said = label(role="muted", wrap=True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 4)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(1)
        grid.addWidget(self.picture, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.text, 0, 1, 1, 2)
        grid.addWidget(self.word, 1, 1, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.said, 1, 2)
        grid.setColumnStretch(2, 1)
        for part in (self.text, self.said):
            part.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            give_way(part)

    def show_clause(self, clause: ClauseView) -> None:
        """Show a clause with its value."""
        shape, token, word = VALUES.get(clause.value, VALUES["error"])
        self._face = (shape, token)
        asked = clause.origin == "requirements"
        self.text.setText(" ".join(clause.text.split()) or origin_words(clause.origin))
        self.word.setText(word.capitalize())
        self.said.setText(sentence(clause.explanation))
        self.said.setVisible(bool(clause.explanation) and clause.explanation != clause.text)
        self.setToolTip(f"{origin_words(clause.origin)}: {word}")
        self.setAccessibleName(f"{word}: {clause.explanation or clause.text}")
        self._mono = asked
        self.dress()

    def dress(self) -> None:
        """Take the colours of the theme."""
        shape, token = self._face
        color = self._theme.color(token)
        self.picture.setPixmap(glyphs.pixmap(shape, color, 16, self.devicePixelRatioF()))
        colored = f"color: {color.name()}"
        if self.word.styleSheet() != colored:  # a new style is costly even if it is the same
            self.word.setStyleSheet(colored)
        font = self._theme.font("mono" if self._mono else "base")
        font.setPixelSize(font.pixelSize() - self._mono)
        self.text.setFont(font)


class Explanation(QWidget):
    """The chosen resource, or the chosen group, in full."""

    submitAsked = Signal()
    """Send the description to what is shown."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.ce = ""
        """Computing element that is shown; empty for a group or nothing."""
        self.name, self.verdict = label(role="strong", wrap=True), label(wrap=True)
        self.facts = label(role="muted", wrap=True)
        self.glyph, self.submit = QLabel(), QPushButton("Submit here…")
        self.lines: list[ClauseLine] = []
        self._face: tuple[StateShape, str] | None = None
        self._lay_out()
        theme.changed.connect(self._dress)
        self.clear()

    def _lay_out(self) -> None:
        head, second = QHBoxLayout(), QHBoxLayout()
        head.addWidget(self.name, 1)
        head.addWidget(self.submit, 0, Qt.AlignmentFlag.AlignTop)
        second.setSpacing(8)
        second.addWidget(self.glyph)
        second.addWidget(self.verdict, 1)
        inner = QWidget()
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(12, 8, 12, 12)
        self._column.setSpacing(4)
        self._column.addLayout(head)
        self._column.addLayout(second)
        self._column.addWidget(self.facts)
        self._column.addSpacing(4)
        self._column.addStretch(1)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(inner)
        area.setAccessibleName("Explanation of the chosen resource")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(area)
        for part in (self.name, self.verdict, self.facts):
            part.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            give_way(part)
        self.submit.setToolTip("Send the description to this place only")
        self.submit.clicked.connect(self.submitAsked)

    def clear(self) -> None:
        """Show that nothing is chosen."""
        self.ce, self._face = "", None
        self._head("", "Choose a resource to see what holds there and what does not.", "")
        self._show_clauses([])
        self.submit.hide()

    def show_resource(self, one: MatchedResource, place: int = -1, forecast: str = "") -> None:
        """Show a resource; `place` is its row in the scheduler's order, -1 where it is not known.

        `forecast`: how it fared when it was tried, and what its batch system said of the start there.
        """
        self.ce = one.ce
        shape, token, word = verdict(one)
        self._face = (shape, token)
        said = word if one.matches else f"{word}: {one.reason}"
        if one.matches and place >= 0:
            said = "Taken first" if place == 0 else f"Choice {place + 1:,}"
        self._head(one.site or element_words(one.ce), sentence(said), f"{facts_of(one)}\n{forecast}".rstrip())
        self._show_clauses(one.clauses)
        self.submit.setVisible(one.matches)

    def show_group(self, group: MatchedGroup, trace: list[str], first: bool, error: str = "") -> None:
        """Show a group: how its rank was made, what each member gives, and how the choice went.

        `error`: why it did not take the job when it was tried.
        """
        failed = (StateShape.EXCLAMATION, "negative")
        self.ce, self._face = "", failed if error else (StateShape.CHECK, "positive")
        said = "Taken first" if first else "Would do as well; another group comes first"
        said = f"Did not take the job when it was tried: {error}" if error else said
        there = group.members
        used = group.cpus or [one.free_cpus for one in there]
        facts = [f"Rank {group.calculation}"] if group.calculation else []
        facts += [
            f"{units.count(cpus, 'CPU')} at {element_words(one.ce)}"
            for one, cpus in zip(group.members, used, strict=False)
        ]
        facts += [
            f"Component {number}: {units.count(one.cpus, 'CPU')} at {element_words(there[one.member].ce)}"
            for number, one in enumerate(group.components, 1)
        ]
        if trace and first:
            left_out = [f"{units.count(len(trace) - _STEPS, 'earlier step')} left out"]
            facts += ["", "How the choice went:", *(left_out if trace[_STEPS:] else []), *trace[-_STEPS:]]
        self._head(group_name(group), sentence(said), "\n".join(facts))
        self._show_clauses([])
        self.submit.setVisible(True)

    def _head(self, name: str, said: str, facts: str) -> None:
        self.name.setText(name)
        self.name.setVisible(bool(name))
        self.verdict.setText(said)
        self.facts.setText(facts)
        self.facts.setVisible(bool(facts))
        self._dress()

    def _show_clauses(self, clauses: list[ClauseView]) -> None:
        while len(self.lines) < len(clauses):
            line = ClauseLine(self._theme)
            self.lines.append(line)
            self._column.insertWidget(self._column.count() - 1, line)
        for line in self.lines[len(clauses) :]:
            line.hide()
        for line, clause in zip(self.lines, clauses, strict=False):
            line.show_clause(clause)
            line.show()

    def _dress(self) -> None:
        self.glyph.setVisible(self._face is not None)
        if self._face is not None:
            shape, token = self._face
            self.glyph.setPixmap(glyphs.pixmap(shape, self._theme.color(token), 16, self.devicePixelRatioF()))
        for line in self.lines:
            if not line.isHidden():
                line.dress()


def facts_of(one: MatchedResource) -> str:
    """Return name, numbers and rank of a resource, in lines; a rank of 0 is that of a description without."""
    numbers = [f"{one.free_cpus:,} of {units.count(one.total_cpus, 'CPU')} free", f"{one.waiting:,} waiting"]
    if one.rank:
        numbers.append(f"rank {rank_words(one.rank)}")
    if one.close_files:
        numbers.append(f"{units.count(one.close_files, 'input file')} near")
    lines = [element_words(one.ce), "  ·  ".join(numbers)]
    if one.order and one.matches:
        lines.append(sentence(one.order))
    return "\n".join(lines)
