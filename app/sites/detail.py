"""All about one site: state, plot, last test, computing elements, settings and the connection's log."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
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

from app import units
from app.sites.link_log import LinkLog
from app.sites.question import QuestionForm
from app.sites.site_style import address_words, site_style, state_sentence
from app.sites.test_line import TrialLine
from app.stores.sites import CONNECTED
from app.widgets import glyphs
from app.widgets.equipment import Equipment
from app.widgets.labels import label
from app.widgets.plots.deferred_plot import make_history_plot
from app.widgets.tool_button import tool_button
from broker_core.errors import CrossDeskError
from broker_core.jobs.site_names import element_words

if TYPE_CHECKING:
    from app.context import AppContext
    from app.sites.answers import SiteAnswers
    from app.sites.commands import SiteActions
    from app.widgets.plots.history_plot import HistoryPlot
    from broker_core.wire.resources import GpuCount
    from broker_core.wire.sites import QuestionView, SiteSpec, SiteView


_MOST_QUEUES = 8
"""Queues whose nodes are shown."""
_SERIES = (("running", "state-Running"), ("queued", "state-Scheduled"))


class SiteDetail(QWidget):
    """The page of one site, beside the cards or, where there is no room, instead of them."""

    def __init__(self, context: AppContext, commands: SiteActions, answers: SiteAnswers) -> None:
        super().__init__()
        self._context, self._commands, self._answers = context, commands, answers
        self._asks = False
        self.site: SiteView | None = None
        self.plot: HistoryPlot | None = None
        self.picture, self.name, self.word = QLabel(), label(role="title", fluid=True), label(role="strong")
        self.address, self.said = label(role="muted", wrap=True), label(wrap=True)
        self.heard = label(role="small", wrap=True)
        self.close_ = tool_button(context.theme.icon("x", "muted"), "Close the details")
        self.buttons = {
            name: QPushButton(name) for name in ("Test", "Connect now", "Drain", "Change…", "Remove…")
        }
        self.form, self.trial, self.log = QuestionForm(), TrialLine(context), LinkLog(context)
        self.nodes_line, self.measure = label(role="muted", wrap=True), QPushButton("Measure speed")
        self.none = label("The plot begins with the first jobs there.", "muted")
        self._facts: list[tuple[str, str]] = []
        self._described: tuple[list[str], list[GpuCount]] = [], []
        """Computing elements and GPUs of the site when its nodes were asked for."""
        self._lay_out()
        self._connect()

    # --- making

    def _lay_out(self) -> None:
        page = QWidget()
        column = self._column = QVBoxLayout(page)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(4)
        head = QHBoxLayout()
        head.setSpacing(8)
        for part, share in ((self.picture, 0), (self.name, 1), (self.word, 0), (self.close_, 0)):
            head.addWidget(part, share)
        column.addLayout(head)
        for part in (self.address, self.said, self.heard):
            part.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            column.addWidget(part)
        column.addWidget(self.form)
        row = QHBoxLayout()
        row.setContentsMargins(0, 8, 0, 0)
        row.setSpacing(4)
        for button in self.buttons.values():
            button.setStyleSheet("padding: 5px 8px;")
            row.addWidget(button)
        row.addStretch(1)
        column.addLayout(row)
        column.addWidget(self.trial)
        self._section("Your jobs there")
        column.addWidget(self.none)
        self._plot_place = column.count()
        self._section("Computing elements")
        self.ces = self._grid()
        self.equipment = Equipment()
        column.addLayout(self._nodes_row())
        column.addWidget(self.equipment)
        self._section("Settings")
        self.settings = self._grid()
        self._section("Log of the connection")
        column.addWidget(self.log)
        column.addStretch(1)
        self._scroll(page)

    def _nodes_row(self) -> QHBoxLayout:
        """What test jobs said of the nodes, and the way to know how fast they are."""
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self.nodes_line, 1)
        row.addWidget(self.measure, 0, Qt.AlignmentFlag.AlignTop)
        self.measure.setProperty("kind", "quiet")
        self.measure.setToolTip("A test job measures for some seconds how fast a core of its node is")
        return row

    def _scroll(self, page: QWidget) -> None:
        scroll = QScrollArea(widgetResizable=True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setAccessibleName("Details of the site")
        scroll.setWidget(page)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(scroll)

    def _section(self, heading: str) -> None:
        self._column.addSpacing(12)
        self._column.addWidget(label(heading, "section"))

    def _grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        self._column.addLayout(grid)
        return grid

    def _connect(self) -> None:
        commands = self._commands
        does: dict[str, Callable[[SiteView], object]] = {
            "Test": lambda site: commands.test(site.spec.name),
            "Connect now": lambda site: commands.connect_now(site.spec.name),
            "Drain": lambda site: (commands.resume if site.spec.drained else commands.drain)(site.spec.name),
            "Change…": commands.changeAsked.emit,
            "Remove…": commands.remove,
        }
        for name, act in does.items():
            self.buttons[name].clicked.connect(lambda _=False, act=act: act(self.site) if self.site else None)
        self.measure.clicked.connect(
            lambda: commands.test(self.site.spec.name, speed=True) if self.site else None
        )
        commands.tested.connect(lambda name: self._tested(name))
        self.form.answered.connect(self._answer)

    def _answer(self, question: QuestionView, value: str, keep: bool) -> None:
        if self.site is not None:
            self._answers.answer(self.site.spec.name, question, value, keep)

    # --- showing

    def show_site(self, site: SiteView) -> None:
        """Show a site as it is now."""
        other = self.site is None or self.site.spec.name != site.spec.name
        self.site = site
        theme, style = self._context.theme, site_style(site)
        self.picture.setPixmap(
            glyphs.pixmap(style.shape, theme.color(style.token), 16, self.devicePixelRatioF())
        )
        self.name.setText(site.spec.name)
        self.word.setText(style.word)
        self.word.setStyleSheet(f"color: {theme.color(style.token).name()}")
        self.address.setText(address_words(site))
        self.buttons["Connect now"].setVisible(site.link.state != CONNECTED)
        self.buttons["Test"].setVisible(site.link.state == CONNECTED)
        self.buttons["Drain"].setText("Resume" if site.spec.drained else "Drain")
        for button in self.buttons.values():
            button.setEnabled(not site.leaving)
        for name in ("Change…", "Remove…"):
            self.buttons[name].setVisible(site.removable)
        self._show_grid(self.ces, [_element(ce) for ce in site.ces] or [("none known yet", "")])
        self.nodes_line.setText(nodes_words(site))
        self.measure.setVisible(site.link.state == CONNECTED)
        self.measure.setEnabled(not site.leaving)
        self._show_settings(settings_lines(site.spec))
        self.trial.show_trial(self._commands.trials.get(site.spec.name))
        self.log.show_site(site.spec.name, other)
        self._context.run(self._show_history(site), "drawing the queue of the site")
        if other:
            self.equipment.show_details([])
        if other or (site.ces, site.gpus) != self._described:
            self._described = site.ces, site.gpus
            self._context.run(self._show_equipment(site), "asking what the site has")
        self.tell()

    def tell(self) -> None:
        """Say again what depends on the time."""
        if self.site is None:
            return
        now, question = time.time(), self.site.link.question if self._asks else None
        said = state_sentence(self.site, now)
        self.said.setText(said)
        self.said.setVisible(bool(said) and (question is None or question.text not in said))
        self.form.no_keyring(self._answers.no_keyring)
        self.form.ask(question, self._answers.note(question))
        heard = self.site.link.heard
        self.heard.setText(f"Heard from {units.ago(heard, now)}." if heard else "Never heard from yet.")
        self.heard.setVisible(self.site.spec.kind != "local")
        self.heard.setToolTip(units.exact(heard))

    def ask_here(self, asks: bool) -> None:
        """Ask the site's question here, where its card is not to be seen beside."""
        if asks != self._asks:
            self._asks = asks
            self.tell()

    def _tested(self, name: str) -> None:
        if self.site is not None and self.site.spec.name == name:
            self.trial.show_trial(self._commands.trials.get(name))

    async def _show_history(self, site: SiteView) -> None:
        several = len(site.times) > 1
        self.none.setVisible(not several)
        if several and self.plot is None:
            made = await make_history_plot(self._context.theme, _SERIES)
            if self.plot is None:
                self.plot = made
                self._column.insertWidget(self._plot_place, made)
        if self.plot is not None and self.site is site:
            self.plot.setVisible(several)
            self.plot.show_history(site.times, site.history_running, site.history_queued)

    async def _show_equipment(self, site: SiteView) -> None:
        try:
            details = [await self._context.client.resource(ce) for ce in site.ces[:_MOST_QUEUES]]
        except CrossDeskError:
            self._described = [], []  # the next view of the site asks again
            return
        if self.site is not None and self.site.spec.name == site.spec.name:
            self.equipment.show_details(details)

    def _show_settings(self, lines: list[tuple[str, str]]) -> None:
        if lines != self._facts:
            self._facts = lines
            self._show_grid(self.settings, lines)

    def _show_grid(self, grid: QGridLayout, lines: list[tuple[str, str]]) -> None:
        while (gone := grid.takeAt(0)) is not None:
            if (widget := gone.widget()) is not None:
                widget.deleteLater()
        for number, (name, said) in enumerate(lines):
            value = label(said, wrap=True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            value.setAccessibleName(f"{name}: {said}")
            grid.addWidget(label(name, "muted"), number, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(value, number, 1)


def _element(ce: str) -> tuple[str, str]:
    """Return queue of a computing element, and what it is called elsewhere."""
    return ce.rpartition("-")[2], element_words(ce)


def nodes_words(site: SiteView) -> str:
    """What test jobs said of the nodes of a site, as a sentence."""
    sees = _clause(site.nodes_see_directory, "see its directory")
    reach = _clause(site.nodes_reach_network, "reach the network")
    speed = f"the speed of a core is {site.speed:,}" if site.speed is not None else ""
    nodes = " and ".join(part for part in (sees, reach) if part)
    known = ", ".join(part for part in (f"nodes {nodes}" if nodes else "", speed) if part)
    return f"{known[0].upper()}{known[1:]}." if known else "A test job tells what the nodes are like."


def _clause(fact: bool | None, words: str) -> str:
    return "" if fact is None else words if fact else f"do not {words}"


def settings_lines(spec: SiteSpec) -> list[tuple[str, str]]:
    """Return name and value of each setting worth a line; defaults that say nothing are left out."""
    if spec.kind == "local":
        return [("Kind", "This machine: jobs run as your own processes")]
    lines = [
        ("Address", _address(spec)),
        ("Jump host", spec.jump),
        ("Directory", spec.directory or "~/.crossdesk"),
        ("Cluster", spec.cluster),
        ("Queues", ", ".join(spec.queues) or "all that are open"),
        ("Options", shlex.join(spec.options)),
        ("Variables", "\n".join(f"{name}={value}" for name, value in sorted(spec.environment.items()))),
        ("Proxy file", spec.proxy),
        ("Most jobs at once", f"{spec.max_jobs:,}" if spec.max_jobs else "no limit"),
        ("Checked", f"every {units.duration(spec.poll_interval)}, more rarely while nothing changes"),
        ("Batch system asked", _asked(spec)),
        ("Lease", _lease(spec.lease)),
        ("Other jobs", "" if spec.outside else "those submitted outside CrossDesk are not shown"),
        ("Network", "nodes can be called from other sites" if spec.reachable else ""),
    ]
    return [(name, value) for name, value in lines if value]


def _address(spec: SiteSpec) -> str:
    if spec.url:
        return spec.url
    if not spec.host:
        return "this machine, without SSH"
    host = f"{spec.user}@{spec.host}" if spec.user else spec.host
    return f"{host}, port {spec.port}" if spec.port else host


def _asked(spec: SiteSpec) -> str:
    if spec.kind in ("arc", "shell"):
        return ""
    return f"every {units.duration(spec.list_interval)}, sooner after a job that somebody looks at"


def _lease(lease: float) -> str:
    if not lease:
        return "none: jobs run on however long this broker is away"
    return f"a running job is ended after {units.duration(lease)} without contact"
