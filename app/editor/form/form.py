"""The form: sections of fields that show what the text says and change it one attribute at a time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
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

from app.description.needs import CPU_COUNTS, CPUS, NEEDS, cpus_source
from app.description.program_call import CalledProgram, program_call
from app.description.statements import Statement, statements
from app.description.values import string_source
from app.editor.form import fields
from app.editor.form.plan import MORE, NEEDED, SECTIONS, FieldKind, FormField, Section
from app.editor.form.presets import PresetButton
from app.editor.form.sandbox import SandboxField
from app.stores.named_texts import NamedTexts
from app.theme.theme import Theme
from broker_core.client.programs.describe import how_it_runs
from broker_core.jobs.placement import computing_element
from broker_core.wire.sites import SiteView

_LABEL_WIDTH = 92
_WIDTH = 720
"""Pixels: of the fields at most."""
_TALL = (FieldKind.SENT, FieldKind.LINES)


class DescriptionForm(QScrollArea):
    """The form side of the editor."""

    edited = Signal(str, object)
    """Attribute, and its new source text, or None to take it out; NEEDS with the text of a preset."""
    programChosen = Signal(str)
    """Path of a program chosen with the button beside the field."""

    def __init__(self, theme: Theme, limit: int, presets: NamedTexts) -> None:
        super().__init__()
        self._theme, self._limit = theme, limit
        self.presets = PresetButton(theme, presets)
        self.presets.chosen.connect(lambda text: self.edited.emit(NEEDS, text))
        self._widgets: dict[str, fields.FieldWidget] = {}
        self._text: tuple[str, Path] | None = None
        """What was shown last."""
        self._helps: dict[str, QLabel] = {}
        self._sites: tuple[SiteView, ...] = ()
        self._offered: dict[str, set[str]] = {}
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._grids: list[QGridLayout] = []
        self._labels: list[QLabel] = []
        self.setAccessibleName(self.tr("Description form"))
        inner = QWidget()
        inner.setMaximumWidth(_WIDTH)
        column = QVBoxLayout(inner)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(16)
        self._page = _in_the_middle(inner)
        self.destroyed.connect(self._page.deleteLater)  # it may never have been shown
        for section in SECTIONS:
            column.addLayout(self._section(section))
        self.more = self._more_button()
        column.addWidget(self.more, 0, Qt.AlignmentFlag.AlignLeft)
        self._folded = QWidget()
        self._folded.hide()
        column.addWidget(self._folded)
        column.addStretch(1)
        theme.changed.connect(self._align)

    @property
    def widgets(self) -> dict[str, fields.FieldWidget]:
        """Every field by its key; those that are folded are made once they are asked for."""
        if self._folded.layout() is None:
            self._make_folded()
        return self._widgets

    @property
    def sandbox(self) -> SandboxField:
        """The list of files to send."""
        widget = self._widgets["InputSandbox"]
        assert isinstance(widget, SandboxField)
        return widget

    @property
    def program(self) -> fields.FieldWidget:
        """The field of what is run."""
        return self._widgets["Executable"]

    @property
    def site(self) -> fields.SiteField:
        """The choice of a site."""
        widget = self._widgets["Site"]
        assert isinstance(widget, fields.SiteField)
        return widget

    def offer(self, sites: Sequence[SiteView]) -> None:
        """Offer what these sites have: themselves, and what the chosen one, or any, has by name."""
        self._sites = tuple(sites)
        self.site.offer([one.name for one in sites])
        self._offer_names()

    def _offer_names(self) -> None:
        chosen = self.site.box.currentData()
        sites = [one for one in self._sites if chosen in (None, "", one.name)]
        offered = _names_of(sites)
        if offered == self._offered:
            return
        self._offered = offered
        for name, values in offered.items():
            widget = self._widgets.get(name)
            if isinstance(widget, fields.NameField):
                widget.offer(values)

    def _more_button(self) -> QPushButton:
        words = self.tr("More: nodes, software, sweeps, results, matching, streams")
        button = QPushButton(self._theme.icon("chevron-right"), words)
        button.setProperty("kind", "quiet")
        button.setStyleSheet("padding-left: 0")
        button.setCheckable(True)
        button.toggled.connect(self._unfold)
        return button

    def _make_folded(self) -> None:
        """Most fields are here, and most descriptions need none of them."""
        column = QVBoxLayout(self._folded)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(16)
        for section in MORE:
            column.addLayout(self._section(section))
        self._offered = {}
        if self._text is None:
            self._offer_names()
        else:
            self.show_text(*self._text)
        self._align()

    def showEvent(self, event: QShowEvent) -> None:
        """The fields of all sections begin at the same place."""
        super().showEvent(event)
        if self.widget() is None:
            # Before, each place that the form gets on its way into the window would polish all fields anew.
            self.setWidget(self._page)
        self._align()

    def _align(self) -> None:
        if not self.isVisible():
            return  # it is done when it is shown
        widest = max(label.sizeHint().width() for label in self._labels)
        for rows in self._grids:
            rows.setColumnMinimumWidth(0, max(_LABEL_WIDTH, widest))
        for label in self._labels:
            field = label.buddy()
            assert isinstance(field, fields.FieldWidget)
            proxy = field.focusProxy()
            if proxy is None or field.field.kind in _TALL:
                label.setFixedHeight(28)
            else:
                label.setFixedHeight(proxy.sizeHint().height())

    def _unfold(self, shown: bool) -> None:
        if shown and self._folded.layout() is None:
            self._make_folded()
        self._folded.setVisible(shown)
        self.more.setIcon(self._theme.icon("chevron-down" if shown else "chevron-right"))

    def _section(self, section: Section) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(8)
        title = QLabel(self.tr(section.title))
        title.setProperty("role", "strong")
        heading = QHBoxLayout()
        heading.addWidget(title, 1)
        if section is NEEDED:
            heading.addWidget(self.presets)
        column.addLayout(heading)
        rows = QGridLayout()
        rows.setHorizontalSpacing(12)
        rows.setVerticalSpacing(2)
        rows.setColumnStretch(1, 1)
        self._grids.append(rows)
        for number, field in enumerate(section.fields):
            self._add(rows, 2 * number, field)
        column.addLayout(rows)
        return column

    def _add(self, rows: QGridLayout, row: int, field: FormField) -> None:
        widget = self._make(field)
        widget.edited.connect(self.edited)
        self._widgets[field.key] = widget
        label = QLabel(self.tr(field.label))
        label.setBuddy(widget)
        self._labels.append(label)
        top = Qt.AlignmentFlag.AlignTop
        rows.addWidget(label, row, 0, top)
        rows.addWidget(widget, row, 1, top)
        self._helps[field.key] = self._help(field)
        rows.addWidget(self._helps[field.key], row + 1, 1)

    def _help(self, field: FormField) -> QLabel:
        text = QLabel(self.tr(field.help))
        text.setProperty("role", "small")
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setWordWrap(True)
        text.setContentsMargins(0, 0, 0, 8)
        return text

    def _make(self, field: FormField) -> fields.FieldWidget:
        match field.kind:
            case FieldKind.NUMBER:
                return fields.NumberField(field)
            case FieldKind.AMOUNT:
                return fields.AmountField(field)
            case FieldKind.NAME:
                return fields.NameField(field)
            case FieldKind.NAMES:
                return fields.NamesField(field)
            case FieldKind.CHOICE:
                return fields.ChoiceField(field)
            case FieldKind.SWITCH:
                return fields.SwitchField(field)
            case FieldKind.SITE:
                return fields.SiteField(field)
            case FieldKind.TIME:
                return fields.TimeField(field, self._theme)
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
        self._text = text, base
        found = statements(text)
        call = program_call(text, base)
        self.presets.description = text
        self.sandbox.set_base(base)
        for key, widget in self._widgets.items():
            statement: Statement | None = found.get(widget.field.attribute.lower())
            source = statement.value if statement and statement.value else None
            widget.show_source(cpus_source(text) if key == CPUS else _as_called(call, key, source))
        self._offer_names()
        sentence = how_it_runs(call.item) if call is not None and call.item is not None else ""
        self._helps["Executable"].setText(sentence or self.tr(self.program.field.help))

    def go_to(self, attribute: str) -> bool:
        """Give the keyboard to the field of an attribute; False if there is none."""
        wanted = CPUS if attribute in CPU_COUNTS else attribute
        widget = {key.lower(): widget for key, widget in self.widgets.items()}.get(wanted.lower())
        if widget is None:
            return False
        if self._folded.isAncestorOf(widget):
            self.more.setChecked(True)
        widget.setFocus(Qt.FocusReason.OtherFocusReason)
        self.ensureWidgetVisible(widget)
        return True


def _names_of(sites: Sequence[SiteView]) -> dict[str, set[str]]:
    """Attribute to the names that these sites give."""
    return {
        "GPUModel": {count.model for one in sites for count in one.gpus if count.model},
        "Account": {name for one in sites for name in one.accounts},
        "QueueName": {computing_element(ce).queue for one in sites for ce in one.ces} - {""},
        "QOS": {name for one in sites for name in one.qos},
        "Features": {name for one in sites for name in one.features},
        "Licenses": {name for one in sites for name in one.licenses},
        "Reservation": {name for one in sites for name in one.reservations},
    }


def _as_called(call: CalledProgram | None, key: str, source: str | None) -> str | None:
    """What a field shows: of a script that is given to its interpreter the script and its own arguments."""
    if call is None or not call.before or key not in ("Executable", "Arguments"):
        return source
    shown = call.name if key == "Executable" else call.arguments
    return string_source(shown) if shown else None


def _in_the_middle(inner: QWidget) -> QWidget:
    page = QWidget()
    page.setProperty("role", "surface")
    page.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
    across = QHBoxLayout(page)
    across.setContentsMargins(0, 0, 0, 0)
    across.addStretch(1)
    across.addWidget(inner, 20)
    across.addStretch(1)
    return page
