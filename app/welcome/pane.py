"""The first page: three doors, what was done before, and samples that run with one click."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
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

from app.theme.theme import BASE
from app.welcome.doors import DOORS, DoorButton, OwnTemplateList, RecentJobs, heading
from app.welcome.running import open_sample, run_sample

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.client.samples import Sample

_WIDTH, _TWO_COLUMNS, _BESIDE = 880, 680, 600
"""Pixels: of the page at most, and from which on two cards, and the doors, stand beside each other."""
_ICONS = {"neural-net": "chart-line", "heat-image": "image", "radiotherapy": "crosshair",
          "explore": "terminal", "data-reduction": "table-2", "sweep-200": "layers", "fails": "circle-alert",
          "killed": "circle-x", "thesis": "book-open", "notebook": "pencil", "web-page": "external-link",
          "tensorboard": "chart-column", "pi-in-parallel": "network", "plasma": "activity"}  # fmt: skip
_NEXT = (
    ("file.new", "New job", "A form for program, arguments, files and needs; the text is one click away."),
    ("file.open", "Open a description", "Or drop one onto this window."),
    ("help.contents", "Read how it works", "Short pages; everything else is found with Ctrl+K."),
)


class SampleCard(QFrame):
    """A sample with the button that runs it."""

    def __init__(self, context: AppContext, sample: Sample) -> None:
        super().__init__()
        self.setProperty("role", "card")
        icon, title, about = QLabel(), QLabel(sample.title), QLabel(sample.about, wordWrap=True)
        icon.setPixmap(
            context.theme.icon(_ICONS.get(sample.name, "flask-conical"), "accent").pixmap(QSize(20, 20))
        )
        title.setProperty("role", "strong")
        title.setWordWrap(True)
        about.setProperty("role", "muted")
        about.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.run = QPushButton("Run" if sample.runs_here else "Read")
        self.run.setProperty("kind", "primary" if sample.runs_here else "")
        self.run.setAccessibleName(f"{self.run.text()}: {sample.title}")
        self.edit = QPushButton("Open in the editor")
        self.edit.setProperty("kind", "quiet")
        self.edit.setAccessibleName(f"Open in the editor: {sample.title}")
        self.edit.setVisible(sample.runs_here)
        self.edit.clicked.connect(lambda: open_sample(context, sample.name))
        if sample.runs_here:
            doing = f"submitting “{sample.title}”"
            self.run.clicked.connect(lambda: context.run(run_sample(context, sample.name), doing))
        else:
            self.run.clicked.connect(lambda: open_sample(context, sample.name))
        self._lay_out(icon, title, about)

    def _lay_out(self, icon: QLabel, title: QLabel, about: QLabel) -> None:
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(icon)
        head.addWidget(title, 1)
        foot = QHBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self.run)
        foot.addWidget(self.edit)
        foot.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(about, 1)
        column.addLayout(foot)


class WelcomePane(QScrollArea):
    """Doors first, then recent jobs, own templates, samples, and other ways to begin."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.setWidgetResizable(True)
        self.setProperty("role", "surface")
        self.setAccessibleName("Welcome")
        self.cards: list[SampleCard] = []
        self.doors: dict[str, DoorButton] = {}
        """Id of the action to its door; that of the samples is `sample`."""
        self._grid, self._door_grid = QGridLayout(), QGridLayout()
        inner = QWidget()
        inner.setMaximumWidth(_WIDTH)
        self._column = QVBoxLayout(inner)
        self._column.setContentsMargins(24, 32, 24, 24)
        self._column.setSpacing(12)
        self._say()
        self._doors()
        self._before()
        self._samples()
        self._next()
        self._column.addStretch(1)
        outer = QWidget()
        across = QHBoxLayout(outer)
        across.setContentsMargins(0, 0, 0, 0)
        across.addStretch(1)
        across.addWidget(inner, 20)
        across.addStretch(1)
        self.setWidget(outer)
        context.link.changed.connect(self._linked)
        self._linked()

    def _say(self) -> None:
        title = QLabel("Describe work once, run it anywhere", wordWrap=True)
        title.setProperty("role", "title")
        text = QLabel(
            "CrossDesk sends jobs to this machine and to the sites you connect, shows what they do and keeps "
            "their output.",
            wordWrap=True,
        )
        text.setProperty("role", "muted")
        self._column.addWidget(title)
        self._column.addWidget(text)

    def _doors(self) -> None:
        self._door_grid.setSpacing(12)
        for action, icon, title, about in DOORS:
            door = self.doors[action] = DoorButton(self._context, icon, title, about)
            if action == "sample":
                door.clicked.connect(self._to_samples)
            else:
                door.clicked.connect(lambda _=False, name=action: self._context.trigger(name))
        self._column.addLayout(self._door_grid)

    def _to_samples(self) -> None:
        """Lead to the first sample, with the keyboard on its button."""
        last = self.cards[-1]
        self.ensureWidgetVisible(last, 0, 0)
        self.ensureWidgetVisible(self.cards[0].run, 0, 80)
        self.cards[0].run.setFocus(Qt.FocusReason.TabFocusReason)

    def _before(self) -> None:
        self.recent, templates = RecentJobs(self._context), OwnTemplateList(self._context)
        templates.used.connect(lambda one: self._context.open_editor(one.text))
        self._column.addWidget(self.recent)
        self._column.addWidget(templates)
        self.recent.ask()

    def _samples(self) -> None:
        from broker_core.client.samples import samples

        self._column.addWidget(heading("Samples that run here"))
        self._grid.setSpacing(12)
        self._grid.setColumnStretch(0, 1)
        self.cards = [SampleCard(self._context, sample) for sample in samples()]
        self._column.addLayout(self._grid)
        self._arrange(1, 1)

    def _arrange(self, columns: int, doors: int) -> None:
        self._grid.setColumnStretch(1, columns - 1)
        for number, door in enumerate(self.doors.values()):
            self._door_grid.addWidget(door, number // doors, number % doors)
        for number, card in enumerate(self.cards):
            self._grid.addWidget(card, number // columns, number % columns)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put two cards, and all doors, beside each other where there is room."""
        super().resizeEvent(event)
        width = event.size().width() * BASE / self._context.theme.size
        self._arrange(2 if width >= _TWO_COLUMNS else 1, len(DOORS) if width >= _BESIDE else 1)

    def _next(self) -> None:
        self._column.addWidget(heading("More ways to begin"))
        for action, title, about in _NEXT:
            line = QHBoxLayout()
            line.setSpacing(12)
            button = QPushButton(title)
            button.setMinimumWidth(180)
            button.clicked.connect(lambda _=False, name=action: self._context.trigger(name))
            text = QLabel(about, wordWrap=True)
            text.setProperty("role", "muted")
            line.addWidget(button)
            line.addWidget(text, 1)
            self._column.addLayout(line)

    def _linked(self) -> None:
        up = self._context.link.up
        for action, door in self.doors.items():
            door.setEnabled(up or action == "sample")
            door.setToolTip("" if door.isEnabled() else "The broker is not connected yet")
        for card in self.cards:
            if card.edit.isVisibleTo(card):
                card.run.setEnabled(up)
                card.run.setToolTip("" if up else "The broker is not connected yet")
