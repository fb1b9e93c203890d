"""How the sources of information do: one chip for each, the reason of what is wrong, and asking again."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.widgets import glyphs
from app.widgets.labels import label
from app.widgets.state_style import StateShape
from app.widgets.tool_button import tool_button

if TYPE_CHECKING:
    from app.theme.theme import Theme
    from broker_core.wire.resources import SourceView

FACES: dict[str, tuple[StateShape, str, str]] = {
    "ok": (StateShape.CHECK, "positive", "ok"),
    "asking": (StateShape.HALF, "accent", "asking"),
    "slow": (StateShape.EXCLAMATION, "warning", "slow"),
    "failed": (StateShape.CROSS, "negative", "failed"),
    "disabled": (StateShape.BAR, "muted", "disabled"),
}
"""State of a source to its shape, colour token and word."""
_SECOND_MS = 1000


class SourceChip(QFrame):
    """One source in two lines."""

    refreshAsked = Signal(str)

    def __init__(self, theme: Theme, source: SourceView) -> None:
        super().__init__()
        self._theme, self.source = theme, source
        self.setProperty("role", "card")
        self.picture, self.name, self.said = QLabel(), label(role="strong"), label(role="small")
        self.again = tool_button(theme.icon("refresh-cw", "muted"), f"Ask {source.name} again")
        self.again.setAutoRaise(True)
        self.again.clicked.connect(lambda: self.refreshAsked.emit(self.source.name))
        words_ = QVBoxLayout()
        words_.setSpacing(0)
        words_.addWidget(self.name)
        words_.addWidget(self.said)
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 4, 4, 4)
        row.setSpacing(8)
        row.addWidget(self.picture)
        row.addLayout(words_)
        row.addWidget(self.again)
        self.show_source(source)

    def show_source(self, source: SourceView) -> None:
        """Show the source as it does now."""
        self.source = source
        shape, token, word = FACES.get(source.state, FACES["failed"])
        self.picture.setPixmap(glyphs.pixmap(shape, self._theme.color(token), 16, self.devicePixelRatioF()))
        self.name.setText(source.name)
        age = units.ago(source.last_heard, time.time()) or "never heard"
        refused = f"  ·  {source.refused:,} refused" if source.refused else ""
        self.said.setText(f"{word}  ·  {age}  ·  {units.count(source.resources, 'resource')}{refused}")
        self.setToolTip(tip(source))
        self.setAccessibleName(f"Source {source.name}: {self.said.text()}. {source.reason}")
        self.again.setEnabled(source.state not in ("asking", "disabled"))


class HealthStrip(QWidget):
    """All sources in a row, and below it what is wrong with those that need attention."""

    refreshAsked = Signal(object)
    """Names of sources; an empty list: all."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.chips: dict[str, SourceChip] = {}
        self.trouble = label(role="muted", wrap=True)
        self.all = QPushButton(theme.icon("refresh-cw"), "Refresh")
        self.all.setToolTip("Ask every source again")
        self.all.clicked.connect(lambda: self.refreshAsked.emit([]))
        inner = QWidget()
        self._row = QHBoxLayout(inner)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(8)
        self._row.addStretch(1)
        area = QScrollArea(widgetResizable=True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setAccessibleName("Sources of information")
        area.setWidget(inner)
        area.setFixedHeight(60)
        line = QHBoxLayout()
        line.addWidget(area, 1)
        line.addWidget(self.all, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 0)
        column.setSpacing(4)
        column.addLayout(line)
        column.addWidget(self.trouble)
        self._second = QTimer(self, interval=_SECOND_MS)
        self._second.timeout.connect(self._tick)
        self._second.start()
        theme.changed.connect(self._tick)
        self.show_sources([])

    def show_sources(self, sources: list[SourceView]) -> None:
        """Show these sources, those in trouble first."""
        names = {source.name for source in sources}
        for name in [name for name in self.chips if name not in names]:
            self.chips.pop(name).deleteLater()
        for source in sources:
            chip = self.chips.get(source.name)
            if chip is None:
                chip = self.chips[source.name] = SourceChip(self._theme, source)
                chip.refreshAsked.connect(partial(self._ask))
                self._row.insertWidget(self._row.count() - 1, chip)
            chip.show_source(source)
        bad = [
            one
            for one in sources
            if one.state in ("failed", "slow") or (one.state == "ok" and (one.silent or one.refused))
        ]
        self.trouble.setText("\n".join(trouble(one) for one in bad[:3]))
        self.trouble.setVisible(bool(bad))

    def _ask(self, name: str) -> None:
        self.refreshAsked.emit([name])

    def _tick(self) -> None:
        if self.isVisible():
            for chip in self.chips.values():
                chip.show_source(chip.source)


def trouble(source: SourceView) -> str:
    """Say what is wrong with a source."""
    said = [source.reason] if source.reason else []
    if source.silent:
        more = f" and {len(source.silent) - 3} more" if source.silent[3:] else ""
        said.append(f"no answer from {', '.join(source.silent[:3])}{more}")
    if source.refused:
        first = "".join(f" ({remark})" for remark in source.remarks[:1])
        said.append(f"{source.refused:,} refused{first}")
    return f"{source.name}: {'; '.join(said) or FACES.get(source.state, FACES['failed'])[2]}"


def tip(source: SourceView) -> str:
    """Return all that is known of a source, in lines."""
    lines = [f"{source.kind} {source.address}".strip(), f"asked every {units.duration(source.interval)}"]
    if source.duration is not None:
        lines.append(f"the last answer took {source.duration:.2f} s")
    if source.refused:
        lines.append(f"{source.refused:,} refused:")
    return "\n".join([*lines, *source.refusals(), *([source.reason] if source.reason else [])])
