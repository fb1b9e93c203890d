"""What became of each line of a batch script, to be read beside its description."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.description.code_font import code_font
from app.theme.theme import Theme
from app.units import counted
from app.widgets.labels import breakable, label
from broker_core.client.printable import printable, printable_text
from broker_core.client.programs.batch_scripts.translation import DirectiveOutcome, Fate, Translation

_MOST = 100
"""Lines that are shown; of the rest the number."""
_MARKS = {
    Fate.ATTRIBUTE: ("circle-check", "positive"),
    Fate.REQUIREMENT: ("circle-check", "positive"),
    Fate.SYSTEM_ONLY: ("info", "accent"),
    Fate.LEFT_OUT: ("info", "muted"),
    Fate.NOT_POSSIBLE: ("triangle-alert", "warning"),
}
"""Fate to icon and color token."""


class ScriptLines(QScrollArea):
    """The lines of one script from top to bottom: what each says, what it became, and why."""

    def __init__(self, theme: Theme, translation: Translation) -> None:
        super().__init__()
        self._theme, self.translation = theme, translation
        self.setObjectName("script-lines")
        self.setAccessibleName(self.tr("What became of the lines of the script"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QWidget()
        inner.setProperty("role", "surface")
        inner.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(inner)
        column.setContentsMargins(16, 8, 16, 16)
        column.setSpacing(12)
        self.summary = label(self._summary(), "muted", wrap=True)
        column.addWidget(self.summary)
        column.addLayout(self._rows(translation.outcomes))
        column.addStretch(1)
        self.setWidget(inner)

    def _summary(self) -> str:
        title, counts = self.translation.dialect.system, self.translation.summary()
        return self.tr("{0}, for {1}: {2}.").format(printable(self.translation.name), title, counts)

    def _rows(self, outcomes: Sequence[DirectiveOutcome]) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(2, 1)
        for number, one in enumerate(outcomes[:_MOST]):
            self._add(grid, 2 * number, one)
        if len(outcomes) > _MOST:
            rest = counted(len(outcomes) - _MOST, self.tr("more option"), self.tr("more options"))
            grid.addWidget(label(self.tr("and {0}").format(rest), "muted"), 2 * _MOST, 2)
        return grid

    def _add(self, grid: QGridLayout, row: int, one: DirectiveOutcome) -> None:
        top = Qt.AlignmentFlag.AlignTop
        icon = QLabel()
        icon.setPixmap(self._theme.icon(*_MARKS[one.fate]).pixmap(16, 16))
        icon.setAccessibleName(one.fate)
        icon.setToolTip(one.fate)
        number = label(str(one.line), "muted")
        number.setToolTip(printable(one.text))
        option = self._code(one.option)
        option.setToolTip(printable(one.text))
        grid.addWidget(icon, row, 0, top)
        grid.addWidget(number, row, 1, top | Qt.AlignmentFlag.AlignRight)
        grid.addWidget(option, row, 2, top)
        below = label(breakable(printable_text(self._words(one))), "small", wrap=True)
        below.setContentsMargins(0, 0, 0, 8)
        grid.addWidget(below, row + 1, 2, top)

    def _code(self, text: str) -> QLabel:
        made = label(breakable(printable(text)), wrap=True)
        made.setFont(code_font(self._theme))
        return made

    def _words(self, one: DirectiveOutcome) -> str:
        head = {
            Fate.SYSTEM_ONLY: self.tr("For {0} only.").format(self.translation.dialect.system),
            Fate.LEFT_OUT: self.tr("Left out."),
            Fate.NOT_POSSIBLE: self.tr("Not possible."),
        }.get(one.fate, one.became)
        return "\n".join(filter(None, (head, one.why))) if one.became else f"{head} {one.why}".strip()
