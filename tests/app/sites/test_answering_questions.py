"""Questions of sites: on the card, from the keyring once, kept only if that is wanted."""

from __future__ import annotations

import asyncio

import keyring
import pytest
from keyring.backend import KeyringBackend
from PySide6.QtTest import QTest

from app.sites.question import REFUSED
from broker_core.client.keyring_access import SERVICE
from broker_core.wire.sites import LinkView
from tests.app.sites.conftest import Act
from tests.app.sites.made_up import PASSPHRASE, SitesBroker, site
from tests.app.sites.pages import page_of
from tests.app.windows import Stage, turns
from tests.waiting import eventually


class HeldKeyring(KeyringBackend):
    """A keyring that holds its entries in memory: a stand-in, because none runs without a desktop session."""

    priority = -1  # never chosen by itself

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[tuple[str, str], str] = {}
        self.read = 0

    def get_password(self, service: str, username: str) -> str | None:
        self.read += 1
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]


@pytest.fixture
def held() -> object:
    before, made = keyring.get_keyring(), HeldKeyring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


def asking(number: int = 1) -> SitesBroker:
    question = PASSPHRASE.model_copy(update={"id": f"q{number}"})
    return SitesBroker([site("far", state="needs credentials", question=question, reason=question.text)])


def test_a_long_question_is_read_whole_on_its_card(act: Act, held: HeldKeyring) -> None:
    text = "THE KEY HAS CHANGED. " + "Ask the site before you go on. " * 10 + f"SHA256:{'W' * 43} is shown:"
    question = PASSPHRASE.model_copy(update={"kind": "changed-host", "text": text, "keep_as": ""})

    async def scene(on: Stage, broker: SitesBroker) -> None:
        told: list[str] = []
        on.context.noticed.connect(lambda notice: told.append(notice.text))
        broker.views = [
            site(name, state="needs credentials", question=question, reason=text) for name in ("a", "b")
        ]
        on.context.sites.reload()
        page = page_of(on)
        await eventually(lambda: "b" in page.cards)
        form = page.cards["b"].form
        await eventually(lambda: form.text.height() >= form.text.heightForWidth(form.text.width()) > 60)
        assert form.field.width() > page.cards["b"].width() // 2
        assert form.text.width() < page.cards["b"].width()
        assert not page.cards["b"].said.isVisible()
        await eventually(lambda: "a needs an answer: THE KEY HAS CHANGED" in told, what="a short notice")

    act(SitesBroker([]), scene)


def test_a_question_is_told_calmly_and_answered_on_the_card(act: Act, held: HeldKeyring) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        said: list[str] = []
        on.context.noticed.connect(lambda notice: said.append(notice.text))
        broker.views = asking().views
        on.context.sites.reload()
        page = page_of(on)
        await eventually(lambda: "far" in page.cards and said)
        form = page.cards["far"].form
        assert "far needs an answer" in said[0]
        await eventually(lambda: form.keep.isVisible())
        assert not form.keep.isChecked()
        QTest.keyClicks(form.field, "open sesame")
        form.keep.click()
        form.yes.click()
        await eventually(lambda: broker.answers)
        await turns()
        assert held.entries == {}, "it is not known yet whether it is right"
        broker.views = [site("far")]
        on.context.sites.reload()
        await eventually(lambda: held.entries)
        assert held.entries == {(SERVICE, PASSPHRASE.keep_as): "open sesame"}
        assert [one.value for _, one in broker.answers] == ["open sesame"]
        assert all("sesame" not in text for text in said)

    act(SitesBroker([]), scene)


def test_a_wrong_answer_is_never_kept_and_the_right_one_takes_the_place_of_what_was(
    act: Act, held: HeldKeyring
) -> None:
    held.entries[SERVICE, PASSPHRASE.keep_as] = "out of date"

    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: "far" in page.cards and broker.answers)
        form = page.cards["far"].form
        for number, typed in ((2, "a slip"), (3, "open sesame")):
            broker.views = asking(number).views
            on.context.sites.reload()
            await eventually(lambda: form.question is not None and form.question.id == f"q{number}")  # noqa: B023
            await eventually(lambda: form.keep.isChecked(), what="the refused one is to be replaced")
            QTest.keyClicks(form.field, typed)
            form.yes.click()
            await eventually(lambda: broker.answers[-1][1].value == typed)  # noqa: B023
            assert held.entries == {(SERVICE, PASSPHRASE.keep_as): "out of date"}
        broker.views = [site("far")]
        on.context.sites.reload()
        await eventually(lambda: held.entries == {(SERVICE, PASSPHRASE.keep_as): "open sesame"})

    act(asking(), scene)


