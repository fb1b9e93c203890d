"""The settings of the desk, and of the broker what it keeps: choices that take effect at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase
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
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.context import Notice
from app.stores.preferences import DEFAULTS
from app.theme.theme import BASE, MONO
from app.theme.tokens import Mode
from app.widgets.labels import label
from app.widgets.number_entry import NumberEntry
from app.widgets.save_dialog import ask_folder, downloads
from broker_core.errors import CrossDeskError, NotFound
from broker_core.wire.views import RetentionChange

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.views import RetentionView

_MODES = ((Mode.SYSTEM, "As the desktop"), (Mode.LIGHT, "Light"), (Mode.DARK, "Dark"),
          (Mode.CONTRAST, "High contrast"))  # fmt: skip


NOTIFY = (("all", "When a job is done or failed"), ("failures", "Only when one failed"), ("none", "Never"))
"""Values of the preference `notify`, with their words."""


_DAY = 86_400.0
_MB = 1_000_000
_ABOUT = (
    "Jobs whose output was not saved stay, and those of which something is still at a site; what canceled and"
    " killed jobs wrote goes with them. A limit counts for jobs that are sent from now on, a time for what"
    " stays at a site from now on."
)


@dataclass(frozen=True, slots=True)
class _Choice:
    """One of the broker's settings: its field in RetentionView, and what is offered for it."""

    name: str
    title: str
    values: tuple[float, ...]
    words: Callable[[float], str]


def _days(seconds: float) -> str:
    days = seconds / _DAY
    if days == 365:
        return "1 year"
    return units.count(int(days), "day") if days == int(days) else units.duration(seconds)


_CHOICES = (
    _Choice("jobs_age", "Remove ended jobs", (0, 7 * _DAY, 30 * _DAY, 90 * _DAY, 365 * _DAY),
          lambda age: f"After {_days(age)}" if age else "Never"),
    _Choice("results_max", "Bring home unasked", (10 * _MB, 100 * _MB, 1_000 * _MB, 10_000 * _MB, 0),
          lambda size: f"Up to {units.size(size)} of a job" if size else "Everything"),
    _Choice("left_age", "Keep the rest at its site", (7 * _DAY, 30 * _DAY, 90 * _DAY, 365 * _DAY, 0),
          lambda age: f"For {_days(age)}" if age else "Until the job is removed"),
    _Choice("left_max", "At one site at most", (1_000 * _MB, 10_000 * _MB, 100_000 * _MB, 1_000_000 * _MB, 0),
          lambda size: units.size(size) if size else "No limit"),
    _Choice("inputs_age", "Keep input files there", (_DAY, 7 * _DAY, 30 * _DAY, 90 * _DAY, 0),
          lambda age: f"For {_days(age)} after their last job" if age else "For ever"),
    _Choice("inputs_max", "Of these at one site", (1_000 * _MB, 20_000 * _MB, 100_000 * _MB, 0),
          lambda size: units.size(size) if size else "No limit"),
)  # fmt: skip


def _page(form: QFormLayout) -> QWidget:
    page = QWidget()
    page.setLayout(form)
    form.setContentsMargins(12, 16, 12, 12)
    return page


def change_theme(context: AppContext) -> None:
    """Change between light and dark; that the window does not follow the system any more is told."""
    mode = Mode.LIGHT if context.theme.shown is not Mode.LIGHT else Mode.DARK
    if context.preferences["theme"] == Mode.SYSTEM.value:
        news = f"The window is {mode.value} now, and follows the system no more."
        context.notify(Notice(news, action="app.settings", topic="theme"))
    context.preferences["theme"] = mode.value
    context.theme.wear(mode=mode)


def zoom(context: AppContext, step: int) -> None:
    """Make all text larger or smaller by so many pixels; 0: as it is at first."""
    size = max(11, min(22, context.theme.size + step)) if step else DEFAULTS["font_size"]
    context.preferences["font_size"] = size
    context.theme.wear(size=size)


