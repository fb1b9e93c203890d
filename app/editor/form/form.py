"""The form: sections of fields that show what the text says and change it one attribute at a time."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.context import Theme
from app.editor.form import fields
from app.editor.form.plan import SECTIONS, Field, Kind, Section
from app.editor.form.sandbox import SandboxField
from app.editor.statements import Statement, statements

_LABEL_WIDTH = 92


class Form(QScrollArea):
    """The form side of the editor."""

    edited = Signal(str, object)
    """Attribute, and its new source text, or None to take it out."""
    programChosen = Signal(str)
    """Path of a program chosen with the button beside the field."""

    def __init__(self, theme: Theme, limit: int) -> None:
        super().__init__()
        self._theme, self._limit = theme, limit
        self.widgets: dict[str, fields.FieldWidget] = {}
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Description form"))
        self._page = QWidget()
        self._page.setProperty("role", "surface")
        self._page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(self._page)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(16)
        for section in SECTIONS:
            column.addLayout(self._section(section))
        column.addStretch(1)
        self.setWidget(self._page)

    @property
    def sandbox(self) -> SandboxField:
        """The list of files to send."""
        widget = self.widgets["InputSandbox"]
        assert isinstance(widget, SandboxField)
        return widget

    def _section(self, section: Section) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(8)
        title = QLabel(self.tr(section.title))
        title.setProperty("role", "strong")
        column.addWidget(title)
        rows = QFormLayout()
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setHorizontalSpacing(12)
        rows.setVerticalSpacing(8)
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        rows.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        for field in section.fields:
            self._add(rows, field)
        column.addLayout(rows)
        return column

    def _add(self, rows: QFormLayout, field: Field) -> None:
        widget = self._make(field)
        widget.edited.connect(self.edited)
        self.widgets[field.attribute] = widget
        label = QLabel(self.tr(field.label))
        label.setFixedWidth(_LABEL_WIDTH)
        label.setMinimumHeight(26)
        label.setBuddy(widget)
        holder = QVBoxLayout()
        holder.setSpacing(2)
        holder.addWidget(widget)
        holder.addWidget(self._help(field))
        rows.addRow(label, holder)

    def _help(self, field: Field) -> QLabel:
        text = QLabel(self.tr(field.help))
        text.setProperty("role", "small")
        text.setWordWrap(True)
        return text

    def _make(self, field: Field) -> fields.FieldWidget:
        match field.kind:
            case Kind.NUMBER:
                return fields.NumberField(field)
            case Kind.CHOICE:
                return fields.ChoiceField(field)
            case Kind.SWITCH:
                return fields.SwitchField(field)
            case Kind.LINES:
                return fields.LinesField(field, self._theme)
            case Kind.SENT:
                return SandboxField(field, self._theme, self._limit)
            case Kind.PROGRAM:
                program = fields.ProgramField(field, self._theme)
                program.chosen.connect(self.programChosen)
                return program
        return fields.LineField(field, self._theme)

    def show_text(self, text: str, base: Path) -> None:
        """Fill in every field from the text; nothing is told back."""
        found = statements(text)
        self.sandbox.set_base(base)
        for attribute, widget in self.widgets.items():
            statement: Statement | None = found.get(attribute.lower())
            widget.show_source(statement.value if statement and statement.value else None)
