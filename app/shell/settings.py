"""The settings: a few choices that take effect at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from app.theme.tokens import Mode
from app.widgets.number_entry import NumberEntry

if TYPE_CHECKING:
    from app.context import AppContext

_MODES = ((Mode.SYSTEM, "As the desktop"), (Mode.LIGHT, "Light"), (Mode.DARK, "Dark"),
          (Mode.CONTRAST, "High contrast"))  # fmt: skip


class SettingsDialog(QDialog):
    """Colours, size of text, rows, notifications; and where things are."""

    def __init__(self, context: AppContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Settings")
        self.setMinimumWidth(440)
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(12)
        form.addRow("Colours", self._colors())
        form.addRow("Text size", self._size())
        form.addRow("Table rows", self._box("compact", "Compact"))
        form.addRow("Notifications", self._box("notifications", "Tell me when a job is done or failed"))
        form.addRow("Broker's files", self._place())
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(16)
        column.addLayout(form)
        column.addWidget(buttons)

    def _colors(self) -> QComboBox:
        choice = QComboBox()
        choice.setAccessibleName("Colours")
        for mode, text in _MODES:
            choice.addItem(text, mode)
        choice.setCurrentIndex([mode for mode, _ in _MODES].index(self._context.theme.mode))
        choice.currentIndexChanged.connect(lambda place: self._wear(_MODES[place][0]))
        return choice

    def _wear(self, mode: Mode) -> None:
        self._context.preferences["theme"] = mode.value
        self._context.theme.wear(mode=mode)

    def _size(self) -> NumberEntry:
        size = NumberEntry(minimum=11, maximum=22, value=self._context.theme.size, suffix=" px")
        size.setAccessibleName("Text size")
        size.lineEdit().setAccessibleName("Text size")
        size.valueChanged.connect(self._resize)
        return size

    def _resize(self, size: int) -> None:
        self._context.preferences["font_size"] = size
        self._context.theme.wear(size=size)

    def _box(self, name: str, text: str) -> QCheckBox:
        box = QCheckBox(text)
        box.setChecked(self._context.preferences[name])
        box.toggled.connect(lambda on: self._keep(name, on))
        return box

    def _keep(self, name: str, on: bool) -> None:
        self._context.preferences[name] = on
        self._context.theme.wear()

    def _place(self) -> QLabel:
        from broker_core.system.paths import places

        label = QLabel(str(places(self._context.state_dir).state), wordWrap=True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.setProperty("role", "muted")
        return label
