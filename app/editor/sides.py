"""What stands beside the text of a description: form, graph, where it could run, or why there is no form."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from app.description.statements import statements
from app.description.values import string_of
from app.editor.form.form import DescriptionForm
from app.editor.graph import GraphSide
from app.match.view import MatchView
from app.submission.script_lines import ScriptLines
from app.widgets.labels import label
from app.widgets.list_state import ListState
from app.widgets.tool_button import tool_button
from broker_core.jdl.limits import DEFAULT

if TYPE_CHECKING:
    from pathlib import Path

    from app.context import AppContext
    from broker_core.client.programs.batch_scripts.translation import Translation

LONGEST = 200_000
"""Characters; a longer description is edited as text only."""
_TYPES = {"dag": "graph of jobs", "collection": "collection of jobs"}


class Sides(StrEnum):
    """Which sides of the editor are shown."""

    TEXT = "text"
    BOTH = "both"
    FORM = "form"


def sides_at_first(text: str, path: Path | None) -> Sides:
    """The form alone for a new job, as far as it shows what is written; a file by its text too."""
    return Sides.FORM if path is None and (not text.strip() or statements(text)) else Sides.BOTH


def kind_without_form(text: str) -> str:
    """What a description of several programs or sizes is, which no form shows; empty for others."""
    found = statements(text)
    written = string_of(found["type"].value) if "type" in found else ""
    kind = _TYPES.get((written or "").lower(), "")
    if kind or "nodes" in found:
        return kind or _TYPES["dag"]
    return "parallel job over several clusters" if "subjobs" in found else ""


class EditorSide(QStackedWidget):
    """The pane beside the text."""

    textAsked = Signal()
    """The text is wanted: there is no form for what it describes."""
    scriptLeft = Signal()
    """The lines of the batch script were read: back to the form."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.form = DescriptionForm(context.theme, DEFAULT.input_sandbox_max, context.presets)
        self.whereabouts = WhereSide(context)
        self.note, self.graph = ListState(context.theme), GraphSide(context.theme)
        self._context = context
        self._lines: QWidget | None = None
        # The first part becomes the current one and is laid out at once, so it is the cheapest.
        for part in (self.note, self.form, self.whereabouts, self.graph):
            self.addWidget(part)

    @property
    def matching(self) -> bool:
        """True while it is chosen that this shows where the description could run."""
        return self.currentWidget() is self.whereabouts

    @property
    def lent(self) -> bool:
        """True while something else than the form is chosen."""
        return self.matching or (self._lines is not None and self.currentWidget() is self._lines)

    def show_script(self, script: Translation | None) -> None:
        """Show what became of the lines of this batch script; None: of that which was shown before."""
        if script is not None:
            if self._lines is not None:
                self._lines.deleteLater()
            back = _button(self._context, "x", self.tr("Back to the form"), self.scriptLeft)
            lines = ScriptLines(self._context.theme, script)
            self._lines = _headed(self.tr("What became of each line"), [back], lines)
            self.addWidget(self._lines)
        if self._lines is not None:
            self.setCurrentWidget(self._lines)

    def show_form(self) -> None:
        """Show the form, or why there is none."""
        self.setCurrentWidget(self.form)

    def show_text(self, text: str, base: Path, alone: bool) -> None:
        """Fill in the form, or draw the graph; `alone`: the text is not seen beside it."""
        kind = kind_without_form(text)
        if kind in _TYPES.values():
            self.setCurrentWidget(self.graph)
            self.graph.show_text(text)
            return
        if kind:
            offer = (self.tr("Show the text"), self.textAsked.emit) if alone else None
            sentence = self.tr("It describes more than one program or size, which one form cannot show.")
            title = self.tr("A {0} is edited as text").format(kind)
            self.note.show_state("network", title, sentence, offer)
            self.setCurrentWidget(self.note)
            return
        self.setCurrentWidget(self.form)
        self.form.show_text(text, base)


class WhereSide(QWidget):
    """The broker's match report for the text of an editor."""

    againAsked = Signal()
    """Ask once more, with the text as it is now."""
    closed = Signal()

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.view = MatchView(context)
        self.setAccessibleName(self.tr("Where could it run?"))
        again = _button(context, "refresh-cw", self.tr("Ask again"), self.againAsked)
        back = _button(context, "x", self.tr("Back to the form"), self.closed)
        _head(self, self.tr("Where could it run?"), [again, back], self.view)


def _headed(title: str, buttons: Sequence[QToolButton], view: QWidget) -> QWidget:
    side = QWidget()
    side.setAccessibleName(title)
    _head(side, title, buttons, view)
    return side


def _head(side: QWidget, title: str, buttons: Sequence[QToolButton], view: QWidget) -> None:
    """Lay out a side: its title with buttons, above what it shows."""
    side.setProperty("role", "surface")
    side.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    heading = QHBoxLayout()
    heading.setContentsMargins(16, 8, 8, 0)
    heading.addWidget(label(title, "strong"), 1)
    for button in buttons:
        heading.addWidget(button)
    column = QVBoxLayout(side)
    column.setContentsMargins(0, 0, 0, 0)
    column.addLayout(heading)
    column.addWidget(view, 1)


def _button(context: AppContext, icon: str, tip: str, signal: SignalInstance) -> QToolButton:
    button = tool_button(context.theme.icon(icon), tip)
    button.clicked.connect(signal)
    return button
