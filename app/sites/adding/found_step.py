"""Third step of adding a site: what was found there, and how it is to be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QButtonGroup, QGridLayout, QLabel, QRadioButton, QVBoxLayout, QWidget

from app.sites.adding.found_text import facts, headline, system_words
from app.sites.spec_form import SpecForm
from app.widgets import glyphs
from app.widgets.labels import label

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.wire.sites import Detection, SiteSpec, SystemFound


class FoundStep(QWidget):
    """Systems to choose from, best first; facts; and the form with sensible settings."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.found: Detection | None = None
        self.form: SpecForm | None = None
        self.systems = QButtonGroup(self)
        self.systems.idClicked.connect(self._choose)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(12)
        self._top: QWidget | None = None
        self._usable: list[SystemFound] = []

    def show_found(self, found: Detection) -> None:
        """Show what was found; the first system that can be used is chosen."""
        self.found = found
        self._usable = [one for one in found.systems if not one.trouble]
        if self._top is not None:
            self._top.deleteLater()
        self._top = self._make_top(found)
        self._column.insertWidget(0, self._top)
        self._choose(0)

    def _make_top(self, found: Detection) -> QWidget:
        made = QWidget()
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(label(headline(found), "strong", wrap=True))
        for button in self.systems.buttons():
            self.systems.removeButton(button)
        for place, system in enumerate(self._usable):
            if len(self._usable) > 1:
                button = QRadioButton(system_words(system))
                button.setChecked(place == 0)
                self.systems.addButton(button, place)
                column.addWidget(button)
            else:
                column.addWidget(label(system_words(system), "muted", wrap=True))
        if not found.systems and found.reason:
            column.addWidget(label(found.reason, "muted", wrap=True))
        for system in found.systems:
            if system.trouble:
                column.addWidget(label(system_words(system), "muted", wrap=True))
        column.addSpacing(4)
        column.addLayout(self._facts(found))
        return made

    def _facts(self, found: Detection) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(2, 1)
        for row, (shape, token, name, said) in enumerate(facts(found)):
            picture = QLabel()
            picture.setPixmap(
                glyphs.pixmap(shape, self._context.theme.color(token), 14, self.devicePixelRatioF())
            )
            value = label(said, wrap=True)
            value.setAccessibleName(f"{name}: {said}")
            for column, part in enumerate((picture, label(name, "muted"), value)):
                grid.addWidget(part, row, column)
        return grid

    def _choose(self, place: int) -> None:
        if self.form is not None:
            self.form.deleteLater()
            self.form = None
        suggestion = self.found.suggestion if self.found is not None else None
        if suggestion is None or not self._usable:
            return
        system = self._usable[place]
        update: dict[str, object] = {"kind": system.kind}
        if system.kind != suggestion.kind:
            update["queues"] = []
        spec = suggestion.model_copy(update=update)
        self.form = SpecForm(spec, system.queues)
        self._column.addWidget(self.form)

    @property
    def usable(self) -> bool:
        """True if something was found that can be added."""
        return self.form is not None

    def spec(self) -> SiteSpec | None:
        """Return the settings as chosen; None when something is wrong, which is then told."""
        return self.form.spec() if self.form is not None else None

    def tell(self, fault: str) -> None:
        """Say why it was not added."""
        if self.form is not None:
            self.form.tell(fault)

    def take_focus(self) -> None:
        """Give the keyboard to the name, which can be changed."""
        if self.form is not None:
            self.form.name.setFocus()
            self.form.name.selectAll()
