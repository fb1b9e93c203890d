"""Wherever jobs are counted, the same jobs are done and the same have failed."""

from __future__ import annotations

import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QApplication, QLabel

from app.inspector.multi_selection import MultiSelection
from app.jobs import folding
from app.jobs.batch_totals import BatchTotals
from app.jobs.table import JobsTable
from app.shell.finder import Finder
from app.statistics.pane import ends_sentence
from app.stores.counts import QueryCounts
from app.stores.jobs import JobStore
from app.stores.link import BrokerLink
from app.stores.saved_queries import BUILT_IN, SavedQuery
from app.theme.theme import Theme
from app.theme.tokens import Mode
from broker_core.bookkeeping.sqlite import outcome_reads, reads, schema
from broker_core.bookkeeping.sqlite.codec import JOB_COLUMNS, record_row
from broker_core.bookkeeping.sqlite.statistics import statistics
from broker_core.command_line import words
from broker_core.command_line.job.folding import BatchLine, summary
from broker_core.command_line.job.following import failed
from broker_core.jobs.events import JobEvent
from broker_core.jobs.outcome import Outcome
from broker_core.jobs.query import parse
from broker_core.jobs.record import JobRecord
from tests.app.jobs.histories import came_out, histories, record_of
from tests.app.jobs.rows import NOW, columns

_ENDS = ("done", "failed", "canceled")
_TODAY = {one.name.removesuffix(" today").lower(): one.text for one in BUILT_IN if "today" in one.name}
Counts = dict[str, int]


class _Saved(QObject):
    changed = Signal()
    project = None
    all = (*BUILT_IN, *(SavedQuery(end, f"state:{end}") for end in _ENDS))


class Desk:
    """All views of the desktop that count jobs, over one store."""

    def __init__(self, app: QApplication) -> None:
        self.rows, self.saved = JobStore(), _Saved()
        self.table = JobsTable(self.rows)
        self.rows.changed.connect(self.table.view.take)
        self.rows.clearing.connect(self.table.view.empty)
        self.counts = QueryCounts(self.rows, self.saved)  # type: ignore[arg-type]
        context: Any = SimpleNamespace(
            theme=Theme(app, Mode.LIGHT), trigger=print, jobs=self.rows, saved=self.saved, show_job=print,
            actions=SimpleNamespace(why_not=lambda name: "not now", name=str), link=BrokerLink(),
            sites=SimpleNamespace(views=(), unheard=lambda place: None),
            preferences={"recent_actions": [], "recent_files": [], "output_folder": ""},
        )  # fmt: skip
        self.selection = MultiSelection(context)
        self.finder = Finder(context, list, print, print)

    def show(self, records: list[JobRecord]) -> list[dict[str, Any]]:
        """Take the rows of these jobs as all there are; returns them."""
        values = [record_row(record) for record in records]
        self.take(dict(zip(JOB_COLUMNS, map(list, zip(*values, strict=True)), strict=True)))
        return [dict(zip(JOB_COLUMNS, row, strict=True)) for row in values]

    def take(self, rows: dict[str, list[Any]]) -> None:
        """Take these rows, by columns, as all there are."""
        self.rows.clear()
        self.rows.merge(rows)
        self.rows.flush()

    def in_cells(self) -> Counts:
        """By the state cells of all jobs."""
        view = self.table.view
        for line in reversed(range(len(view.lines))):
            if self.table.batch_at(line):
                view.fold(line, True)
        lines = [line for line in range(len(view.lines)) if not self.table.batch_at(line)]
        return _ends(Counter(self.table.text(line, 0).partition(",")[0].lower() for line in lines))

    def in_palette(self) -> Counts:
        """By the lines of the palette."""
        found = [line.detail for line in self.finder.find("scan") if line.kind == "Job"]
        return _ends(Counter(detail.partition(",")[0].lower() for detail in found))


@pytest.fixture(scope="module")
def desk(qapp: QApplication) -> Iterator[Desk]:
    """The views, before they show anything."""
    made = Desk(qapp)
    yield made
    for timer in made.counts.children():
        timer.stop()  # type: ignore[attr-defined]


def _ends(counts: Mapping[str, int]) -> Counts:
    return {end: counts.get(end, 0) for end in _ENDS}


def _said(text: str) -> Counts:
    """The numbers of a sentence such as `3 jobs: 2 failed, 1 done`."""
    return _ends({word: int(number) for number, word in re.findall(r"(\d+)(?: of \d+)? (\w+)", text.lower())})


