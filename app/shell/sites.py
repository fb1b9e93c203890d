"""The sites page: one card for each site, with its connection and its CPUs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.jobs.state_view import StateView, explain_error, explain_link
from app.model import words
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from app.shell.desk import WindowDesk
    from broker_core.wire.sites import SiteView

PERIOD = 3000
"""Milliseconds between two looks at the sites."""
_LINKS = {
    "connected": ("circle-check", "positive", "Connected"),
    "retrying": ("refresh-cw", "warning", "Retrying"),
    "needs credentials": ("lock", "warning", "Needs credentials"),
    "down": ("circle-alert", "negative", "Down"),
    "drained": ("circle-pause", "muted", "Drained: takes no new jobs"),
}


class SiteCard(QFrame):
    """One site."""

    def __init__(self, desk: WindowDesk, site: SiteView) -> None:
        super().__init__()
        self._desk = desk
        self.setProperty("role", "card")
        self.setMinimumWidth(300)
        self.setMaximumWidth(460)
        self._icon, self._name, self._link = QLabel(), QLabel(), QLabel()
        self._name.setFont(desk.theme.font("strong"))
        self._link.setProperty("role", "small")
        self._bar = QProgressBar(textVisible=False)
        self._cpus, self._numbers, self._age = QLabel(), QLabel(), QLabel()
        for label in (self._numbers, self._age):
            label.setProperty("role", "small")
        top = QHBoxLayout()
        top.addWidget(self._icon)
        top.addWidget(self._name)
        top.addStretch(1)
        top.addWidget(self._link)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(8)
        column.addLayout(top)
        for part in (self._cpus, self._bar, self._numbers, self._age):
            column.addWidget(part)
        self.show_site(site)

    def show_site(self, site: SiteView) -> None:
        """Show the numbers as they are."""
        icon, token, word = _LINKS.get(site.standing, ("circle-alert", "muted", site.standing))
        self._icon.setPixmap(self._desk.theme.icon(icon, token).pixmap(QSize(16, 16)))
        self._name.setText(site.name)
        self._link.setText(word)
        self._link.setToolTip(site.link.reason)
        self._bar.setAccessibleName(f"CPUs in use at {site.name}")
        self._bar.setRange(0, max(1, site.total_cpus))
        self._bar.setValue(site.total_cpus - site.free_cpus)
        self._cpus.setText(f"{site.free_cpus:,} of {words.count(site.total_cpus, 'CPU')} free")
        self._numbers.setText(
            f"{site.running:,} running, {site.queued:,} waiting"
            + (f", {site.done:,} ended well, {site.failed:,} failed" if site.done or site.failed else "")
        )
        heard = words.ago(site.link.heard, time.time()) or "never"
        self._age.setText(f"{', '.join(site.ces)}  ·  heard from {heard}")


class SitesPage(QWidget):
    """All sites; asked for every few seconds while it is in sight or the sidebar shows them."""

    def __init__(self, desk: WindowDesk) -> None:
        super().__init__()
        self._desk = desk
        self.setProperty("role", "surface")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.sites: list[SiteView] = []
        self._cards: dict[str, SiteCard] = {}
        self.state = StateView(desk.theme)
        self._said = ("loader-circle", "Looking for sites", "The broker asks what each of them has.")
        self._error = ""
        self._area = QScrollArea(widgetResizable=True)
        inner = QWidget()
        self._grid = QGridLayout(inner)
        self._grid.setContentsMargins(16, 16, 16, 16)
        self._grid.setSpacing(12)
        self._grid.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._area.setWidget(inner)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.state)
        column.addWidget(self._area)
        self._timer = QTimer(self, interval=PERIOD)
        self._timer.timeout.connect(self.look)
        self._timer.start()
        desk.link.changed.connect(self._linked)
        self._show()

    def _linked(self) -> None:
        if self._desk.link.up:
            self.look()
        else:
            self._show()

    def look(self) -> None:
        """Ask the broker for its sites."""
        if self._desk.link.up:
            self._desk.run(self._look(), "asking for the sites")

    async def _look(self) -> None:
        try:
            self.sites = await self._desk.client.sites()
        except CrossDeskError as error:
            self.show_error(error)
            return
        self._said, self._error = ("server", "No sites", "This broker has no site to run jobs at."), ""
        self._show()
        self.heard()

    def show_error(self, error: CrossDeskError) -> None:
        """Show why no site is known; cards that are already there stay."""
        self._error = str(error)
        self._show()

    def heard(self) -> None:
        """Called after each answer; the window puts the sidebar's update here."""

    def _show(self) -> None:
        self.state.setVisible(not self.sites)
        self._area.setVisible(bool(self.sites))
        self._area.setEnabled(self._desk.link.up)
        if not self.sites:
            self._explain()
        for place, site in enumerate(self.sites):
            if site.name in self._cards:
                self._cards[site.name].show_site(site)
            else:
                self._cards[site.name] = SiteCard(self._desk, site)
                self._grid.addWidget(self._cards[site.name], place // 2, place % 2)

    def _explain(self) -> None:
        if not self._desk.link.up:
            explain_link(self.state, self._desk)
        elif self._error:
            explain_error(self.state, "The sites", self._error, self.look)
        else:
            self.state.show_state(*self._said)
