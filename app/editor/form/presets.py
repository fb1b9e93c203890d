"""Presets of what jobs need: chosen, saved from the form, edited and deleted."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.description.code_font import code_font
from app.description.needs import NAMES, SIZES, needs_of
from app.description.statements import statements
from app.stores.named_texts import NamedText, NamedTexts
from app.theme.theme import Theme
from app.widgets.confirm import ask_name, tell
from app.widgets.labels import label
from broker_core.client.printable import printable
from broker_core.jdl.check import check

_PROGRAM = 'Executable = "/bin/true";\n'
_KNOWN = frozenset(name.lower() for name in (*SIZES, *NAMES))


class PresetButton(QToolButton):
    """The menu of presets over what a form asks for."""

    chosen = Signal(str)
    """Text of the preset that the description is to follow."""

    def __init__(self, theme: Theme, presets: NamedTexts) -> None:
        super().__init__()
        self._theme, self._presets = theme, presets
        self.description = ""
        """Its needs can be saved."""
        self.setText(self.tr("Presets"))
        self.setAccessibleName(self.tr("Presets of what jobs need"))
        self.setToolTip(self.tr("What a job needs, kept under a name of yours"))
        self.setIcon(theme.icon("bookmark"))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        self.setMenu(menu)
        presets.changed.connect(self._fill)
        self._fill()

    def _fill(self) -> None:
        menu = self.menu()
        menu.clear()
        for one in self._presets.all:
            action = menu.addAction(printable(one.name))
            action.setToolTip(printable(one.text.strip()))
            action.triggered.connect(lambda _on=False, text=one.text: self.chosen.emit(text))
        menu.addSeparator()
        save = menu.addAction(self._theme.icon("bookmark-plus"), self.tr("Save as preset…"))
        save.triggered.connect(self._save)
        edit = menu.addAction(self._theme.icon("pencil"), self.tr("Edit presets…"))
        edit.setEnabled(bool(self._presets.all))
        edit.triggered.connect(lambda: PresetSheet(self._theme, self._presets, self).open())

    def _save(self) -> None:
        needs = needs_of(self.description)
        if not needs:
            words = self.tr(
                "A preset holds CPUs, memory, time, GPUs and the like; fill in what it is to hold."
            )
            tell(self, self.tr("Nothing is asked for yet"), words)
            return
        name = self.tr("Name of the preset")
        ask_name(self, self.tr("Save as preset"), name, "", lambda chosen: self._presets.save(chosen, needs))


class PresetSheet(QDialog):
    """All presets: names and statements can be changed; nothing is changed before Save."""

    def __init__(self, theme: Theme, presets: NamedTexts, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._presets = presets
        self.names, self.name, self.text = QListWidget(), QLineEdit(), QPlainTextEdit()
        self.problem = label(role="negative", wrap=True)
        self.save, self.delete, self.close_sheet = (
            QPushButton(self.tr("Save")),
            QPushButton(self.tr("Delete")),
            QPushButton(self.tr("Close")),
        )
        self.setWindowTitle(self.tr("Presets"))
        self.text.setFont(code_font(theme))
        self.text.setTabChangesFocus(True)
        self._lay_out()
        self._fill("")
        self.names.currentRowChanged.connect(self._show)
        self.name.textChanged.connect(self._judge)
        self.text.textChanged.connect(self._judge)
        self.save.clicked.connect(self._save)
        self.delete.clicked.connect(self._delete)
        self.close_sheet.clicked.connect(self.accept)

    def _lay_out(self) -> None:
        self.resize(600, 360)
        named = ((self.names, "Presets"), (self.name, "Name"), (self.text, "What it asks for"))
        for part, words in named:
            part.setAccessibleName(self.tr(words))
        fields = QFormLayout()
        fields.setVerticalSpacing(8)
        fields.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        fields.addRow(self.tr("Name"), self.name)
        fields.addRow(self.tr("Asks for"), self.text)
        across, foot, column = QHBoxLayout(), QHBoxLayout(), QVBoxLayout(self)
        across.setSpacing(16)
        self.names.setMaximumWidth(180)
        across.addWidget(self.names)
        across.addLayout(fields, 1)
        foot.addWidget(self.delete)
        self.delete.setAutoDefault(False)
        foot.addStretch(1)
        for button in (self.close_sheet, self.save):
            foot.addWidget(button)
        self.save.setProperty("kind", "primary")
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(12)
        column.addWidget(label(self.tr("Presets of what jobs need"), "title"))
        column.addLayout(across, 1)
        column.addWidget(self.problem)
        column.addLayout(foot)

    def _fill(self, name: str) -> None:
        """List all presets, and show the one of this name, or the first."""
        self._shown = self._presets.all
        names = [one.name for one in self._shown]
        self.names.clear()
        self.names.addItems([printable(one) for one in names])
        self.names.setCurrentRow(names.index(name) if name in names else 0 if names else -1)
        self._show(self.names.currentRow())

    def _show(self, row: int) -> None:
        one = self._shown[row] if 0 <= row < len(self._shown) else NamedText("", "")
        self.name.setText(one.name)
        self.text.setPlainText(one.text)
        for part in (self.name, self.text, self.delete):
            part.setEnabled(bool(one.name))
        self._judge()

    def _judge(self) -> None:
        trouble = self._trouble()
        self.problem.setText(trouble)
        self.problem.setVisible(bool(trouble))
        self.save.setEnabled(not trouble and self.names.currentRow() >= 0)

    def _trouble(self) -> str:
        """Why it cannot be kept as it stands, in words; empty: it can."""
        row = self.names.currentRow()
        if row < 0:
            return ""
        text, name = self.text.toPlainText(), self.name.text().strip()
        others = {one.name for at, one in enumerate(self._shown) if at != row}
        if not name or name in others:
            return self.tr("There is another one of this name.") if name else self.tr("It needs a name.")
        if odd := [one.name for key, one in statements(text).items() if key not in _KNOWN]:
            return self.tr("{0} is not among what presets hold.").format(odd[0])
        wrong = check(_PROGRAM + text).errors
        return wrong[0].message if wrong else ""

    def _save(self) -> None:
        before, name = self._shown[self.names.currentRow()].name, self.name.text().strip()
        try:
            self._presets.save(name, self.text.toPlainText(), before)
        except ValueError as error:
            tell(self, self.tr("It cannot be kept"), str(error))
            return
        self._fill(name)

    def _delete(self) -> None:
        self._presets.remove(self._shown[self.names.currentRow()].name)
        self._fill("")
