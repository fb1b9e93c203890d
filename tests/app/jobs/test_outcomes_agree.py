"""Wherever jobs are counted, the same jobs are done and the same have failed, for the same reasons.

Of a member of a batch that was run again the last run counts.
"""

from __future__ import annotations

import asyncio
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

from app.inspector.batch.figures import failures_of
from app.inspector.multi_selection import MultiSelection
from app.jobs import folding
from app.jobs.batch_totals import BatchBook
from app.jobs.table import JobsTable
from app.shell.finder import Finder
from app.statistics.pane import ends_sentence
from app.statistics.usage import usage_of
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
from broker_core.command_line.job.following import failed, latest_rows, snapshot, with_outcome
from broker_core.command_line.job.ids import resolve
from broker_core.command_line.job.list import Asked, listing
from broker_core.command_line.job.top import JobsScreen
from broker_core.jobs.annotations import PAGE_COLUMNS
from broker_core.jobs.events import JobEvent
from broker_core.jobs.outcome import Outcome, brief_cause, failure_cause, outcome_of
from broker_core.jobs.query import parse
from broker_core.jobs.record import JobRecord
from broker_core.jobs.states import JobState
from tests.app.jobs.histories import BATCH, came_out, chains, records_of
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


class HeldStore:
    """What the command line asks a broker for, answered by a store that has these records alone."""

    def __init__(self, connection: sqlite3.Connection, records: list[JobRecord]) -> None:
        self.connection = connection
        schema.create(connection, "")
        marks = ",".join("?" * (len(JOB_COLUMNS) + 2))
        columns = f"number, files, {', '.join(JOB_COLUMNS)}"
        lines = [(number, "", *record_row(record)) for number, record in enumerate(records, 1)]
        connection.executemany(f"INSERT INTO jobs ({columns}) VALUES ({marks})", lines)

    async def jobs_page(
        self, limit: int, after: str = "", states: Any = (), columns: Any = (), latest: bool = False
    ) -> reads.JobsByColumn:
        """A page as a broker gives it."""
        outcomes = {one.value.lower(): one for one in Outcome if one.ended}
        wanted = [outcomes.get(name) or JobState(name) for name in states]
        return reads.jobs_page(
            self.connection, "ann", after, limit, wanted, columns or PAGE_COLUMNS, latest=latest
        )


def _stored(client: HeldStore, standing: list[JobRecord]) -> dict[str, Counts]:
    """What the store counts: in the statistics, in pages of the list, and on the cards of sites."""
    connection, outcomes = client.connection, {end: Outcome(end.capitalize()) for end in _ENDS}
    pages = {
        end: reads.jobs_page(connection, "ann", "", 1, (one,), ("id",), latest=True)
        for end, one in outcomes.items()
    }
    cards = outcome_reads.at_sites(connection, "ann").get("here", Counter())
    # A job that was aborted before it had a site stands on no card, and no card counts canceled ones.
    nowhere = sum(not one.placements and one.state.value == "Aborted" for one in standing)
    canceled = sum(one.state.value == "Canceled" for one in standing)
    failures = cards[Outcome.FAILED] + nowhere
    return {
        "statistics": _said(ends_sentence(statistics(connection, "ann"))),
        "list": {end: page.total for end, page in pages.items()},
        "cards": {"done": cards[Outcome.DONE], "failed": failures, "canceled": canceled},
    }


async def _typed(client: Any, rows: list[dict[str, Any]]) -> dict[str, Counts]:
    """What the command line counts: `job list`, by its query and folded, and `job top`."""
    asked = {end: await listing(client, Asked(query=parse(f"state:{end}"))) for end in _ENDS}
    every = await listing(client, Asked(limit=0))
    lines = [row for line in every.lines for row in (line.rows if isinstance(line, BatchLine) else [line])]
    top = {}
    for end in _ENDS:
        screen = JobsScreen(parse(f"state:{end}"))
        screen.fill(row | {"tags": "", "note": ""} for row in reversed(rows))
        top[end] = len(screen.rows)
    return {
        "job list state:": {end: found.total for end, found in asked.items()},
        "job list": _said(summary(lines)),
        "job top": top,
        "state column": _ends(Counter(words.standing(row).plain.split()[-1].lower() for row in lines)),
    }


async def _waited_for(client: Any) -> tuple[int, Counts, bool]:
    """How many jobs of the batch `job wait` awaits, what it says of them, and whether that is an error."""
    jobs = await resolve(client, [BATCH], batches=True, latest=True)
    found = list((await snapshot(client, jobs))[0].values())
    return len(found), _said(summary(found)), failed(found)


