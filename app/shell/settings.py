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
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.theme.tokens import Mode
from app.widgets.number_entry import NumberEntry
from app.widgets.save_dialog import ask_folder, downloads

if TYPE_CHECKING:
    from app.context import AppContext

_MODES = ((Mode.SYSTEM, "As the desktop"), (Mode.LIGHT, "Light"), (Mode.DARK, "Dark"),
          (Mode.CONTRAST, "High contrast"))  # fmt: skip


NOTIFY = (("all", "When a job is done or failed"), ("failures", "Only when one failed"), ("none", "Never"))
"""Values of the preference `notify`, with their words."""


class SettingsDialog(QDialog):
    """How the desk looks, what it tells, where jobs and their output go, and where things are."""

    def __init__(self, context: AppContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Settings")
        self.setMinimumWidth(440)
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(12)
        form.addRow("Colors", self._colors())
        form.addRow("Text size", self._size())
        form.addRow("Table rows", self._box("compact", "Compact"))
        form.addRow("Notices on the desktop", self._choice("notify", "Notices on the desktop", NOTIFY))
        form.addRow("Logs", self._box("wrap_logs", "Wrap long lines"))
        form.addRow("Send new jobs to", self._site())
        form.addRow("Save output in", self._folder())
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
        choice.setAccessibleName("Colors")
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

    def _choice(self, name: str, title: str, values: tuple[tuple[str, str], ...]) -> QComboBox:
        choice = QComboBox()
        choice.setAccessibleName(title)
        for value, text in values:
            choice.addItem(text, value)
        choice.setCurrentIndex(max(0, choice.findData(self._context.preferences[name])))
        choice.currentIndexChanged.connect(lambda at: self._keep(name, choice.itemData(at)))
        return choice

    def _site(self) -> QComboBox:
        """Sites that are known, and the one chosen before though it may be gone."""
        names = {view.spec.name for view in self._context.sites.views}
        chosen = self._context.preferences["default_site"]
        sites = sorted({*names, chosen} - {""})
        offered = (("", "Wherever it fits best"), *((name, name) for name in sites))
        return self._choice("default_site", "Send new jobs to", offered)

    def _folder(self) -> QWidget:
        line, holder = QHBoxLayout(), QWidget()
        line.setContentsMargins(0, 0, 0, 0)
        self.folder = QLineEdit(self._context.preferences["output_folder"], clearButtonEnabled=True)
        self.folder.setPlaceholderText(downloads())
        self.folder.setAccessibleName("Save output in")
        self.folder.textChanged.connect(lambda text: self._keep("output_folder", text.strip()))
        choose = QPushButton("Choose…")
        choose.setAutoDefault(False)
        choose.clicked.connect(self._choose_folder)
        line.addWidget(self.folder, 1)
        line.addWidget(choose)
        holder.setLayout(line)
        return holder

    def _choose_folder(self) -> None:
        ask_folder(
            self, "Save output in", self._context.preferences, lambda chosen: self.folder.setText(str(chosen))
        )

    def _box(self, name: str, text: str) -> QCheckBox:
        box = QCheckBox(text)
        box.setChecked(self._context.preferences[name])
        box.toggled.connect(lambda on: self._keep(name, on))
        return box

    def _keep(self, name: str, value: object) -> None:
        self._context.preferences[name] = value
        if name == "compact":
            self._context.theme.wear()

    def _place(self) -> QLabel:
        from broker_core.system.paths import places

        label = QLabel(str(places(self._context.state_dir).state), wordWrap=True)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.setProperty("role", "muted")
        return label
