"""The widgets of the form: each shows one attribute's value and says how the user changed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from app.description.code_font import code_font
from app.description.values import integer_of, list_source, string_of, string_source, strings_of, truth_of
from app.editor.form.plan import FieldKind, FormField
from app.theme.theme import Theme
from app.widgets.number_entry import NumberEntry
from app.widgets.save_dialog import FileDialog
from broker_core.client.programs.describe import at_site

_MOST_CPUS = 1_000_000
_MOST = 100_000_000
_STEP = 1000
"""Of a number that has a unit."""
_NAME_WIDTH = 200
"""Pixels: of a field that has to show what holds where nothing is said."""


class FieldWidget(QWidget):
    """One field. `show_source` fills it in; `edited` tells what to write instead.

    A value that the field cannot hold (an expression where a word is expected) disables it: it is changed in
    the text, and never overwritten from here.
    """

    edited = Signal(str, object)
    """Attribute, and its new source text, or None to take it out."""

    def __init__(self, field: FormField) -> None:
        super().__init__()
        self.field = field
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(4)

    def show_source(self, source: str | None) -> None:
        """Show the value written as `source`; None: the attribute is absent."""
        with QSignalBlocker(self):
            held = self._show(source)
        self.setEnabled(held)
        self.setToolTip("" if held else self.tr("Written as an expression: change it in the text."))

    def _show(self, source: str | None) -> bool:
        """Fill in the widget; False if it cannot hold this value."""
        raise TypeError(f"{type(self).__name__} shows nothing")

    def _tell(self, source: str | None) -> None:
        self.edited.emit(self.field.attribute, source)

    def _name(self, widget: QWidget) -> None:
        widget.setAccessibleName(self.tr(self.field.label))
        widget.setAccessibleDescription(self.tr(self.field.help))
        self.setFocusProxy(widget)


class LineField(FieldWidget):
    """A line of text: a string, or an expression as it stands."""

    def __init__(self, field: FormField, theme: Theme) -> None:
        super().__init__(field)
        self.line = QLineEdit()
        self.line.setPlaceholderText(self.tr(field.hint) if field.hint else "")
        if field.kind is FieldKind.EXPRESSION:
            self.line.setFont(code_font(theme))
        self._name(self.line)
        self.row.addWidget(self.line)
        self.line.textEdited.connect(self._edited)

    def _show(self, source: str | None) -> bool:
        raw = self.field.kind is FieldKind.EXPRESSION
        value = (source or "") if raw or source is None else string_of(source)
        shown = source if value is None else value
        one_line = " ".join((shown or "").split("\n"))
        if one_line != self.line.text():
            self.line.setText(one_line)
            self.line.setCursorPosition(0)
        return value is not None and "\n" not in (shown or "")

    def _edited(self, value: str) -> None:
        if not value.strip():
            self._tell(None)
        else:
            self._tell(value if self.field.kind is FieldKind.EXPRESSION else string_source(value))


class ProgramField(LineField):
    """A line with a button that chooses a program; `chosen` asks for the file to be sent along too."""

    chosen = Signal(str)
    """Path of the program that was chosen."""

    def __init__(self, field: FormField, theme: Theme) -> None:
        super().__init__(field, theme)
        self.button = QPushButton(theme.icon("folder-open"), self.tr("Choose…"))
        self.button.setToolTip(self.tr("Choose a script or program on this machine"))
        self.button.setAccessibleName(self.tr("Choose a script or program"))
        self.button.clicked.connect(self._choose)
        self.row.addWidget(self.button)

    def _choose(self) -> None:
        dialog = FileDialog(self, self.tr("Choose a script or program"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self.chosen)
        dialog.open()


class TimeField(LineField):
    """A line for a time; a bare number in the text is seconds."""

    def _show(self, source: str | None) -> bool:
        seconds = integer_of(source) if source else None
        return super()._show(source if seconds is None else string_source(f"{seconds}s"))


class SiteField(FieldWidget):
    """Any site, or one, which is written as the requirement for it."""

    def __init__(self, field: FormField) -> None:
        super().__init__(field)
        self.box = QComboBox()
        self.box.addItem(self.tr("Wherever it fits best"), "")
        self.box.setPlaceholderText(self.tr("As the requirements say"))
        self._name(self.box)
        self.row.addWidget(self.box)
        self.row.addStretch(1)
        self.box.activated.connect(self._edited)

    def offer(self, names: Sequence[str]) -> None:
        """Offer these sites by name; those offered already stay."""
        for name in names:
            if self.box.findData(name) < 0:
                self.box.addItem(name, name)

    def _show(self, source: str | None) -> bool:
        site = "" if source is None else _site_of(source)
        if site is not None:
            self.offer([site])
        self.box.setCurrentIndex(-1 if site is None else self.box.findData(site))
        return site is not None

    def _edited(self) -> None:
        site = self.box.currentData()
        self._tell(at_site(site) if site else None)


def _site_of(source: str) -> str | None:
    """The one site that a requirement names; None if it says anything else."""
    site = string_of(source.rpartition("==")[2].strip())
    return site if site and source == at_site(site) else None


class NumberField(FieldWidget):
    """A whole number; 1 is what an absent attribute means."""

    def __init__(self, field: FormField) -> None:
        super().__init__(field)
        self.spin = NumberEntry()
        self.spin.setRange(1, _MOST_CPUS)
        self._name(self.spin)
        self.row.addWidget(self.spin)
        self.row.addStretch(1)
        self.spin.valueChanged.connect(self._edited)

    def _show(self, source: str | None) -> bool:
        value = 1 if source is None else integer_of(source)
        with QSignalBlocker(self.spin):
            self.spin.setValue(value or 1)
        return value is not None

    def _edited(self, value: int) -> None:
        self._tell(str(value))


class AmountField(FieldWidget):
    """A whole number with its unit; 0 is shown as what holds where nothing is said, and not written."""

    def __init__(self, field: FormField) -> None:
        super().__init__(field)
        self.spin = NumberEntry()
        self.spin.setRange(0, _MOST)
        self.spin.setSpecialValueText(self.tr(field.hint))
        if field.unit:
            self.spin.setSuffix(f" {self.tr(field.unit)}")
            self.spin.setSingleStep(_STEP)
        self.spin.setMinimumWidth(_NAME_WIDTH)
        self._name(self.spin)
        self.row.addWidget(self.spin)
        self.row.addStretch(1)
        self.spin.valueChanged.connect(self._edited)

    def _show(self, source: str | None) -> bool:
        value = 0 if source is None else integer_of(source)
        held = value is not None and 0 <= value <= _MOST
        with QSignalBlocker(self.spin):
            self.spin.setValue(value if held and value else 0)
        return held

    def _edited(self, value: int) -> None:
        self._tell(str(value) if value else None)


class NameField(FieldWidget):
    """A name, chosen of those that sites offer or written; empty is not written at all."""

    def __init__(self, field: FormField) -> None:
        super().__init__(field)
        self.box = QComboBox()
        self.box.setEditable(True)
        self.box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.box.setCompleter(None)  # type: ignore[arg-type]  # what is typed is what is written
        self.box.setMinimumWidth(_NAME_WIDTH)
        line = self.box.lineEdit()
        assert line is not None
        self.line = line
        self.line.setPlaceholderText(self.tr(field.hint))
        self._name(self.box)
        self.line.setAccessibleName(self.box.accessibleName())
        self.row.addWidget(self.box)
        self.row.addStretch(1)
        self.line.textEdited.connect(self._edited)
        self.box.activated.connect(lambda _: self._edited(self.box.currentText()))

    def offer(self, names: Iterable[str]) -> None:
        """Offer these names; what is written stays."""
        written = self.box.currentText()
        with QSignalBlocker(self.box):
            self.box.clear()
            self.box.addItems(sorted(set(names), key=str.lower))
            self.box.setEditText(written)

    def _show(self, source: str | None) -> bool:
        value = "" if source is None else string_of(source)
        if value != self.box.currentText():
            self.box.setEditText(source or "" if value is None else value)
        return value is not None

    def _edited(self, value: str) -> None:
        self._tell(string_source(value.strip()) if value.strip() else None)


class NamesField(NameField):
    """Several names with commas between them; one that is chosen joins them, or leaves if it is there."""

    def __init__(self, field: FormField) -> None:
        super().__init__(field)
        self._before: list[str] = []
        self.box.activated.disconnect()
        self.box.activated.connect(self._choose)

    def _show(self, source: str | None) -> bool:
        values = [] if source is None else strings_of(source)
        held = values is not None and not any("," in value for value in values)
        if values != _divided(self.box.currentText()):
            self.box.setEditText(", ".join(values) if values is not None else source or "")
        self._before = list(values or ())
        return held

    def _choose(self) -> None:
        chosen = self.box.currentText()
        names = [name for name in self._before if name != chosen]
        if len(names) == len(self._before):
            names.append(chosen)
        self.box.setEditText(", ".join(names))
        self._edited(self.box.currentText())

    def _edited(self, value: str) -> None:
        self._before = names = _divided(value)
        self._tell(list_source(names) if names else None)


def _divided(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


class ChoiceField(FieldWidget):
    """One of a few words; the first choice stands for an absent attribute."""

    def __init__(self, field: FormField) -> None:
        super().__init__(field)
        self.box = QComboBox()
        for value, label in field.choices:
            self.box.addItem(self.tr(label), value)
        self._name(self.box)
        self.row.addWidget(self.box)
        self.row.addStretch(1)
        self.box.activated.connect(self._edited)

    def _show(self, source: str | None) -> bool:
        value = "" if source is None else string_of(source)
        known = {str(self.box.itemData(i)).lower(): i for i in range(self.box.count())}
        known[self.box.itemText(0).lower()] = 0
        self.box.setCurrentIndex(known.get((value or "").lower(), -1))
        return value is not None and value.lower() in known

    def _edited(self) -> None:
        value = self.box.currentData()
        self._tell(string_source(value) if value else None)


class SwitchField(FieldWidget):
    """On writes True; off takes the attribute out."""

    def __init__(self, field: FormField) -> None:
        super().__init__(field)
        self.box = QCheckBox(self.tr("Yes"))
        self._name(self.box)
        self.row.addWidget(self.box)
        self.box.clicked.connect(self._edited)

    def _show(self, source: str | None) -> bool:
        value = False if source is None else truth_of(source)
        self.box.setChecked(bool(value))
        return value is not None

    def _edited(self, on: bool) -> None:
        self._tell("True" if on else None)


class LinesField(FieldWidget):
    """A list of strings, one on a line."""

    def __init__(self, field: FormField, theme: Theme) -> None:
        super().__init__(field)
        self.lines = QPlainTextEdit()
        self.lines.setFont(code_font(theme))
        self.lines.setTabChangesFocus(True)
        self.lines.setFixedHeight(self.lines.fontMetrics().lineSpacing() * 3 + 12)
        self._name(self.lines)
        self.row.addWidget(self.lines)
        self.lines.textChanged.connect(self._edited)

    def _show(self, source: str | None) -> bool:
        values = [] if source is None else strings_of(source)
        if values is not None and values != self._values():
            with QSignalBlocker(self.lines):
                self.lines.setPlainText("\n".join(values))
        return values is not None and not any("\n" in value for value in values)

    def _values(self) -> list[str]:
        return [line for line in self.lines.toPlainText().split("\n") if line.strip()]

    def _edited(self) -> None:
        values = self._values()
        self._tell(list_source(values) if values else None)
