"""Glideins as a table: one row each, with the two slots as cells (CB-UI-10)."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt

from app import units
from app.resources.slots import words
from app.widgets.cells import BADGE, FONT, GLYPH, SHARE, TONE
from app.widgets.csv_file import Written
from app.widgets.state_style import StateShape
from app.widgets.table import NOWHERE, Index, TitledModel

if TYPE_CHECKING:
    from broker_core.wire.slots import GlideinView, SlotsView, SlotView

STATE, SITE, NODE, FOR, BATCH, INTERACTIVE, ENDS, BOXED = range(8)
_SLOTS = {BATCH: 0, INTERACTIVE: 1}
_FACES = {
    "Offered": (StateShape.HALF, "state-Ready"),
    "Gathering": (StateShape.HALF, "state-Scheduled"),
    "Running": (StateShape.FILLED, "state-Running"),
    "Suspended": (StateShape.PAUSE, "state-Waiting"),
    "Ending": (StateShape.BAR, "state-Canceled"),
}
_CSV = (
    "id", "site", "ce", "node", "state", "since", "owner", "vo", "originator", "ends", "boxed",
    "slot1_state", "slot1_job", "slot1_step", "slot1_priority", "slot1_share", "slot1_line",
    "slot2_state", "slot2_job", "slot2_step", "slot2_priority", "slot2_share", "slot2_line",
)  # fmt: skip
_OF_SLOT = ("state", "job", "step", "priority", "share", "line")


class SlotTable(TitledModel):
    """One row for each glidein, oldest first."""

    TITLES = ("State", "Site", "Node", "For", "Batch slot", "Interactive slot", "Ends in", "Boxed")
    NUMBERS = frozenset({ENDS})

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._rows: list[GlideinView] = []
        self.ahead = 0.0
        """Seconds by which the broker's clock is ahead."""

    def show_slots(self, view: SlotsView) -> None:
        """Show glideins; where they are the same, only what is said of them changes."""
        same = [one.id for one in view.glideins] == [one.id for one in self._rows]
        if not same:
            self.beginResetModel()
        self._rows = list(view.glideins)
        if not same:
            self.endResetModel()
        elif self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, BOXED))

    def at(self, row: int) -> GlideinView | None:
        """Return the glidein of a row; None beyond the end."""
        return self._rows[row] if 0 <= row < len(self._rows) else None

    def row_of(self, glidein: str) -> int:
        """Return the row of a glidein, -1 if it is gone."""
        return next((row for row, one in enumerate(self._rows) if one.id == glidein), -1)

    def csv(self) -> Written:
        """Return all of them with exact values."""
        rows = [
            (one.id, one.site, one.ce, one.node, one.state, one.since, one.owner, one.vo, one.originator,
             one.ends, one.boxed, *(getattr(slot, name) for slot in one.slots for name in _OF_SLOT))
            for one in self._rows
        ]  # fmt: skip
        return Written(_CSV, rows)

    def rowCount(self, parent: Index = NOWHERE) -> int:
        """Glideins."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What the delegate paints."""
        one, column = self._rows[index.row()], index.column()
        if column in _SLOTS:
            return _slot_data(one.slots[_SLOTS[column]], role)
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(one, column)
        if role in (Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole):
            return self._about(one, column)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self.alignment(column)
        if role == GLYPH and column == STATE:
            return words.style(one).shape, words.style(one).token
        if role == FONT:
            return "strong" if column == STATE else ""
        if role == TONE:
            return "text" if column in (STATE, SITE, FOR) else "muted"
        return None

    def _text(self, one: GlideinView, column: int) -> str:
        texts = {
            STATE: words.style(one).word,
            SITE: one.site,
            NODE: one.node,
            FOR: words.originator(one),
            ENDS: words.countdown(one, time.time() + self.ahead),
        }
        return texts.get(column, words.boxed(one))

    def _about(self, one: GlideinView, column: int) -> str:
        if column == STATE:
            return f"{words.ABOUT.get(one.state, one.state)} Since {units.exact(one.since)}."
        if column == FOR:
            vo = f"; jobs of {one.vo} may use it" if one.vo else ""
            return f"Started for {words.originator(one)} of {one.owner}{vo}"
        if column == BOXED:
            return words.about_boxes(one)
        return self._text(one, column)


def _slot_data(slot: SlotView, role: int) -> Any:
    match role:
        case Qt.ItemDataRole.DisplayRole:
            share = words.share_words(slot).partition(" of")[0]
            line = f"  +{slot.line} in line" if slot.line else ""
            return words.occupant(slot) + (f"  {share}" if share else "") + line
        case Qt.ItemDataRole.ToolTipRole | Qt.ItemDataRole.AccessibleTextRole:
            return words.slot_sentence(slot)
    if role == GLYPH:
        if slot.taken:
            return _FACES.get(slot.step, (StateShape.QUESTION, "state-Unheard"))
        return (StateShape.HOLLOW, "positive" if slot.state == "Free" else "muted") if slot.state else None
    if role == BADGE:
        return f"nice {slot.priority}" if slot.priority is not None else None
    if role == SHARE:
        return None if slot.share is None else (slot.share, "accent")
    if role == TONE:
        return "text" if slot.taken else "muted"
    return None
