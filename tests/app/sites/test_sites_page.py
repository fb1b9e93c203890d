"""The sites page before sites in every state: what it shows, what it counts down, what its buttons ask."""

from __future__ import annotations

import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMessageBox, QPushButton

from app.sites.page import SitesPage
from app.sites.site_style import (
    heard_sentence,
    sidebar_count,
    site_style,
    slots_words,
    state_sentence,
    success_sentence,
    success_words,
)
from app.stores.link import ConnectionState
from broker_core.errors import CrossDeskError
from tests.app.sites.conftest import Act
from tests.app.sites.made_up import NOTHING, SitesBroker, every_state, site
from tests.app.sites.pages import page_of
from tests.app.windows import Stage, turns
from tests.waiting import eventually


def _boxes(on: Stage) -> list[QMessageBox]:
    return on.window.findChildren(QMessageBox)


def test_each_site_has_a_card_with_shape_word_and_numbers(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: len(page.cards) == len(broker.views))
        card = page.cards["cluster-a"]
        assert (card.word.text(), card.queued.value.text(), card.running.value.text()) == (
            "Connected",
            "12",
            "34",
        )
        assert card.cpus.value.text() == "41 of 128"
        assert (card.hourly.value.text(), card.rate.value.text()) == ("42", "98 %")
        words = {name: one.word.text() for name, one in page.cards.items()}
        assert words["cluster-b"] == "Needs an answer"
        assert words["grid-d"] == "Down"
        assert words["old-cluster"] == "Drained"
        assert words["black-hole"] == "Fails jobs"
        shapes = {site_style(one).shape for one in broker.views}
        assert len(shapes) == len({site_style(one).word for one in broker.views})
        assert page.count.text() == "8 sites, 4 connected"
        assert "login.cluster-a.example.org" in card.address.text()
        assert card.accessibleName().startswith("cluster-a: Connected")

    act(SitesBroker(every_state()), scene)


def test_a_card_tells_of_gpus_and_the_details_of_nodes_accounts_and_limits(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: len(page.cards) == len(broker.views))
        assert page.cards["cluster-a"].gpus.text() == "12 of 64 GPUs free (9 of 48 a100, 3 of 16 v100)"
        assert page.cards["cluster-c"].gpus.isHidden()
        page.choose("cluster-a")
        equipment = page.detail.equipment
        await eventually(lambda: not equipment.isHidden())
        texts = [one.text() for one in equipment.findChildren(QLabel)]
        assert {"Nodes of short", "Nodes of long", "phys (default)", "<b>chem</b>"} <= set(texts)
        assert {"4 a100", "240", "128", "2 days for each job; 2 GPUs for each user"} <= set(texts)
        assert "18 of 30 free" in texts
        page.choose("cluster-c")
        await eventually(equipment.isHidden)

    act(SitesBroker(every_state()), scene)


def test_while_the_broker_is_away_nothing_is_said_to_be_well(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: page.cards)
        well, faint = page.cards["far"].word.styleSheet(), on.context.theme.color("faint").name()
        assert faint not in well
        on.context.link.set(ConnectionState.STOPPED, "Somebody stopped it.")
        await eventually(lambda: faint in page.cards["far"].word.styleSheet())
        assert page.count.text() == "1 site, as last heard"
        assert not page.add.isEnabled()
        on.context.link.set(ConnectionState.CONNECTED)
        await eventually(lambda: page.cards["far"].word.styleSheet() == well and page.add.isEnabled())

    act(SitesBroker([site("far")]), scene)


def test_a_batch_system_that_does_not_answer_is_no_matter_of_the_connection() -> None:
    mute = site("mute", stale="Slurm does not answer: Unable to contact slurm controller.")
    assert (site_style(mute).word, sidebar_count(mute)) == ("No answer", "no answer")
    assert "slurm controller. The figures are those of the last answer" in state_sentence(mute, 0.0)


def test_slots_of_a_full_site_are_told_and_are_no_free_cpus() -> None:
    full = site("full", free_cpus=0, total_cpus=4, free_slots=1, total_slots=3)
    assert sidebar_count(full) == "1 slot"
    assert slots_words(full) == "1 of 3 interactive slots free"
    assert heard_sentence(full, 0.0).endswith("0 of 4 CPUs free, 1 of 3 interactive slots free.")
    assert slots_words(site("plain")) == ""


def test_the_next_try_is_counted_down_without_asking_the_broker(act: Act) -> None:
    now = time.time()
    silent = site("far", state="retrying", reason="no answer on port 22", retry_at=now + 90)
    assert state_sentence(silent, now + 78) == "no answer on port 22. Retrying in 12 s."
    assert state_sentence(silent, now + 91) == "no answer on port 22. Retrying now."

    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: page.cards)
        asked = broker.asked.count("sites")
        first = page.cards["far"].said.text()
        await eventually(lambda: page.cards["far"].said.text() != first)
        assert broker.asked.count("sites") == asked

    act(SitesBroker([silent]), scene)


@pytest.mark.parametrize(("number", "said"), [(1, "1 site"), (50, "50 sites")])
def test_one_and_fifty_sites_use_the_room_there_is(act: Act, number: int, said: str) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        on.window.resize(1600, 900)
        page = page_of(on)
        await eventually(lambda: len(page.cards) == number)
        await turns()
        assert page.count.text() == said
        tops = [page.cards[one.name].y() for one in broker.views]
        assert tops.count(tops[0]) == min(number, 4)
        assert all(card.width() <= 480 for card in page.cards.values())
        assert page.edit.isVisible() is (number > 5)
        if number > 5:
            page.edit.setText("site-17")
            await turns()
            assert [name for name, card in page.cards.items() if card.isVisible()] == ["site-17"]
            page.edit.setText("nowhere")
            assert page.nothing.isVisible()

    act(SitesBroker([site(f"site-{at:02}") for at in range(number)]), scene)


