"""A small sheet: what is different when jobs are run again in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.description.needs import changes_of
from app.jobs.preset_choice import PresetChoice
from app.jobs.rerun import run_again
from app.widgets.labels import label
from broker_core.jdl.changes import MEMORY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.context import AppContext

_SAME = "The same as before"


class RerunSheet(QDialog):
    """Asks for arguments, memory, time and site; what stays empty is as it was."""

    def __init__(self, context: AppContext, ids: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self._context, self._ids = context, list(ids)
        number = units.count(len(self._ids), "job")
        self.setWindowTitle("Rerun with changes")
        self.setMinimumWidth(540)
        self.arguments, self.memory, self.time = QLineEdit(), QLineEdit(), QLineEdit()
        self.site, self.preset = QComboBox(), PresetChoice(_SAME)
        self._presets = self.preset.offer(context.presets)
        for field, name, hint in (
            (self.arguments, "Arguments", f"{_SAME}; _PARAM_ stands for the value"),
            (self.memory, "Memory", f"{_SAME}; for example 2000M or 4G"),
            (self.time, "Time limit", f"{_SAME}; for example 90m, 2h or 1d"),
        ):
            field.setAccessibleName(name)
            field.setPlaceholderText(hint)
        self.site.setAccessibleName("Site")
        self.site.addItem("As before: where they may run", "")
        self.site.addItem("Wherever they fit", None)
        for site in context.sites.views:
            self.site.addItem(site.spec.name, site.spec.name)
        self.go, self.cancel = QPushButton(f"Rerun {number}"), QPushButton("Cancel")
        self.go.setProperty("kind", "primary")
        self.go.setDefault(True)
        self.cancel.setAutoDefault(False)
        self.go.clicked.connect(self._send)
        self.cancel.clicked.connect(self.reject)
        self._lay_out(number)

    def _lay_out(self, number: str) -> None:
        form = QFormLayout()
        form.setVerticalSpacing(8)
        form.addRow("Arguments", self.arguments)
        form.addRow("Needs", self.preset)
        form.setRowVisible(self.preset, self._presets)
        form.addRow("Memory", self.memory)
        form.addRow("Time limit", self.time)
        form.addRow("Site", self.site)
        foot = QHBoxLayout()
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.go)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(12)
        column.addWidget(label(f"Rerun {number} with changes", "title"))
        about = "Each runs again in its place, with the files it had. What stays empty is as it was."
        column.addWidget(label(about, "muted", wrap=True))
        column.addLayout(form)
        column.addStretch(1)
        column.addLayout(foot)

    def changes(self) -> dict[str, str]:
        """Attribute to what is to be written for it; a field goes before the preset."""
        preset = changes_of(self.preset.chosen) if self.preset.chosen else {}
        fields = {"Arguments": self.arguments, MEMORY: self.memory, "WallTime": self.time}
        return preset | {name: text for name, field in fields.items() if (text := field.text().strip())}

    def _send(self) -> None:
        self.accept()
        run_again(self._context, self._ids, self.changes(), self.site.currentData())