def test_sites_that_ask_the_same_are_answered_each_and_once_more_after_a_restart_of_the_broker(
    act: Act, held: HeldKeyring
) -> None:
    held.entries[SERVICE, PASSPHRASE.keep_as] = "open sesame"
    both = ["far", "near"]

    async def scene(on: Stage, broker: SitesBroker) -> None:
        for count in (2, 4):
            broker.views = [site(name, state="needs credentials", question=PASSPHRASE) for name in both]
            on.context.sites.reload()
            await eventually(lambda: len(broker.answers) == count)  # noqa: B023
            assert {name for name, _ in broker.answers[-2:]} == {"far", "near"}
            broker.views = [site(name) for name in both]
            on.context.sites.reload()
            await eventually(lambda: all(one.link.question is None for one in on.context.sites.views))

    act(SitesBroker([]), scene)


def test_a_narrow_window_asks_on_the_page_of_the_site_that_hides_the_cards(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: "far" in page.cards)
        page.choose("far")
        page.setFixedWidth(600)
        form = page.detail.form
        await eventually(lambda: form.field.isVisible() and not page.cards["far"].isVisible())
        assert not page.detail.said.isVisible(), "nothing is said twice"
        QTest.keyClicks(form.field, "open sesame")
        form.yes.click()
        await eventually(lambda: broker.answers)
        page.setFixedWidth(1200)
        await eventually(lambda: page.cards["far"].form.isVisible() and not form.isVisible())

    act(asking(), scene)


def test_nothing_is_kept_that_was_not_wanted(act: Act, held: HeldKeyring) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: "far" in page.cards)
        form = page.cards["far"].form
        QTest.keyClicks(form.field, "open sesame")
        form.yes.click()
        await eventually(lambda: broker.answers)
        broker.views = [site("far")]
        on.context.sites.reload()
        await eventually(lambda: form.question is None)
        await turns()
        assert held.entries == {}

    act(asking(), scene)


def test_a_kept_answer_is_tried_once_and_never_again_after_it_was_refused(
    act: Act, held: HeldKeyring
) -> None:
    held.entries[SERVICE, PASSPHRASE.keep_as] = "out of date"

    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: broker.answers)
        assert broker.answers[0][1].value == "out of date"
        for again in (2, 3):
            broker.views = asking(again).views
            on.context.sites.reload()
            await eventually(lambda: page.cards["far"].form.note.text() == REFUSED)
            await eventually(lambda id_=f"q{again}": page.cards["far"].form.question.id == id_)
        assert len(broker.answers) == 1
        assert held.read == 1
        broker.views = [site("far")]
        on.context.sites.reload()
        await eventually(lambda: page.cards["far"].form.question is None)
        broker.views = asking(4).views
        on.context.sites.reload()
        await eventually(lambda: len(broker.answers) == 2, what="it had worked, so it is tried once more")

    act(asking(), scene)


def test_without_a_keyring_it_is_said_why_each_time(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: "far" in page.cards)
        form = page.cards["far"].form
        await eventually(lambda: form.why.isVisible())
        assert "asked each time" in form.why.text()
        assert not form.keep.isVisible()

    act(asking(), scene)


def test_a_keyring_that_blocks_holds_up_neither_window_nor_exit(act: Act, held: HeldKeyring) -> None:
    import threading

    gate = threading.Event()
    held.get_password = lambda service, username: gate.wait(60) and None  # type: ignore[method-assign]

    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: "far" in page.cards)
        form = page.cards["far"].form
        await asyncio.sleep(0)
        QTest.keyClicks(form.field, "typed meanwhile")
        form.yes.click()
        await eventually(lambda: broker.answers)

    act(asking(), scene)
    gate.set()


def test_an_answer_never_shows_in_a_repr() -> None:
    from broker_core.wire.sites import QuestionAnswer

    assert "sesame" not in repr(QuestionAnswer(id="q", value="open sesame"))
    assert LinkView(state="connected").question is None
