"""The form: sections of fields that show what the text says and change it one attribute at a time."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from app.description.statements import Statement, statements
from app.editor.form import fields
from app.editor.form.plan import SECTIONS, FieldKind, FormField, Section
from app.editor.form.sandbox import SandboxField
from app.theme.theme import Theme

_LABEL_WIDTH = 92
_TALL = (FieldKind.SENT, FieldKind.LINES)


class DescriptionForm(QScrollArea):
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
        rows = QGridLayout()
        rows.setHorizontalSpacing(12)
        rows.setVerticalSpacing(2)
        rows.setColumnMinimumWidth(0, _LABEL_WIDTH)
        rows.setColumnStretch(1, 1)
        for number, field in enumerate(section.fields):
            self._add(rows, 2 * number, field)
        column.addLayout(rows)
        return column

    def _add(self, rows: QGridLayout, row: int, field: FormField) -> None:
        widget = self._make(field)
        widget.edited.connect(self.edited)
        self.widgets[field.attribute] = widget
        label = QLabel(self.tr(field.label))
        proxy = widget.focusProxy()
        label.setFixedHeight(proxy.sizeHint().height() if proxy and field.kind not in _TALL else 28)
        label.setBuddy(widget)
        top = Qt.AlignmentFlag.AlignTop
        rows.addWidget(label, row, 0, top)
        rows.addWidget(widget, row, 1, top)
        rows.addWidget(self._help(field), row + 1, 1)

    def _help(self, field: FormField) -> QLabel:
        text = QLabel(self.tr(field.help))
        text.setProperty("role", "small")
        text.setWordWrap(True)
        text.setContentsMargins(0, 0, 0, 8)
        return text

    def _make(self, field: FormField) -> fields.FieldWidget:
        match field.kind:
            case FieldKind.NUMBER:
                return fields.NumberField(field)
            case FieldKind.CHOICE:
                return fields.ChoiceField(field)
            case FieldKind.SWITCH:
                return fields.SwitchField(field)
            case FieldKind.LINES:
                return fields.LinesField(field, self._theme)
            case FieldKind.SENT:
                return SandboxField(field, self._theme, self._limit)
            case FieldKind.PROGRAM:
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
