"""Adding a site: where it is, what was found there, a test job, done. It never stands in the way."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.sites.adding.address_step import WhereStep
from app.sites.adding.discovery_step import LookStep
from app.sites.adding.found_step import FoundStep
from app.sites.adding.test_step import TrialStep
from app.widgets.labels import label
from broker_core.errors import CrossDeskError

if TYPE_CHECKING:
    from app.context import AppContext
    from app.sites.answers import SiteAnswers
    from app.sites.commands import SiteActions
    from broker_core.wire.sites import Detection, DetectRequest, QuestionAnswer, QuestionView, SiteSpec

WHERE, LOOKING, FOUND, TRIAL = range(4)
_TITLES = ("Where is it?", "Connecting", "What was found", "Trying it out")
_ASK_S = 0.4
"""Seconds between two looks at a detection that goes on."""


class AddSite(QDialog):
    """Four steps; Return goes on, Escape closes. Nothing is written down before “Add and test”."""

    added = Signal(str)
    """Name of the site that was added."""

    def __init__(
        self, context: AppContext, commands: SiteActions, answers: SiteAnswers, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._context, self._commands, self._answers = context, commands, answers
        self._task: asyncio.Future[object] | None = None
        self._request: DetectRequest | None = None
        self._detection = ""
        self._typed: dict[str, str] = {}
        """What was typed to open the host, by the names under which questions are kept."""
        self.setWindowTitle("Add a site")
        self.setObjectName("add-site")
        self.setModal(False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(640, 540)
        self.title, self.progress = label(role="title"), label(role="small")
        self.where, self.look = WhereStep(context), LookStep()
        self.found, self.trial = FoundStep(context), TrialStep(context, commands, answers)
        self.steps = QStackedWidget()
        self.back, self.next, self.cancel = QPushButton("Back"), QPushButton("Connect"), QPushButton("Cancel")
        self._lay_out()
        self._connect()
        answers.begin()
        self.go(WHERE)

    # --- making

    def _lay_out(self) -> None:
        for step in (self.where, self.look, self.found, self.trial):
            area = QScrollArea(widgetResizable=True)
            area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            inner = QWidget()
            column = QVBoxLayout(inner)
            column.setContentsMargins(24, 4, 24, 8)
            column.addWidget(step)
            column.addStretch(1)
            area.setWidget(inner)
            self.steps.addWidget(area)
        head = QVBoxLayout()
        head.setContentsMargins(24, 20, 24, 8)
        head.setSpacing(2)
        head.addWidget(self.title)
        head.addWidget(self.progress)
        foot = QHBoxLayout()
        foot.setContentsMargins(24, 8, 24, 16)
        foot.setSpacing(8)
        foot.addWidget(self.back)
        foot.addStretch(1)
        foot.addWidget(self.cancel)
        foot.addWidget(self.next)
        for button in (self.back, self.cancel):
            button.setAutoDefault(False)
        self.next.setDefault(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.steps, 1)
        column.addLayout(foot)

    def _connect(self) -> None:
        self.where.asked.connect(self.detect)
        self.look.form.answered.connect(self._answered)
        self.next.clicked.connect(self._go_on)
        self.back.clicked.connect(self._go_back)
        self.cancel.clicked.connect(self.reject)
        self.trial.changed.connect(self._tried)
        self._answers.told.connect(self._told)

    # --- steps

    @property
    def step(self) -> int:
        """The step that is shown."""
        return self.steps.currentIndex()

    def go(self, step: int) -> None:
        """Show a step and give it the keyboard."""
        self.steps.setCurrentIndex(step)
        self._dress()
        taker = (self.where.take_focus, self.look.take_focus, self.next.setFocus, self.next.setFocus)[step]
        taker()

    def _dress(self) -> None:
        step = self.step
        self.title.setText(_TITLES[step])
        self.progress.setText(f"Step {step + 1} of 4")
        self.back.setVisible(step in (LOOKING, FOUND))
        failed = step == LOOKING and self.look.failed
        self.next.setVisible(failed if step == LOOKING else step != TRIAL or self.trial.over)
        self.next.setEnabled(step != FOUND or self.found.usable)
        again = step == TRIAL and self.trial.over and not self.trial.well
        words = ("Connect", "Try again", "Add and test", "Test again" if again else "Done")
        self.next.setText(words[step])
        self.cancel.setText("Close" if step == TRIAL else "Cancel")
        self.cancel.setVisible(step != TRIAL or again or not self.trial.over)

    def _tried(self) -> None:
        """The test goes on, or is over: then Return is for what comes next."""
        waited = self.next.isHidden()
        self._dress()
        if waited and not self.next.isHidden() and self.trial.form.question is None:
            self.next.setFocus()

    def _go_on(self) -> None:
        match self.step:
            case 0:
                self.where.look()
            case 1 if self._request is not None:
                self.detect(self._request)
            case 2:
                self._add()
            case 3 if self.trial.over and not self.trial.well:
                self.trial.again()
            case 3:
                self.accept()

    def _go_back(self) -> None:
        self._stop()
        self.go(WHERE)

    # --- looking

    def detect(self, request: DetectRequest) -> None:
        """Look what is at a host."""
        self._stop()
        self._request = request
        self.look.begin(request)
        self.go(LOOKING)
        self._task = self._context.run(self._detect(request), "looking what is there")

    async def _detect(self, request: DetectRequest) -> None:
        try:
            found = await self._context.client.detect_site(request)
            while found.state in ("looking", "question"):
                await self._meet(found)
                await asyncio.sleep(_ASK_S)
                found = await self._context.client.detection(found.id)
        except CrossDeskError as error:
            self.look.fail(str(error))
            self._dress()
            return
        if found.state == "found":
            self._answers.accepted(_place(found.id))
            self.found.show_found(found)
            self.go(FOUND)
        else:
            self.look.fail(found.reason or "Nothing was found there.")
            self._dress()

    async def _meet(self, found: Detection) -> None:
        """Show how far it is; a question is answered from the keyring once, else by the user."""
        question = found.question if found.state == "question" else None
        if question is not None and not self.look.knows(question):

            async def send(answer: QuestionAnswer) -> object:
                return await self._context.client.answer_detection(found.id, answer)

            if await self._answers.without_asking(_place(found.id), question, send):
                self.look.show_found(found, None)
                return
            self._detection = found.id
        self.look.no_keyring(self._answers.no_keyring)
        self.look.show_found(found, question, self._answers.note(question))

    def _answered(self, question: QuestionView, value: str, keep: bool) -> None:
        if not value:
            self._go_back()
            return
        if question.keep_as:
            self._typed[question.keep_as] = value
        detection = self._detection

        async def send(answer: QuestionAnswer) -> object:
            return await self._context.client.answer_detection(detection, answer)

        self._context.run(self._answers.give(_place(detection), question, value, keep, send), "answering")

    def _told(self) -> None:
        self.look.no_keyring(self._answers.no_keyring)

    # --- adding

    def _add(self) -> None:
        spec = self.found.spec()
        if spec is not None:
            self.next.setEnabled(False)
            self._task = self._context.run(self._add_it(spec), f"adding {spec.name}")

    async def _add_it(self, spec: SiteSpec) -> None:
        self._answers.hold(self._typed)
        try:
            added = await self._context.client.add_site(spec)
        except CrossDeskError as error:
            self.found.tell(str(error))
            self.next.setEnabled(True)
            return
        self._context.sites.reload()
        self.added.emit(added.spec.name)
        self.trial.begin(added.spec.name)
        self.go(TRIAL)

    # --- ending

    def _stop(self) -> None:
        self._typed.clear()
        self._answers.hold({})
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def done(self, result: int) -> None:
        """Stop looking when the window goes."""
        self._stop()
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Closing is cancelling; a site that was added stays."""
        self._stop()
        super().closeEvent(event)


def _place(detection: str) -> str:
    """Return who asks, as answers are remembered: no name of a site has a blank."""
    return f"detection {detection}"