def _stored(records: list[JobRecord]) -> Iterator[Counts]:
    """What the store counts: in the statistics, in pages of the list, and on the cards of sites."""
    with closing(sqlite3.connect(":memory:")) as connection:
        schema.create(connection, "")
        marks = ",".join("?" * (len(JOB_COLUMNS) + 2))
        columns = f"number, files, {', '.join(JOB_COLUMNS)}"
        lines = [(number, "", *record_row(record)) for number, record in enumerate(records, 1)]
        connection.executemany(f"INSERT INTO jobs ({columns}) VALUES ({marks})", lines)
        yield _said(ends_sentence(statistics(connection, "ann")))
        outcomes = {end: Outcome(end.capitalize()) for end in _ENDS}
        yield {
            end: reads.jobs_page(connection, "ann", "", 1, (one,), ("id",)).total
            for end, one in outcomes.items()
        }
        elsewhere = [record for record in records if not record.placements]
        cards = outcome_reads.at_sites(connection, "ann").get("here", Counter())
        others = Counter(record.state.value for record in elsewhere)
        # A job that was aborted before it had a site stands on no card, and no card counts canceled ones.
        canceled = sum(record.state == "Canceled" for record in records)
        yield {"done": cards[Outcome.DONE], "failed": cards[Outcome.FAILED] + others["Aborted"],
               "canceled": canceled}  # fmt: skip


def test_all_views_of_any_jobs_agree_on_what_is_done_and_what_has_failed(desk: Desk) -> None:
    @settings(max_examples=80)
    @given(some.lists(histories(), min_size=1, max_size=8))
    def agree(jobs: list[list[JobEvent]]) -> None:
        expected = _ends(Counter(map(came_out, jobs)))
        records = [record_of(events, f"j{number}") for number, events in enumerate(jobs)]
        rows = desk.show(records)
        columns, every = desk.rows.columns, desk.rows.numbers()
        desk.selection.show_jobs(list(desk.rows.at))
        totals = BatchTotals()
        totals.add(columns, every)
        views = {
            "batch": _said(folding.summary(totals.tally())),
            "cells": desk.in_cells(),
            "sidebar": {end: desk.counts.of(f"state:{end}") for end in _ENDS},
            "query": {end: len(parse(f"state:{end}").select(columns, every, 0.0)) for end in _ENDS},
            "selection": _ends({one.lower(): number for one, number in desk.selection.counts.items()}),
            "palette": desk.in_palette(),
            "command line": _said(summary(rows)),
            "state column": _ends(Counter(words.standing(row).plain.split()[-1].lower() for row in rows)),
            **dict(zip(("statistics", "list", "cards"), _stored(records), strict=True)),
        }
        assert {name: counts for name, counts in views.items() if counts != expected} == {}
        today = {end: desk.counts.of(text) for end, text in _TODAY.items()}
        assert today == {"done": expected["done"], "failed": expected["failed"]}
        assert failed(rows) == (expected["done"] != len(rows))

    agree()


def ended(code: int, number: int, at: float = 0.0) -> list[dict[str, Any]]:
    """Rows of jobs of one batch that ran to their end with that exit code."""
    return [
        {"id": f"{code}-{place}", "name": f"scan {place}", "batch": "b", "state": "Done", "exit_code": code,
         "reason": f"Exit code {code}", "ended": at or NOW}
        for place in range(number)
    ]  # fmt: skip


def test_a_selection_of_thirteen_jobs_that_ended_with_exit_3_has_thirteen_failed_ones(desk: Desk) -> None:
    desk.take(columns(*ended(3, 13)))
    desk.selection.show_jobs(list(desk.rows.at))
    assert desk.selection.counts == {"Failed": 13}
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # labels of what was shown before
    names = {one.text() for one in desk.selection.findChildren(QLabel)}
    assert "13 failed" in desk.selection.about.text()
    assert "Failed" in names
    assert not names & {"Done", "Aborted", "Cleared"}


def test_a_job_that_failed_today_is_not_done_today(desk: Desk) -> None:
    desk.take(columns(*ended(3, 1, at=time.time()), *ended(0, 2, at=time.time())))
    assert {end: desk.counts.of(text) for end, text in _TODAY.items()} == {"done": 2, "failed": 1}


def test_a_batch_in_the_list_of_jobs_says_how_many_failed() -> None:
    line = BatchLine("b", [row | {"held": ""} for row in ended(0, 32) + ended(3, 8)])
    assert line.standing == "40 jobs: 8 Failed, 32 Done"


def test_the_palette_says_that_a_job_failed_and_with_which_exit_code(desk: Desk) -> None:
    desk.take(columns(*ended(3, 36)))
    found = {line.title: line.detail for line in desk.finder.find("scan 35")}
    assert found["scan 35"] == "Failed, exit 3"


def test_fetched_output_changes_nothing_in_how_a_job_came_out(desk: Desk) -> None:
    fetched = [row | {"state": "Cleared"} for row in ended(0, 1) + ended(3, 1)]
    desk.take(columns(*fetched))
    assert desk.table.text(0, 0) == "1 of 2 done · 1 failed"
    assert desk.in_cells() == {"done": 1, "failed": 1, "canceled": 0}
    assert desk.table.style_of(0).token == "state-Failed"
