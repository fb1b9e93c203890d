"""The match view: order, filters, clauses, explanation, groups, and what it shows when there is no answer."""

from __future__ import annotations

import asyncio
from typing import Any

from PySide6.QtCore import Qt
from shiboken6 import delete

from app.match.asking import PAGE
from app.match.candidates import SITE, WHY, forecast_words
from app.match.view import MatchTarget, MatchView
from app.stores.link import ConnectionState
from app.widgets.cells import BADGE
from broker_core.errors import BadRequest
from broker_core.wire.matches import StartForecast
from tests.app.match.made_up import CLAUSES, TEXT


def told(view: MatchView) -> list[str]:
    model = view.candidates
    return [model.index(row, SITE).data() for row in range(model.rowCount())]


def test_the_first_is_what_the_scheduler_takes_and_is_explained_at_once(show: Any, until: Any) -> None:
    view = show(10)
    assert view.candidates.rowCount() == 10
    first = view.candidates.index(0, SITE)
    assert first.data(BADGE) == "first"
    assert view.list.row() == 0
    until(lambda: len([line for line in view.explanation.lines if line.isVisible()]) == 4)
    assert view.explanation.verdict.text() == "Taken first."
    assert "rank" in view.explanation.facts.text()


def test_each_clause_has_shape_colour_and_word(show: Any, until: Any) -> None:
    view = show(10)
    until(lambda: len(view.explanation.lines) == 4)
    undefined = view.explanation.lines[2]
    assert undefined.word.text() == "Not known here"
    assert undefined.accessibleName() == "not known here: Nothing is known of it here"
    assert not undefined.picture.pixmap().isNull()


def test_one_that_does_not_match_says_why_and_cannot_be_chosen_to_submit(show: Any, until: Any) -> None:
    view = show(10)
    view.list.selectRow(9)
    assert view.candidates.index(9, WHY).data().endswith(".")
    until(lambda: view.explanation.ce == view.candidates.at(9).ce and view.explanation.lines)
    assert view.explanation.verdict.text().startswith(("Does not match", "Not now"))
    assert view.explanation.submit.isHidden()


def test_a_policy_that_failed_is_told_of_until_it_does_well_again(show: Any) -> None:
    view = show(10)
    assert view.notes.isHidden()
    note = "The policy boom failed, the built-in order counts: ValueError: no order today."
    report = view.report
    view.show_report(report.model_copy(update={"notes": note}))
    assert view.notes.isVisible()
    assert view.notes.text() == note
    view.show_report(report)
    assert view.notes.isHidden()


def test_batch_systems_are_asked_for_the_start_at_the_first_places_and_answer_later(
    show: Any, until: Any
) -> None:
    view = show(10)
    before = view.candidates.index(0, WHY).data()
    view.forecast.click()
    assert not view.forecast.isEnabled()
    until(view.forecast.isEnabled)
    asked = next(one["forecasts"] for one in view._context.client.asked if "forecasts" in one)
    assert asked == [one.ce for row in range(5) if (one := view.candidates.at(row)).matches]
    assert view.candidates.index(0, WHY).data() == (
        f"{before} Sent now, it would start in about 10 m, says Slurm."
    )
    assert view.candidates.forecasts[asked[1]] == "Slurm says: Invalid account."
    until(lambda: "Sent now" in view.explanation.facts.text())
    view.ask(TEXT + "// another one")
    until(lambda: not view.asking.pending and view.candidates.forecasts == {})
    assert view.candidates.index(0, WHY).data() == before


def test_what_a_batch_system_does_not_tell_is_said() -> None:
    assert forecast_words(StartForecast(ce="a")) == "Nobody tells when it would start there."
    assert forecast_words(StartForecast(ce="a", wait=0.0, source="Slurm")) == (
        "Sent now, it would start at once, says Slurm."
    )


def test_filters_are_asked_of_the_broker(show: Any, until: Any) -> None:
    view = show(90)
    view.filters.which.setCurrentIndex(1)
    until(lambda: not view.asking.pending and view.report.selected < 90)
    assert all(view.candidates.at(row).matches for row in range(view.candidates.rowCount()))
    view.filters.which.setCurrentIndex(0)
    view.filters.edit.setText("grid-0010")
    until(lambda: view.report.selected == 3)
    assert view.filters.count.text() == "3 of 90 resources"
    view.filters.access.setChecked(True)
    until(lambda: view._context.client.asked[-1]["assume_access"])
    view.filters.edit.setText("nowhere")
    until(lambda: view.either.currentWidget() is view.nothing)
    view.filters.reset()
    until(lambda: view.candidates.rowCount() == 90)


