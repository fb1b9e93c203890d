"""Pictures of the console in every state, light and dark, narrow and wide, for people to look at."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.console.session_style import sentence, style_of_session
from app.console.view import ALWAYS, ConsoleView
from app.inspector.inspector import Inspector
from app.theme.theme import Theme
from app.theme.tokens import Mode
from app.widgets.state_style import StateShape
from broker_core.client.client import BrokerClient
from broker_core.client.interactive import ENDED, ForwardView, ServiceState, ServiceView, SessionState, Status
from broker_core.errors import Unreachable
from tests.app.inspector.recorded import JOB, RecordedBroker, TestContext, row, story

SCREENS = Path(__file__).parents[3] / "build" / "screenshots"
SIZES = ((384, 560), (1000, 640))
TEXT = "".join(
    f"\x1b[1;34mann@node17\x1b[0m:\x1b[32m~/train\x1b[0m$ python step.py {step}\r\n"
    f"\x1b[38;2;200;120;{step * 30}mepoch {step:3}\x1b[0m loss \x1b[1m{1 / (step + 1):.4f}\x1b[0m 漢字 é "
    f"\x1b[42;30m ok \x1b[0m\r\n"
    for step in range(8)
)
LINES = "".join(f"row {number}: taken\r\n" for number in range(12))
FORWARDS = (
    ForwardView("local", "127.0.0.1:41207", "localhost:8888", 18_234, 2_400_113, 2),
    ForwardView("socket", "/tmp/run/control.sock", "/scratch/job17/control.sock", 0, 0, 0),
    ForwardView("local", "127.0.0.1:5432", "db.example.org:5432", 0, 0, 0,
                "db.example.org:5432: Connection refused"),
    ForwardView("dynamic", "127.0.0.1:1080", "where programs ask for", 2_113, 81_022, 1),
    ForwardView("remote", "localhost:9000", "127.0.0.1:9000", 0, 0, 0),
)  # fmt: skip
SERVICES = (
    ServiceView("JupyterLab", ServiceState.READY),
    ServiceView("TensorBoard of the third run", ServiceState.STARTING),
    ServiceView("Results", ServiceState.ENDED),
    ServiceView("<b>Board</b>", ServiceState.REFUSED, "Port 6006 of the node is used by another account."),
)
NOTICE = (
    "No terminal: the plain agent is used (the node has an ARM processor). Lines go to and fro, Enter sends "
    "them; there is no window size, and there are no forwards and no files (SFTP)."
)
HERE = Status(SessionState.CONNECTED, mode="terminal", writer=True, viewers=1, node="node17.example.org")
LOST = Status(
    SessionState.BUFFERING, "The connection broke.",
    writer=True, viewers=1, retries=4, waiting=48_213, unsent=12,
)  # fmt: skip
STATES: dict[str, tuple[Status, str]] = {
    "starting": (Status(reason="The job is in the queue of cluster-b; its agent is not there yet."), ""),
    "connected": (HERE, TEXT),
    "services": (replace(HERE, services=SERVICES), TEXT),
    "silent": (replace(HERE, silent=7, unsent=12), TEXT),
    "watching": (
        Status(SessionState.CONNECTED, mode="terminal", viewers=3, node="node17.example.org"),
        TEXT,
    ),
    "free": (
        Status(SessionState.CONNECTED, mode="terminal", viewers=1, taken=False, node="node17.example.org"),
        TEXT,
    ),
    "lost": (
        replace(LOST, mode="terminal"),
        TEXT,
    ),
    "catching-up": (
        Status(SessionState.DRAINING, mode="terminal", writer=True, viewers=1, waiting=734_003),
        TEXT,
    ),
    "dead": (
        Status(SessionState.DEAD, "The agent waited too long for a desk and ended the program."),
        TEXT,
    ),
    "closed": (Status(SessionState.CLOSED, mode="terminal", exit_code=0), TEXT),
    "unseen": (
        Status(SessionState.CLOSED, mode="terminal", exit_code=0, reason="The job has ended."),
        TEXT,
    ),
    "killed": (
        Status(
            SessionState.CLOSED,
            mode="terminal",
            reason="The interactive agent was killed by signal 9, and the program ended with it.",
        ),
        TEXT,
    ),
    "failed": (Status(SessionState.CLOSED, mode="terminal", exit_code=3), TEXT),
    "signal": (Status(SessionState.CLOSED, mode="terminal", signal=9), TEXT),
    "refused": (
        Status(SessionState.REFUSED, "This desk was not known to the broker when the job was submitted."),
        "",
    ),
    "lines-carried": (
        Status(SessionState.CONNECTED, mode="lines", writer=True, viewers=1, node="node17", notice=NOTICE),
        LINES,
    ),
    "lines": (
        Status(SessionState.CONNECTED, mode="lines", writer=True, viewers=1, node="node17", unsent=2_112),
        LINES,
    ),
}


@pytest.fixture
def context(qapp: QApplication, tmp_path: Path, loop: asyncio.AbstractEventLoop) -> TestContext:
    return TestContext(Theme(qapp, Mode.LIGHT), RecordedBroker(tmp_path))


@pytest.fixture
def console(qtbot: QtBot, context: TestContext) -> Iterator[ConsoleView]:
    """A console whose broker is silent: what it shows is told by the test."""
    enough = threading.Event()

    async def silent() -> BrokerClient:
        await asyncio.to_thread(enough.wait)
        raise Unreachable("There is no broker.")

    made = ConsoleView(context, JOB, silent)
    qtbot.addWidget(made)
    made.show()
    yield made
    enough.set()
    made.close_session()


def shoot(widget: Any, context: TestContext, name: str, turn: Any) -> None:
    SCREENS.mkdir(parents=True, exist_ok=True)
    for mode in (Mode.LIGHT, Mode.DARK):
        context.theme.wear(mode)
        for width, height in SIZES:
            widget.resize(width, height)
            turn()
            assert widget.width() == width, "everything fits into a narrow pane"
            path = SCREENS / f"console-{name}-{mode.value}-{width}.png"
            assert widget.grab().save(str(path))


@pytest.mark.parametrize("name", STATES)
def test_every_state_has_its_picture(
    console: ConsoleView, context: TestContext, until: Any, name: str
) -> None:
    status, text = STATES[name]
    console.channel.status.emit(status)
    console.terminal.feed(text.encode())
    until(lambda: not console.terminal.behind)
    shoot(console, context, name, QApplication.processEvents)
    assert console.toolbar.accessibleName().startswith(console.toolbar.word.text())
    assert console.entry.isVisible() == name.startswith("lines")
    assert console.lacking.isVisible() == bool(status.notice)
    assert console.toolbar.tools["forwards"].isEnabled() == (status.state not in ENDED and not status.notice)


@pytest.mark.parametrize(
    ("end", "shape"),
    [
        ({"exit_code": 0}, StateShape.CHECK),
        ({"exit_code": 3}, StateShape.CROSS),
        ({"signal": 9}, StateShape.CROSS),
        ({"reason": "The agent was killed."}, StateShape.QUESTION),
    ],
)
def test_an_end_that_is_no_success_does_not_look_like_one(end: dict[str, int], shape: StateShape) -> None:
    face = style_of_session(Status(SessionState.CLOSED, **end))  # type: ignore[arg-type]
    assert (face.word, face.shape) == ("Closed", shape)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "lost",
            (
                "the connection is lost, the program runs on, 47.1 KiB of output kept at the node; try 4"
                " · 12 B of input not sent yet"
            ),
        ),
        ("catching-up", "what was missed comes first, 717 KiB are left"),
        ("watching", "at node17.example.org · open at 3 places · read only: another window has the keyboard"),
        ("free", "at node17.example.org · nobody types"),
        ("dead", "The agent waited too long for a desk and ended the program."),
        ("unseen", "the program has ended with exit code 0; its last output may be missing here"),
    ],
)
def test_counts_and_reasons_are_told(name: str, told: str) -> None:
    assert sentence(STATES[name][0]) == told


def test_a_cut_that_lasts_is_a_notice_until_it_is_over(console: ConsoleView, context: TestContext) -> None:
    for retries in (0, 1):
        console.channel.status.emit(replace(LOST, retries=retries))
    assert context.notices == []
    for retries in (2, 3):
        console.channel.status.emit(replace(LOST, retries=retries))
    console.channel.status.emit(HERE)
    assert context.notices == [
        f"No connection to “{JOB}”. It runs on, and its output is kept at the node.",
        f"over: buffering {JOB}",
    ]


def test_a_silent_agent_is_told_with_what_can_be_done(console: ConsoleView) -> None:
    toolbar = console.toolbar
    console.channel.status.emit(replace(HERE, silent=7, unsent=12))
    assert (toolbar.word.text(), toolbar.act.text()) == ("Connected", "Try now")
    assert toolbar.told.text() == "at node17.example.org · no answer for 7 s · 12 B of input not sent yet"
    console.channel.status.emit(HERE)
    assert toolbar.told.text() == "at node17.example.org"


def test_windows_of_the_program_are_offered_where_they_can_be_shown(
    console: ConsoleView, monkeypatch: pytest.MonkeyPatch
) -> None:
    for display, offered in (("", ""), (":7", "Show windows")):
        monkeypatch.setenv("DISPLAY", display)
        console.channel.status.emit(replace(HERE, windows=2))
        assert console.toolbar.act.text() == offered
        assert "2 windows wait" in console.toolbar.told.text()


def test_lines_that_wait_have_their_picture(console: ConsoleView, context: TestContext, until: Any) -> None:
    console.channel.status.emit(replace(LOST, mode="lines"))
    console.terminal.feed(LINES.encode())
    for text in (
        "calibrate 12 --fast",
        "step 400",
        "a line that is longer than a narrow pane is wide, and goes on",
    ):
        console.entry.line.setText(text)
        console.entry.line.returnPressed.emit()
    console.entry.end.click()
    until(lambda: not console.terminal.behind)
    shoot(console, context, "lines-waiting", QApplication.processEvents)
    assert console.entry.lines.isVisible()
    assert not console.entry.line.isEnabled()


def test_a_program_is_asked_for_before_it_reaches_the_clipboard(
    console: ConsoleView, context: TestContext, until: Any
) -> None:
    QGuiApplication.clipboard().setText("mine")
    console.channel.status.emit(HERE)
    console.terminal.feed(TEXT.encode() + b"\x1b]52;c;bXY6b25lCnR3bw==\x07")
    until(console.asks.isVisible)
    assert "10 characters" in console.asks.text.text()
    assert "mv:one two" in console.asks.text.text()
    assert QGuiApplication.clipboard().text() == "mine"
    shoot(console, context, "clipboard", QApplication.processEvents)
    console.asks.buttons[ALWAYS].click()
    assert QGuiApplication.clipboard().text() == "mv:one\ntwo"
    assert not console.asks.isVisible()
    console.terminal.feed(b"\x1b]52;c;bmV4dA==\x07")
    until(lambda: QGuiApplication.clipboard().text() == "next")


def test_forwards_have_their_picture(console: ConsoleView, context: TestContext, until: Any) -> None:
    console.channel.status.emit(Status(SessionState.CONNECTED, mode="terminal", writer=True, node="node17"))
    console.terminal.feed(TEXT.encode())
    console.toolbar.tools["forwards"].click()
    until(lambda: not console.terminal.behind)
    shoot(console, context, "forwards-none", QApplication.processEvents)
    console.channel.status.emit(
        Status(SessionState.CONNECTED, mode="terminal", writer=True, node="node17", forwards=FORWARDS)
    )
    shoot(console, context, "forwards", QApplication.processEvents)
    assert len(console.forwards.rows) == 5


def test_one_forward_takes_no_more_room_than_it_needs(
    console: ConsoleView, context: TestContext, until: Any
) -> None:
    console.toolbar.tools["forwards"].click()
    console.channel.status.emit(replace(HERE, forwards=FORWARDS[:1]))
    shoot(console, context, "forwards-one", QApplication.processEvents)
    (row,) = console.forwards.rows.values()
    until(lambda: row.height() < 64 and console.forwards.height() < 120)


def test_a_refusal_has_its_picture_with_both_buttons(qtbot: QtBot, context: TestContext, until: Any) -> None:
    inspector = Inspector(context)
    qtbot.addWidget(inspector)
    inspector.show()
    why = (
        "An interactive job cannot start here at once: local: 0 of 2 CPUs are free. Submit it as a batch "
        "job, or again when a site can take it."
    )
    context.put(row("Aborted", interactive=True, started=None, reason=why), story())
    inspector.show_jobs([JOB])
    inspector.show_tab("console")
    empty_state = inspector.panes["console"].empty_state
    until(empty_state.other.isVisible)
    shoot(inspector, context, "refusal", QApplication.processEvents)
    empty_state.other.click()
    assert context.triggered == ["job.batch"]


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ("Waiting", "It waits for a resource; Story says why."),
        ("Scheduled", "It is in the site's queue."),
    ],
)
def test_a_job_that_waits_has_its_picture(
    qtbot: QtBot, context: TestContext, until: Any, state: str, why: str
) -> None:
    inspector = Inspector(context)
    qtbot.addWidget(inspector)
    inspector.show()
    context.put(row(state, interactive=True, started=None), story())
    inspector.show_jobs([JOB])
    inspector.show_tab("console")
    empty_state = inspector.panes["console"].empty_state
    until(lambda: empty_state.sentence.text() == why)
    shoot(inspector, context, f"queued-{state.lower()}", QApplication.processEvents)