class SettingsDialog(QDialog):
    """How the desk looks, what it tells, where jobs and their output go, and where things are."""

    def __init__(self, context: AppContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Settings")
        self.setMinimumWidth(round(440 * context.theme.size / BASE))
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(12)
        form.addRow("Colors", self._colors())
        form.addRow("Text size", self._size())
        form.addRow("Font of consoles", self._font())
        form.addRow("Table rows", self._box("compact", "Compact"))
        form.addRow("Notices on the desktop", self._choice("notify", "Notices on the desktop", NOTIFY))
        form.addRow("Logs", self._box("wrap_logs", "Wrap long lines"))
        form.addRow("Send new jobs to", self._site())
        form.addRow("Save output in", self._folder())
        self.retention = RetentionForm(context)
        tabs = QTabWidget()
        tabs.setAccessibleName("Settings by what they are of")
        tabs.addTab(_page(form), "This desk")
        tabs.addTab(self.retention, "Broker")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 16, 16, 16)
        column.setSpacing(16)
        column.addWidget(tabs)
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

    def _font(self) -> QComboBox:
        """Families of this machine whose letters have one width, and the one chosen before."""
        chosen = self._context.preferences["console_font"]
        found = {one for one in QFontDatabase.families() if QFontDatabase.isFixedPitch(one)}
        offered = sorted({*found, chosen} - {"", MONO})
        return self._choice(
            "console_font", "Font of consoles", (("", MONO), *((family, family) for family in offered))
        )

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
        if name in ("compact", "console_font"):
            self._context.theme.wear()


class RetentionForm(QWidget):
    """How long and how much the broker keeps: choices, or facts where others decide it, with the reason."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.view: RetentionView | None = None
        self.choices: dict[str, QComboBox] = {}
        self.facts: dict[str, QLabel] = {}
        """Setting to what shows it; one of the two is in sight."""
        self.about = label("", "muted", wrap=True)
        form = QFormLayout(self)
        form.setContentsMargins(12, 16, 12, 12)
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(12)
        for one in _CHOICES:
            form.addRow(one.title, self._row(one))
        form.addRow(self.about)
        form.addRow("Broker's files", self._folder())
        context.link.changed.connect(self._ask)
        self._show_problem("The broker is not connected.")
        self._ask()

    def _row(self, one: _Choice) -> QWidget:
        choice, fact = QComboBox(), label("")
        choice.setAccessibleName(one.title)
        choice.activated.connect(lambda at: self._choose(one.name, choice.itemData(at)))
        self.choices[one.name], self.facts[one.name] = choice, fact
        line, holder = QHBoxLayout(), QWidget()
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(choice, 1)
        line.addWidget(fact, 1)
        holder.setLayout(line)
        return holder

    def _folder(self) -> QLabel:
        from broker_core.system.paths import places

        made = label(str(places(self._context.state_dir).state), "muted", wrap=True)
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        return made

    def _ask(self) -> None:
        """Ask the broker, once it is connected; what it answers after this is gone is not heard."""
        if self._context.link.up and self.view is None:
            asked = self._context.run(self._load(), "asking what the broker keeps")
            self.destroyed.connect(lambda: asked.cancel())

    async def _load(self) -> None:
        try:
            self._show(await self._context.client.retention())
        except NotFound:
            self._show_problem(
                "This broker is of an earlier version: its file broker.toml alone decides this."
            )
        except CrossDeskError as error:
            self._show_problem(str(error))

    def _choose(self, name: str, value: float) -> None:
        sent = self._context.run(self._send(name, value), "changing what the broker keeps")
        self.destroyed.connect(lambda: sent.cancel())

    async def _send(self, name: str, value: float) -> None:
        try:
            change = RetentionChange.model_validate({name: value})
            self._show(await self._context.client.choose_retention(change))
        except CrossDeskError:
            if self.view is not None:
                self._show(self.view)
            raise

    def _show(self, view: RetentionView) -> None:
        self.view = view
        for one in _CHOICES:
            value, choice, fact = getattr(view, one.name), self.choices[one.name], self.facts[one.name]
            offered = one.values if value in one.values else (*one.values, value)
            choice.clear()
            for other in offered:
                choice.addItem(one.words(other), other)
            choice.setCurrentIndex(offered.index(value))
            fact.setText(one.words(value))
            choice.setVisible(not view.fixed)
            choice.setEnabled(True)
            fact.setVisible(bool(view.fixed))
        self.about.setText(view.fixed or _ABOUT)

    def _show_problem(self, problem: str) -> None:
        for name, choice in self.choices.items():
            choice.setEnabled(False)
            self.facts[name].hide()
        self.about.setText(problem)
