"""Services of real jobs in the window: from the sample on the welcome page to the page in a browser."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial

import pytest
from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication

from app.console.channel import ConsoleChannel
from app.console.pane import FIND_SERVICES, ConsolePane
from app.console.services import ServiceList
from app.inspector.inspector import Inspector
from app.theme.theme import Theme
from app.theme.tokens import Mode
from app.welcome.pane import WelcomePane
from broker_core.client.connect import connect
from broker_core.client.interactive import ServiceState, ServiceView
from broker_core.client.prepare import prepare
from broker_core.client.samples import sample
from tests.app.inspector.recorded import TestContext
from tests.app.windows import Stage, play
from tests.interactive.pages import page
from tests.running import RunningBroker
from tests.waiting import eventually


class Browser(QObject):
    """What is opened in the browser of this desk."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    @Slot(QUrl)
    def take(self, url: QUrl) -> None:
        self.addresses.append(url.toString(QUrl.ComponentFormattingOption.FullyEncoded))


@pytest.fixture
def browser(qapp: QApplication) -> Iterator[Browser]:
    made = Browser()
    QDesktopServices.setUrlHandler("http", made, "take")
    yield made
    QDesktopServices.unsetUrlHandler("http")


def console_of(stage: Stage, job: str) -> ConsolePane:
    stage.window.tabs.setCurrentWidget(stage.window.jobs)
    stage.context.show_job(job)
    inspector = stage.window.inspector
    assert inspector is not None
    inspector.show_tab("console")
    pane = inspector.panes["console"]
    assert isinstance(pane, ConsolePane)
    return pane


def test_one_click_leads_from_the_sample_to_its_page(
    qapp: QApplication, running_broker: RunningBroker, browser: Browser
) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.ready()
        told: list[str] = []
        stage.context.noticed.connect(lambda notice: told.append(notice.text))
        stage.context.trigger("file.sample")
        welcome = stage.window.tabs.currentWidget()
        assert isinstance(welcome, WelcomePane)
        card = next(one for one in welcome.cards if "Serve a page" in one.run.accessibleName())
        await eventually(card.run.isEnabled)
        card.run.click()
        await eventually(lambda: browser.addresses, what="the page is opened")
        (address,) = browser.addresses
        assert b"serve.py" in await asyncio.to_thread(page, address)
        inspector = stage.window.tabs.currentWidget()
        assert isinstance(inspector, Inspector)
        pane = inspector.panes["console"]
        assert isinstance(pane, ConsolePane)
        (view,) = pane.views.values()
        (line,) = view.services.lines.values()
        assert line.words.text() == "Files of the job is ready"
        line.button.click()
        await eventually(lambda: len(browser.addresses) == 2, what="it is opened once more")
        assert browser.addresses[1] == address
        await stage.context.client.cancel(list(pane.views))
        await eventually(lambda: line.words.text() == "Files of the job has ended")
        assert not line.button.isVisible()
        assert address.partition("token=")[2] not in " ".join(told)

    play(qapp, running_broker.state_dir, scenario)


def test_services_of_a_batch_job_are_looked_for_on_demand(
    qapp: QApplication, running_broker: RunningBroker, browser: Browser
) -> None:
    async def scenario(stage: Stage) -> None:
        await stage.ready()
        text = 'Executable = "serve.py"; InputSandbox = {"serve.py"};'
        prepared = await prepare(text, sample("web-page").folder)
        (job,) = (await stage.context.client.submit_prepared(prepared)).ids
        await eventually(lambda: (stage.context.jobs.row(job) or {}).get("state") == "Running")
        pane = console_of(stage, job)
        await eventually(lambda: pane.empty_state.button.text() == FIND_SERVICES, what="it is offered")
        pane.empty_state.button.click()
        view = pane.services[job]
        lines = view.services.lines
        await eventually(lambda: [one for one in lines.values() if one.button.isVisibleTo(view)])
        (line,) = view.services.lines.values()
        line.button.click()
        await eventually(lambda: browser.addresses, what="the page is opened")
        assert b"serve.py" in await asyncio.to_thread(page, browser.addresses[0])
        await stage.context.client.cancel([job])
        await eventually(lambda: view.over, what="they are over with the job")

    play(qapp, running_broker.state_dir, scenario)


def test_names_of_services_are_no_markup(qapp: QApplication) -> None:
    context = TestContext(Theme(qapp, Mode.LIGHT), None)
    channel = ConsoleChannel(partial(connect, None), "job", 80, 24)
    shown = ServiceList(context, "job", channel)
    bad = ServiceView("<b>x</b>\x1b[0m", ServiceState.REFUSED, "Port 1 is\u202e used by another account.")
    shown.show_services((bad, ServiceView("a", ServiceState.STARTING)), over=False)
    first, second = shown.lines.values()
    assert first.words.text() == "<b>x</b>\\x1b[0m is not opened: Port 1 is\\u202e used by another account."
    assert first.words.textFormat().name == "PlainText"
    assert second.words.text() == "a is starting"
    shown.show_services((ServiceView("a", ServiceState.READY),), over=True)
    assert [line.words.text() for line in shown.lines.values()] == ["a has ended"]
    shown.deleteLater()


def test_services_are_exported_with_what_is_said_of_them(
    qapp: QApplication, loop: asyncio.AbstractEventLoop
) -> None:
    context = TestContext(Theme(qapp, Mode.LIGHT), None)
    shown = ServiceList(context, "job", ConsoleChannel(partial(connect, None), "job", 80, 24))
    bad = ServiceView("x\x1b[0m", ServiceState.REFUSED, "Port 1 is used by another account.")
    shown.show_services((bad, ServiceView("a", ServiceState.STARTING)), over=False)
    assert [one.text() for one in shown.actions()] == ["Export services as CSV…"]
    written = loop.run_until_complete(shown.gather())
    assert written.header == ["service", "state", "problem"]
    assert written.rows == [
        ["x\\x1b[0m", "refused", "Port 1 is used by another account."],
        ["a", "starting", ""],
    ]
    shown.deleteLater()
