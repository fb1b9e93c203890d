"""The jobs of a sweep or collection in the match view: one part of them is shown, another can be chosen."""

from __future__ import annotations

from typing import Any

from app.match.view import MatchView
from broker_core.wire.matches import MatchPart
from tests.app.match.made_up import TEXT

PARTS = [
    MatchPart(name="value 1", jobs=1, matching=8, known=10),
    MatchPart(name="value 15", jobs=3, matching=0, known=10),
]


def asked(view: MatchView) -> dict[str, Any]:
    """The last question that was not about one resource alone."""
    return next(one for one in reversed(view._context.client.asked) if not one.get("ces"))


def test_one_job_needs_no_choice(show: Any) -> None:
    assert show(10).parts.isHidden()


def test_the_parts_stand_above_the_clauses_and_one_is_chosen(show: Any, until: Any) -> None:
    view = show(10)
    client = view._context.client
    client.parts = PARTS
    view.again()
    until(lambda: view.parts.isVisible())
    box = view.parts.box
    assert [box.itemText(row) for row in range(box.count())] == [
        "value 1: 8 of 10 resources match",
        "value 15 and 2 more jobs like it: 0 of 10 resources match",
    ]
    assert view.parts.y() < view.clauses.y()
    view.clauses.table.clicked.emit(view.clauses.model.index(0, 0))
    until(lambda: asked(view)["fails"] and not view.asking.pending)
    box.activated.emit(1)
    until(lambda: asked(view)["part"] == "value 15" and not view.asking.pending)
    assert asked(view)["fails"] == ""
    assert box.currentIndex() == 1


def test_a_part_that_the_text_has_no_longer_gives_way_to_the_first(show: Any, until: Any) -> None:
    view = show(10)
    client = view._context.client
    client.parts = PARTS
    view.again()
    until(lambda: view.parts.isVisible())
    view.parts.box.activated.emit(1)
    until(lambda: view.parts.box.currentIndex() == 1 and not view.asking.pending)
    client.parts = []
    view.ask(TEXT + "// another")
    until(lambda: view.parts.isHidden() and not view.asking.pending)
    assert view.asking.question.part == ""
    assert view.card.isHidden()
