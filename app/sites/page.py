"""The sites page: a card for each site, and all about the chosen one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app import units
from app.sites.card import MOST, SiteCard, least_width
from app.sites.detail import SiteDetail
from app.sites.site_style import address_words, site_style
from app.stores.sites import CONNECTED
from app.widgets.labels import label
from app.widgets.list_state import ListState, explain_error, explain_link

if TYPE_CHECKING:
    from app.context import AppContext
    from app.sites.answers import SiteAnswers
    from app.sites.commands import SiteActions
    from broker_core.errors import CrossDeskError
    from broker_core.wire.sites import SiteView

_SECOND_MS = 1000
_GAP, _EDGE = 12, 16
_WIDE = 860
"""Pixels from which the details stand beside the cards."""
_MANY = 6
"""Sites from which there is a field to look for them."""


class SitesPage(QWidget):
    """Shows the known sites; nothing is asked here but what the user asks."""

    chosenChanged = Signal(str)

    def __init__(self, context: AppContext, commands: SiteActions, answers: SiteAnswers) -> None:
        super().__init__()
        self._context, self._commands, self._answers = context, commands, answers
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.chosen = ""
        self.cards: dict[str, SiteCard] = {}
        self.state, self.detail = ListState(context.theme), SiteDetail(context, commands, answers)
        self.count, self.edit = label(role="muted"), QLineEdit(placeholderText="Filter")
        self.add = QPushButton(context.theme.icon("plus", "accent-text"), "Add a site")
        self.help = QPushButton("How sites work")
        self.nothing = label("No site is left by this filter.", "muted")
        self._across = 0
        self._lay_out()
        self._connect()
        self._show()

    # --- making

    def _lay_out(self) -> None:
        self.add.setProperty("kind", "primary")
        self.help.setProperty("kind", "quiet")
        self.edit.setAccessibleName("Filter sites")
        self.edit.setClearButtonEnabled(True)
        self.edit.setMinimumWidth(80)
        self.edit.setMaximumWidth(240)
        line = QHBoxLayout()
        line.setContentsMargins(_EDGE, 12, _EDGE, 0)
        line.setSpacing(8)
        for part, share in ((self.count, 1), (self.edit, 1), (self.help, 0), (self.add, 0)):
            line.addWidget(part, share)
        self._head = QWidget()
        self._head.setLayout(line)
        inner = QWidget()
        self._grid = QGridLayout()
        self._grid.setSpacing(_GAP)
        self._grid.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        inside = QVBoxLayout(inner)
        inside.setContentsMargins(_EDGE, 12, _EDGE, _EDGE)
        inside.addLayout(self._grid)
        inside.addWidget(self.nothing)
        inside.addStretch(1)
        self.area = QScrollArea(widgetResizable=True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setAccessibleName("Sites")
        self.area.setWidget(inner)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.area)
        self.splitter.addWidget(self.detail)
        self.detail.setMinimumWidth(340)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head)
        column.addWidget(self.splitter, 1)
        column.addWidget(self.state, 1)

    def _connect(self) -> None:
        context = self._context
        self.add.clicked.connect(lambda: context.trigger("site.add"))
        self.help.clicked.connect(lambda: context.show_help("sites"))
        self.edit.textChanged.connect(self._arrange)
        self.detail.close_.clicked.connect(lambda: self.choose(""))
        self.area.viewport().installEventFilter(self)
        self._answers.told.connect(self._tell)
        context.sites.changed.connect(self._show)
        context.theme.changed.connect(self._show)
        self._second = QTimer(self, interval=_SECOND_MS)
        self._second.timeout.connect(self._tell)
        self._second.start()

    # --- showing

    def showEvent(self, event: QShowEvent) -> None:
        """Know before a question comes whether answers can be kept."""
        super().showEvent(event)
        self._answers.begin()

    def show_error(self, error: CrossDeskError) -> None:
        """Show why no site is known; cards that are already there stay."""
        self._context.sites.show_error(error)

    def _show(self) -> None:
        sites = self._context.sites
        known = bool(sites.views)
        self.state.setVisible(not known)
        self.splitter.setVisible(known)
        self._head.setVisible(known)
        self.splitter.setEnabled(self._context.link.up)
        if not known:
            self._explain()
        for name in self.cards.keys() - {one.spec.name for one in sites.views}:
            self.cards.pop(name).deleteLater()
        for site in sites.views:
            self._show_card(site)
        self._show_detail()
        self._tell_count()
        self._arrange()

    def _show_card(self, site: SiteView) -> None:
        card = self.cards.get(site.spec.name)
        if card is None:
            card = self.cards[site.spec.name] = SiteCard(self._context, self._commands, self._answers, site)
            card.chosen.connect(self.choose)
        else:
            card.show_site(site)

    def _tell_count(self) -> None:
        views = self._context.sites.views
        linked = sum(1 for one in views if one.link.state == CONNECTED)
        said = units.count(len(views), "site")
        if not self._context.link.up:
            self.count.setText(f"{said}, as last heard")
        else:
            self.count.setText(said if linked == len(views) else f"{said}, {linked:,} connected")
        self.add.setEnabled(self._context.link.up)
        self.edit.setVisible(len(views) >= _MANY)

    def _arrange(self, *_: object) -> None:
        """Put the cards that fit the filter into as many columns as there is room for."""
        letters = self.edit.text().lower().split()
        room = self.area.viewport().width() - 2 * _EDGE
        least = least_width(self._context.theme)
        self._across = max(1, (room + _GAP) // (least + _GAP))
        width = max(least, min(max(least, MOST), (room - _GAP * (self._across - 1)) // self._across))
        made = [one for one in self._context.sites.views if one.name in self.cards]
        shown = [one for one in made if _fits(one, letters)]
        kept = {one.spec.name for one in shown}
        for name, card in self.cards.items():
            card.setVisible(name in kept)
        for place, site in enumerate(shown):
            card = self.cards[site.spec.name]
            card.setFixedWidth(width)
            at = self._grid.indexOf(card)
            where = (place // self._across, place % self._across)
            if at < 0 or not self._stands(at, where):
                self._grid.addWidget(card, *where)
        self.nothing.setVisible(not shown)

    def _stands(self, at: int, where: tuple[int, int]) -> bool:
        position = self._grid.getItemPosition(at)
        return isinstance(position, tuple) and tuple(position[:2]) == where

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the details beside the cards where there is room, else in their place."""
        super().resizeEvent(event)
        self._place_detail()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Use the room that the cards have now."""
        if event.type() == QEvent.Type.Resize:
            self._arrange()
        return False

    def _explain(self) -> None:
        if not self._context.link.up:
            explain_link(self.state, self._context)
        elif self._context.sites.error:
            explain_error(self.state, "The sites", self._context.sites.error, self._context.sites.reload)
        elif not self._context.sites.loaded:
            self.state.show_state("loader-circle", "Looking for sites", "The broker tells what it knows.")
        else:
            self.state.show_state(
                "server", "No sites yet",
                "A site is a place where jobs run: a cluster that you reach by SSH, a grid site, this "
                "machine's own batch system. Name its host, and what is there is found out.",
                ("Add a site", lambda: self._context.trigger("site.add")),
                ("How sites work", lambda: self._context.show_help("sites")),
            )  # fmt: skip

    def _tell(self) -> None:
        if self.isVisible():
            for card in self.cards.values():
                card.tell()
            self.detail.tell()

    # --- the chosen one

    def choose(self, name: str) -> None:
        """Show all about a site; empty: about none."""
        self.chosen = name
        self._show_detail()
        self._arrange()
        card = self.cards.get(name)
        if card is not None:
            QTimer.singleShot(0, card, lambda: self.area.ensureWidgetVisible(card))
        self.chosenChanged.emit(name)

    def _show_detail(self) -> None:
        site = self._context.sites.named(self.chosen)
        if site is None:
            self.chosen = ""
        else:
            self.detail.show_site(site)
        for name, card in self.cards.items():
            card.mark(name == self.chosen)
        self._place_detail()

    def _place_detail(self) -> None:
        shown = bool(self.chosen)
        wide = self.width() >= _WIDE
        self.detail.setVisible(shown)
        self.area.setVisible(wide or not shown)
        self.detail.ask_here(not wide)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes the details."""
        if event.key() == Qt.Key.Key_Escape and self.chosen:
            card = self.cards.get(self.chosen)
            self.choose("")
            if card is not None:
                card.setFocus()
        else:
            super().keyPressEvent(event)


def _fits(site: SiteView, letters: list[str]) -> bool:
    text = f"{site.spec.name} {address_words(site)} {site_style(site).word}".lower()
    return all(one in text for one in letters)