def _causes(desk: Desk, rows: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    """By which exit codes and signals jobs failed, as each view tells it; empty where neither is known."""
    columns, view = desk.rows.columns, desk.table.view
    lines = [line for line in range(len(view.lines)) if not desk.table.batch_at(line)]
    typed = [words.standing(row, cause=True).plain for row in latest_rows(rows)]
    said = {
        "cells": [desk.table.text(line, 0) for line in lines],
        "palette": [line.detail for line in desk.finder.find("scan") if line.kind == "Job"],
        "state column": [text.split(maxsplit=1)[-1] for text in typed],
    }
    found = {
        name: Counter(text.removeprefix("Failed").strip(", ") for text in texts if text.startswith("Failed"))
        for name, texts in said.items()
    }
    groups = failures_of(columns, desk.rows.counting(desk.rows.numbers()))
    return found | {"failure groups": Counter(one.cause for one in groups for _ in one.jobs)}


def _reasons(desk: Desk, rows: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    """Why jobs failed where the reason that was recorded stands for what has no exit code and no signal."""
    groups = failures_of(desk.rows.columns, desk.rows.counting(desk.rows.numbers()))
    whys = [with_outcome(row)["failure"] for row in latest_rows(rows)]
    return {
        "failure groups": Counter(one.cause or one.reason for one in groups for _ in one.jobs),
        "statistics": asyncio.run(usage_of(desk.rows, NOW)).reasons,
        "command line": Counter(why for why in whys if why),
    }


def _standing(runs: list[list[JobEvent]], records: list[JobRecord]) -> list[tuple[str, JobRecord]]:
    """How a job came out, with its row; without a batch each of its runs is a job of its own."""
    each = [(came_out(events), record) for events, record in zip(runs, records, strict=True)]
    return each[-1:] if records[0].batch else each


def test_all_views_of_any_jobs_agree_on_what_is_done_and_what_has_failed(desk: Desk) -> None:
    @settings(max_examples=80, deadline=None)
    @given(some.lists(chains(), min_size=1, max_size=6))
    def agree(jobs: list[list[list[JobEvent]]]) -> None:
        made = records_of(jobs)
        standing = [one for runs, records in zip(jobs, made, strict=True) for one in _standing(runs, records)]
        rows = desk.show([record for records in made for record in records])
        _all_count_alike(desk, rows, made, standing)
        _all_tell_the_same_reasons(desk, rows, [record for _, record in standing])

    agree()


def _all_count_alike(
    desk: Desk, rows: list[dict[str, Any]], made: list[list[JobRecord]], standing: list[tuple[str, JobRecord]]
) -> None:
    expected, columns = _ends(Counter(how for how, _ in standing)), desk.rows.columns
    counting = desk.rows.counting(desk.rows.numbers())
    desk.selection.show_jobs([columns["id"][number] for number in counting])
    with closing(sqlite3.connect(":memory:")) as connection:
        client = HeldStore(connection, [record for records in made for record in records])
        views = {
            "cells": desk.in_cells(),
            "sidebar": {end: desk.counts.of(f"state:{end}") for end in _ENDS},
            "query": {end: len(parse(f"state:{end}").select(columns, counting, 0.0)) for end in _ENDS},
            "selection": _ends({one.lower(): number for one, number in desk.selection.counts.items()}),
            "palette": desk.in_palette(),
            "command line": _said(summary(rows)),
            **_stored(client, [record for _, record in standing]),
            **asyncio.run(_typed(client, rows)),
        }
        assert {name: counts for name, counts in views.items() if counts != expected} == {}
        today = {end: desk.counts.of(text) for end, text in _TODAY.items()}
        assert today == {"done": expected["done"], "failed": expected["failed"]}
        assert failed(rows) == (expected["done"] != len(standing))
        if members := [how for how, record in standing if record.batch]:
            counts = _ends(Counter(members))
            assert _said(folding.summary(BatchBook(desk.rows).totals(BATCH).tally())) == counts
            ended_badly = counts["done"] != len(members)
            assert asyncio.run(_waited_for(client)) == (len(members), counts, ended_badly)
        sites = asyncio.run(usage_of(desk.rows, NOW)).sites.values()
        assert sum(one.jobs for one in sites) == sum(bool(record.placements) for _, record in standing)


def _all_tell_the_same_reasons(desk: Desk, rows: list[dict[str, Any]], standing: list[JobRecord]) -> None:
    ends = [(one.state, one.exit_code, one.signal, one.reason) for one in standing]
    ends = [end for end in ends if outcome_of(*end[:2]) is Outcome.FAILED]
    causes, reasons = Counter(brief_cause(*end) for end in ends), Counter(failure_cause(*end) for end in ends)
    assert {name: found for name, found in _causes(desk, rows).items() if found != causes} == {}
    assert {name: found for name, found in _reasons(desk, rows).items() if found != reasons} == {}


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