def test_without_sites_the_page_teaches_how_to_add_one(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: page.state.title.text() == "No sites yet")
        page.state.primary.click()
        assert on.window.handlers.adding is not None
        broker.error = CrossDeskError("The disk could not be read.", place="store")
        on.context.sites.reload()
        await eventually(lambda: page.state.title.text() == "The sites could not be read")
        broker.error = None
        page.state.primary.click()
        await eventually(lambda: page.state.title.text() == "No sites yet")

    act(SitesBroker([]), scene)


def test_buttons_of_a_card_ask_the_broker(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: page.cards)
        page.cards["cluster-a"].second.click()
        page.cards["old-cluster"].second.click()
        page.cards["cluster-c"].first.click()
        page.cards["cluster-a"].first.click()
        await eventually(lambda: "test cluster-a" in broker.asked)
        assert {"drain cluster-a", "resume old-cluster", "connect cluster-c"} <= set(broker.asked)
        assert page.chosen == "cluster-a"
        assert page.detail.trial.isVisible()
        names = [action.text() for action in page.cards["local"].menu().actions()]
        assert "Remove…" not in names

    act(SitesBroker(every_state()), scene)


def test_removing_names_the_jobs_that_are_canceled_with_it(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: page.cards)
        on.window.handlers.site_commands.remove(on.context.sites.named("cluster-a"))
        [box] = on.window.findChildren(QMessageBox)
        assert "46 jobs there will be canceled" in box.informativeText()
        [button] = [one for one in box.findChildren(QPushButton) if one.text() == "Remove and cancel 46 jobs"]
        button.click()
        await eventually(lambda: "remove cluster-a by force" in broker.asked)
        await eventually(lambda: "cluster-a" not in page.cards)

    act(SitesBroker(every_state()), scene)


def test_a_site_that_is_being_removed_says_so_and_what_is_left_is_told(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: page.cards)
        broker.views = [one.model_copy(update={"leaving": one.name == "cluster-a"}) for one in broker.views]
        on.context.sites.reload()
        card = page.cards["cluster-a"]
        await eventually(lambda: card.word.text() == "Being removed")
        assert "taken away" in card.said.text()
        assert not card.first.isEnabled()
        assert not card.second.isEnabled()
        broker.left = "May be left there: the directory ~/.crossdesk/t1."
        on.window.handlers.site_commands.remove(on.context.sites.named("cluster-c"))
        [box] = on.window.findChildren(QMessageBox)
        next(one for one in box.findChildren(QPushButton) if one.text().startswith("Remove")).click()
        await eventually(lambda: any("~/.crossdesk/t1" in one.informativeText() for one in _boxes(on)))

    act(SitesBroker(every_state()), scene)


def test_the_detail_shows_plot_queues_settings_and_log(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: page.cards)
        card = page.cards["cluster-c"]
        card.setFocus()
        QTest.keyClick(card, Qt.Key.Key_Return)
        detail = page.detail
        assert page.chosen == "cluster-c"
        await eventually(lambda: "does not answer" in detail.log.toPlainText())
        await eventually(lambda: detail.plot is not None and detail.plot.isVisible())
        assert "Retrying" in detail.said.text()
        assert detail.buttons["Connect now"].isVisible()
        assert on.window.sidebar.list.currentItem().text() == "cluster-c"
        QTest.keyClick(page, Qt.Key.Key_Escape)
        assert not detail.isVisible()

    act(SitesBroker(every_state()), scene)


def test_in_a_small_window_the_detail_takes_the_place_of_the_cards(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        on.window.resize(900, 600)
        page = page_of(on)
        await eventually(lambda: page.cards)
        page.choose("cluster-a")
        await turns()
        assert page.detail.isVisible()
        assert not page.area.isVisible()
        page.detail.close_.click()
        assert page.area.isVisible()

    act(SitesBroker(every_state()), scene)


def test_the_sidebar_shows_the_state_of_each_site_and_leads_to_it(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        lines = on.window.sidebar.list
        await eventually(lambda: lines.findItems("cluster-c", Qt.MatchFlag.MatchExactly))
        [item] = lines.findItems("cluster-c", Qt.MatchFlag.MatchExactly)
        assert "Retrying" in item.data(Qt.ItemDataRole.AccessibleTextRole)
        lines.itemClicked.emit(item)
        page = on.window.tabs.currentWidget()
        assert isinstance(page, SitesPage)
        assert page.chosen == "cluster-c"

    act(SitesBroker(every_state()), scene)


def test_what_was_known_stays_while_the_broker_is_away(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        page = page_of(on)
        await eventually(lambda: page.cards)
        on.context.link.set(ConnectionState.UNREACHABLE, "It ended.")
        await turns()
        assert len(page.cards) == len(broker.views)
        assert not page.splitter.isEnabled()

    act(SitesBroker(every_state()), scene)


def test_success_is_told_of_the_jobs_of_the_last_hour() -> None:
    assert success_words(site("a", recent_done=1, recent_failed=9)) == "10 %"
    assert success_words(site("a", recent_done=999, recent_failed=1)) == "99 %"
    assert success_words(site("a", recent_done=3, recent_failed=0)) == "100 %"
    assert success_words(site("a", **NOTHING)) == "–"
    assert success_words(site("a", recent_done=0, recent_failed=0, done=9)) == "–"
    assert (
        success_sentence(site("a", recent_done=68, recent_failed=16))
        == "68 of 84 runs of the last hour ended well"
    )