def test_a_clause_shows_who_fails_it_and_is_marked_in_the_text(show: Any, until: Any) -> None:
    view = show(50)
    marked: list[tuple[int, int]] = []
    view.clauseMarked.connect(lambda start, end: marked.append((start, end)))
    assert view.clauses.model.index(1, 1).data().endswith(" of 50")
    view.clauses.table.clicked.emit(view.clauses.model.index(0, 0))
    until(lambda: 0 < view.report.selected < 50)
    start, end = marked[0]
    assert TEXT[start:end] == CLAUSES[0]
    assert not any(view.candidates.at(row).matches for row in range(view.candidates.rowCount()))
    view.clauses.table.clicked.emit(view.clauses.model.index(0, 0))
    until(lambda: view.report.selected == 50)
    assert marked[-1] == (0, 0)


def test_of_ten_thousand_only_the_pages_in_sight_are_fetched(show: Any, until: Any) -> None:
    view = show(10_000)
    assert view.candidates.rowCount() == 10_000
    assert view.candidates.at(5000) is None
    view.list.scrollTo(view.candidates.index(5000, 0))
    until(lambda: view.candidates.at(5000) is not None)
    pages = [one for one in view._context.client.asked if not one.get("explain", True)]
    assert len(pages) <= 4
    assert all(one["limit"] == PAGE for one in pages)


def test_what_was_chosen_stays_chosen_while_the_text_changes(show: Any, until: Any) -> None:
    view = show(30)
    view.list.selectRow(4)
    chosen = view.candidates.at(4).ce
    view.ask(TEXT + "// more", soon=True)
    until(lambda: not view.asking.pending)
    assert view.candidates.at(view.list.row()).ce == chosen


def test_an_answer_to_an_older_text_is_dropped(show: Any, until: Any, loop: Any) -> None:
    view = show(10)
    client, slow = view._context.client, asyncio.Event()
    client.gates.append(slow)
    client.error = BadRequest("line 1: this cannot be read")
    view.ask("first")
    until(lambda: client.asked[-1]["description"] == "first")
    view.ask("second")
    client.error = None
    before = view.report
    slow.set()
    until(lambda: client.asked[-1]["description"] == "second" or client.asked[-1].get("ces"))
    until(lambda: not view.asking.pending and view.report is not before)
    assert view.card.isHidden()
    assert [one["description"] for one in client.asked if not one.get("ces")][-2:] == ["first", "second"]


def test_groups_stand_by_their_size_with_the_rank_and_how_it_was_made(show: Any, until: Any) -> None:
    view = show(12, grouped=True)
    assert view.either.currentWidget() is view.tree
    assert view.groups.index(0, 0).data().startswith("2 computing elements: ")
    first = view.groups.first()
    assert first.data(BADGE) == "first"
    assert first.data(Qt.ItemDataRole.ToolTipRole).startswith("Rank: (")
    assert view.tree.currentIndex() == first
    assert "How the choice went:" in view.explanation.facts.text()
    member = view.groups.index(1, 0, first)
    assert view.groups.parent(member) == first
    assert view.groups.parent(first) == view.groups.index(0, 0)
    view.tree.setCurrentIndex(member)
    until(lambda: view.explanation.ce == member.data())


def test_a_group_can_be_submitted_to(show: Any) -> None:
    view = show(12, grouped=True)
    wanted: list[MatchTarget] = []
    view.submitAsked.connect(wanted.append)
    view.explanation.submit.click()
    assert len(wanted[0].ces) == 2
    assert not wanted[0].site


def test_excluded_resources_of_a_job_over_several_have_their_reasons(show: Any, until: Any) -> None:
    view = show(12, grouped=True)
    view.filters.which.setCurrentIndex(2)
    until(lambda: view.either.currentWidget() is view.list)
    assert all(view.candidates.index(row, WHY).data() for row in range(view.candidates.rowCount()))


def test_nothing_known_nothing_written_errors_and_no_broker_each_say_what_to_do(
    show: Any, until: Any
) -> None:
    view = show(0, wait=False)
    until(lambda: view.empty_state.heading.text() == "No resources are known")
    view.ask("")
    assert view.empty_state.heading.text() == "Nothing to ask about yet"
    view._context.client.error = BadRequest("line 1: this cannot be read")
    view.ask("nonsense")
    until(lambda: view.empty_state.heading.text() == "This could not be asked")
    assert "line 1" in view.empty_state.sentence.text()
    view._context.link.set(ConnectionState.UNREACHABLE, "It ended.")
    assert view.list.cells.gray


def test_an_error_while_typing_leaves_the_last_answer_readable(show: Any, until: Any) -> None:
    view = show(10)
    view._context.client.error = BadRequest("line 3: this cannot be read")
    view.ask(TEXT + "Requirements =", soon=True)
    until(lambda: view.card.isVisible())
    assert "line 3" in view.advice.text()
    assert len(told(view)) == 10


def test_an_answer_that_comes_after_who_asked_is_gone_is_dropped(show: Any, until: Any) -> None:
    view = show(10)
    broker, context, gate = view._context.client, view._context, asyncio.Event()
    until(lambda: view.explanation.lines and not view.asking._explaining)
    broker.gates = [gate]
    task = context.run(view.asking._ask(view.asking.question, view.asking._turn), "asking")
    until(lambda: not broker.gates)
    delete(view.asking)
    gate.set()
    until(task.done)
    assert task.exception() is None
