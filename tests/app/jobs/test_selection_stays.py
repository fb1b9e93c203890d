"""What is selected in the jobs table is the same after another order, fold or filter, or is part of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.jobs.table import JobsTable
from app.jobs.view import JobsView
from app.stores.jobs import JobStore
from app.theme.theme import Theme
from app.theme.tokens import Mode
from broker_core.jobs.query import parse
from tests.app.jobs.rows import NOW, columns

ORDERS = [("submitted", True), ("submitted", False), ("name", True), ("name", False), ("state", False)]
FILTERS = ["", "scan", "state:running", "net"]


@pytest.fixture
def view(qapp: Any, qtbot: QtBot) -> JobsView:
    """Two batches whose order depends on the column, and two single jobs."""
    rows = JobStore()
    made = JobsView(Theme(qapp, Mode.LIGHT), JobsTable(rows))
    qtbot.addWidget(made)
    jobs = [_job(f"scan{n}", "scan", n, 100 - n, "Running" if n < 5 else "Waiting") for n in range(13)]
    jobs += [_job(f"net{n}", "net", n, n, "Waiting" if n < 200 else "Running") for n in range(248)]
    jobs += [_job("alone", "", 1, 50, "Running"), _job("other", "", 2, 300, "Waiting")]
    rows.merge(columns(*jobs))
    rows.flush()
    asyncio.run(made.table.view.rebuild())
    return made


def _job(id: str, batch: str, number: int, age: int, state: str) -> dict[str, Any]:
    return {
        "id": id, "batch": batch, "name": f"{batch or id}-{number}", "submitted": NOW - age, "state": state,
    }  # fmt: skip


def _arrange(view: JobsView, order: tuple[str, bool], text: str, folding: bool = True) -> None:
    lines = view.table.view
    lines.sort, lines.descending = order
    lines.query, lines.folding = parse(text), folding
    asyncio.run(lines.rebuild())


def _shown(view: JobsView) -> set[str]:
    ids = view.table.rows.columns["id"]
    return {ids[number] for number in view.table.view.numbers()}


def _select(view: JobsView, *ids: str) -> set[str]:
    view.clearSelection()
    lines = [line for line in range(view.table.rowCount()) if view.table.id_at(line) in ids]
    for line in lines:
        index = view.table.index(line, 0)
        view.selectionModel().select(
            index, view.selectionModel().SelectionFlag.Select | view.selectionModel().SelectionFlag.Rows
        )
    return set(view.chosen())


@pytest.mark.parametrize(("first", "second"), list(permutations(ORDERS, 2)))
@pytest.mark.parametrize("chosen", ["scan", "net", "alone"])
def test_another_order_selects_nothing_else(
    view: JobsView, first: tuple[str, bool], second: tuple[str, bool], chosen: str
) -> None:
    _arrange(view, first, "")
    before = _select(view, chosen)
    assert before
    _arrange(view, second, "")
    assert set(view.chosen()) == before


@pytest.mark.parametrize(("first", "second"), list(permutations(FILTERS, 2)))
@pytest.mark.parametrize("order", ORDERS[:3])
def test_another_filter_selects_what_is_still_shown_of_it_and_no_more(
    view: JobsView, first: str, second: str, order: tuple[str, bool]
) -> None:
    _arrange(view, order, first)
    before = _select(view, *(view.table.id_at(line) for line in range(view.table.rowCount())))
    assert before == _shown(view)
    _arrange(view, order, second)
    assert set(view.chosen()) == before & _shown(view)


def test_a_batch_of_which_a_filter_showed_a_part_does_not_grow(view: JobsView) -> None:
    _arrange(view, ORDERS[0], "state:running")
    before = _select(view, "net")
    assert len(before) == 48
    _arrange(view, ORDERS[0], "")
    assert set(view.chosen()) == before
    assert len(view.chosen_lines()) == 48, "its line stands for 248, so that its jobs are shown one by one"


def test_without_folding_the_jobs_of_a_batch_are_found_again_when_it_is_folded_and_open(
    view: JobsView,
) -> None:
    _open(view, "scan")
    before = _select(view, "scan3", "scan7")
    _arrange(view, ("name", False), "", folding=False)
    assert set(view.chosen()) == before == {"scan3", "scan7"}


def _open(view: JobsView, batch: str) -> None:
    view.table.view.fold(view.table.view.line_of_batch(batch), True)


@pytest.mark.parametrize("change", [
    lambda view: view.table.view.empty(),
    lambda view: view.table.view.fold_all(True),
    lambda view: view.table.view.fold_all(False),
])  # fmt: skip
def test_views_read_old_lines_with_the_batches_of_old(
    view: JobsView, change: Callable[[JobsView], None]
) -> None:
    read: list[set[str]] = []
    view.table.modelAboutToBeReset.connect(lambda: read.append(set(view.chosen())))
    before = _select(view, "scan", "alone")
    change(view)
    assert read == [before]
