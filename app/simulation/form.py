"""What to replay: a trace, the sites, the policies, and the button that starts and ends it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.widgets.flow_layout import FlowLayout
from app.widgets.number_entry import NumberEntry
from app.widgets.save_dialog import FileDialog

SHIPPED = "lcg-2005"
"""Name of the trace that comes with the program, as `crossdesk sim replay` knows it."""
_SHIPPED = "A real grid in 2005 (12,000 jobs)"
_OWN_SITES = "Those of the trace"
_LEAST = 200
"""Pixels that a choice of files asks for."""


class FileChoice(QComboBox):
    """One built-in choice, the files chosen so far, and an entry that asks for another."""

    def __init__(self, name: str, built_in: str, value: str, ask: str, filters: list[str]) -> None:
        super().__init__()
        self._ask, self._filters, self._last = ask, filters, 0
        self.setAccessibleName(name)
        self.addItem(built_in, value)
        self.addItem(ask, None)
        self.activated.connect(self._activated)

    def minimumSizeHint(self) -> QSize:
        """Narrower than its longest name where there is no room; the list that opens has all names."""
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), _LEAST), hint.height())

    def value(self) -> str:
        """The value of the built-in choice, or the path of the file."""
        return str(self.currentData() or self.itemData(self._last) or "")

    def choose(self, path: Path) -> None:
        """Offer a file and choose it."""
        at = self.findData(str(path))
        if at < 0:
            at = self.count() - 1
            self.insertItem(at, path.name, str(path))
            self.setItemData(at, str(path), Qt.ItemDataRole.ToolTipRole)
        self.setCurrentIndex(at)
        self._last = at

    def _activated(self, at: int) -> None:
        if at < self.count() - 1:
            self._last = at
            return
        self.setCurrentIndex(self._last)
        dialog = FileDialog(self, self._ask.rstrip("…"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([*self._filters, "All files (*)"])
        dialog.fileSelected.connect(lambda name: self.choose(Path(name)))
        dialog.open()


class SimulationForm(QWidget):
    """The choices in lines that wrap, the progress below."""

    wanted = Signal()
    """Start, or cancel what runs."""

    def __init__(self) -> None:
        super().__init__()
        self.trace = FileChoice(
            "Trace", _SHIPPED, SHIPPED, "Another trace…", ["Workload traces (*.swf *.swf.gz)"]
        )
        self.sites = FileChoice("Sites", _OWN_SITES, "", "Sites from a file…", ["Sites (*.toml *.ldif)"])
        self.order, self.queue = QComboBox(), QComboBox()
        for box in (self.order, self.queue):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.order.setAccessibleName("Order of the sites")
        self.queue.setAccessibleName("Order of the queue")
        self.cpus = NumberEntry(maximum=1_000_000, singleStep=100, specialValueText="as in the trace")
        self.cpus.setAccessibleName("CPUs in all")
        self.cpus.setToolTip("Fewer CPUs than the trace had make jobs wait")
        self.cpus.setValue(500)
        self.button = QPushButton("Replay")
        self.button.setProperty("kind", "primary")
        self.button.clicked.connect(self.wanted)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setAccessibleName("Progress of the replay")
        self.said = QLabel()
        self.said.setProperty("role", "small")
        self._lay_out()
        self.sites.currentIndexChanged.connect(lambda: self.cpus.setEnabled(not self.sites.value()))

    def _lay_out(self) -> None:
        fields = FlowLayout(spacing=12)
        named = (("Trace", self.trace), ("Sites", self.sites), ("CPUs", self.cpus),
                 ("Order of the sites", self.order), ("Order of the queue", self.queue))  # fmt: skip
        for name, field in named:
            fields.addWidget(_named(name, field))
        fields.addWidget(_named("", self.button))
        progress = QHBoxLayout()
        progress.setSpacing(12)
        progress.addWidget(self.bar, 1)
        progress.addWidget(self.said, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 8)
        column.addLayout(fields)
        column.addLayout(progress)

    def offer(self, orders: list[str], queues: list[str]) -> None:
        """Offer policies by name; what is chosen stays chosen."""
        for box, names in ((self.order, orders), (self.queue, queues)):
            chosen = box.currentData()
            box.clear()
            for name in names:
                box.addItem(policy_words(name), name)
            box.setCurrentIndex(max(0, box.findData(chosen)))

    def words(self) -> list[str]:
        """The choices as words of the command line."""
        words = ["replay", self.trace.value(), "--json", "--progress"]
        if self.sites.value():
            words += ["--sites", self.sites.value()]
        elif self.cpus.value():
            words += ["--cpus", str(self.cpus.value())]
        for option, box in (("--policy", self.order), ("--queue", self.queue)):
            if box.currentData():
                words += [option, box.currentData()]
        return words

    def show_running(self, running: bool) -> None:
        """Let the button cancel while something runs."""
        self.button.setText("Cancel" if running else "Replay")
        for field in (self.trace, self.sites, self.order, self.queue, self.cpus):
            field.setEnabled(not running)
        self.cpus.setEnabled(not running and not self.sites.value())
        self.bar.setVisible(running)
        if running:
            self.bar.setRange(0, 0)

    def show_progress(self, over: int, jobs: int, said: str) -> None:
        """How far it is."""
        self.bar.setRange(0, jobs)
        self.bar.setValue(over)
        self.said.setText(said)


def policy_words(name: str) -> str:
    """A policy's name as people read it, as the scheduler's page has it."""
    words = name.replace("-", " ").replace("_", " ")
    return words.upper() if name == "fcfs" else words[:1].upper() + words[1:]


def _named(name: str, field: QWidget) -> QWidget:
    """A field with its name above it, as high as the others of its line."""
    label = QLabel(name)
    label.setProperty("role", "small")
    label.setBuddy(field)
    field.setSizePolicy(field.sizePolicy().horizontalPolicy(), QSizePolicy.Policy.Expanding)
    both = QWidget()
    column = QVBoxLayout(both)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(4)
    column.addWidget(label)
    column.addWidget(field)
    return both
