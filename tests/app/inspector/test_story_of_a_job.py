"""The Story tab: the way through the life cycle, the time spent, what is awaited, and the end in words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtWidgets import QScrollArea
from pytestqt.qtbot import QtBot

from app.inspector import job_times
from app.inspector.story.chart_layout import COMPACT, EDGES, MAIN_WAY, WIDE, path_of
from app.inspector.story.event_list import SENTENCES
from app.inspector.story.pane import StoryPane, now_words
from broker_core.jobs.states import JobState
from broker_core.jobs.story import Spent, StoryStep, spent
from broker_core.jobs.transitions import TRANSITIONS, EventType
from broker_core.wire.job_events import replayed_events
from tests.app.inspector.recorded import BEGUN, JOB, OTHER, TO_FAILED, TO_RUNNING, TestContext, row, story

Until = Callable[..., Any]


@pytest.fixture
def pane(qtbot: QtBot, context: TestContext) -> StoryPane:
    made = StoryPane(context)
    qtbot.addWidget(made)
    made.resize(360, 800)
    made.show()
    return made


def test_every_state_has_a_place_of_its_own_in_both_layouts() -> None:
    for places in (COMPACT, WIDE):
        assert set(places) == set(JobState)
        assert len(set(places.values())) == len(JobState)


def test_the_drawing_knows_every_step_of_the_transition_table_and_no_other() -> None:
    table = {(old, new) for (old, _), new in TRANSITIONS.items() if old is not None and old is not new}
    assert table == EDGES
    assert set(MAIN_WAY) <= EDGES


@pytest.mark.parametrize("places", [COMPACT, WIDE])
def test_the_way_of_a_job_is_read_from_left_to_right(places: dict[JobState, tuple[float, float]]) -> None:
    steps = [(places[old], places[new]) for old, new in MAIN_WAY]
    assert all((old[1], old[0]) < (new[1], new[0]) for old, new in steps)


def test_a_job_that_is_over_shows_no_state_that_it_can_no_longer_come_to(
    context: TestContext, pane: StoryPane, until: Until
) -> None:
    assert set(pane.chart.drawn_states()) == set(JobState)
    context.put(row("Done", exit_code=0, ended=BEGUN + 392), story(*TO_FAILED, exit_code=0))
    pane.show_job(JOB)
    until(lambda: pane.chart.path.current is JobState.DONE)
    assert {JobState.ABORTED, JobState.CANCELED}.isdisjoint(pane.chart.drawn_states())
    assert JobState.CLEARED in pane.chart.drawn_states()


def test_a_site_is_named_once_however_many_components_it_has(context: TestContext, pane: StoryPane) -> None:
    slots = "north.example.org:22/jobmanager-slots-main"
    context.put(row("Running", site=", ".join([slots] * 3)), story(*TO_RUNNING))
    assert now_words(context.client.details[JOB]) == "Running at north.example.org."


def test_a_step_without_time_has_no_line(pane: StoryPane) -> None:
    told = (Spent(StoryStep.PREPARING, 0.004, False), Spent(StoryStep.SELECTING, 0.0, False))
    pane.timeline.show_steps((*told, Spent(StoryStep.RUNNING, 0.0, True)))
    assert [one.step for one in pane.timeline.steps] == [StoryStep.PREPARING, StoryStep.RUNNING]
    assert pane.timeline.accessibleName() == "Time spent: Preparation 4 ms, Running 0 s so far"


def test_every_kind_of_event_has_words() -> None:
    assert set(SENTENCES) == set(EventType)


@pytest.mark.parametrize("width", [320, 360, 600, 900, 1400])
def test_states_never_overlap_and_stay_inside(context: TestContext, pane: StoryPane, width: int) -> None:
    chart = pane.chart
    chart.setParent(None)
    chart.resize(width, 10)
    chart.show()
    assert chart.height() == chart.height_for(width)
    boxes = [chart.node(state) for state in JobState]
    assert all(chart.rect().toRectF().contains(box) for box in boxes)
    assert not any(one.intersects(other) for n, one in enumerate(boxes) for other in boxes[n + 1 :])


@pytest.mark.parametrize(("started", "end"), [(None, "start"), (BEGUN + 42.1, "finish")])
def test_a_job_that_never_ran_could_not_start(
    context: TestContext, pane: StoryPane, until: Until, started: float | None, end: str
) -> None:
    context.put(row("Aborted", started=started, ended=BEGUN + 50), story(*TO_RUNNING))
    pane.show_job(JOB)
    assert until(lambda: pane.now.text() == f"Aborted before it could {end}.")


def test_a_long_word_does_not_widen_the_story(context: TestContext, pane: StoryPane, until: Until) -> None:
    reason = f"The agent's key is SHA256:{'rhimVrI1EX2' * 4}."
    context.put(row("Running", interactive=True, reason=reason), story(*TO_RUNNING))
    pane.resize(320, 800)
    pane.show_job(JOB)
    until(lambda: pane.why.isVisible())
    assert pane.why.text().replace("\u200b", "") == reason
    until(lambda: pane.chart.mapTo(pane, pane.chart.rect().bottomRight()).x() < 320)


def test_the_story_of_the_next_job_begins_at_its_top(
    context: TestContext, pane: StoryPane, until: Until
) -> None:
    for job in (JOB, OTHER):
        context.put(row("Running", id=job), story(*TO_RUNNING))
    pane.resize(360, 300)
    pane.show_job(JOB)
    (area,) = pane.content.findChildren(QScrollArea)
    bar = area.verticalScrollBar()
    until(lambda: bar.maximum() > 100)
    bar.setValue(bar.maximum())
    pane.refresh()
    until(lambda: not pane._refresh.under_way)
    assert bar.value() > 100
    asked = len(context.client.asked)
    pane.show_job(OTHER)
    until(lambda: len(context.client.asked) >= asked + 2 and not pane._refresh.under_way)
    assert (bar.maximum() > 100, bar.value()) == (True, 0)


def test_the_way_taken_is_told_with_what_may_come_next() -> None:
    path = path_of(story(*TO_RUNNING))
    assert list(path.visits) == ["Submitted", "Waiting", "Ready", "Scheduled", "Running"]
    assert path.current is JobState.RUNNING
    assert set(path.next) == {JobState.WAITING, JobState.DONE, JobState.ABORTED, JobState.CANCELED}
    assert path.steps[JobState.READY, JobState.SCHEDULED] == 1


def test_the_time_line_splits_into_the_four_overheads_and_the_run(
    context: TestContext, pane: StoryPane, until: Until
) -> None:
    context.put(row("Done", exit_code=0, ended=BEGUN + 392), story(*TO_FAILED, exit_code=0))
    pane.show_job(JOB)
    until(lambda: pane.timeline.steps)
    assert [(one.step.value, round(one.seconds, 3)) for one in pane.timeline.steps] == [
        ("pre-processing", 0.004),
        ("selection", 34.996),
        ("remote submission", 0.1),
        ("start-up", 7.0),
        ("running", 349.9),
    ]


def test_no_step_is_too_short_to_be_seen(context: TestContext, pane: StoryPane) -> None:
    pane.timeline.show_steps(spent(replayed_events(story(*TO_FAILED)), BEGUN + 400))
    widths = pane.timeline.widths(320.0)
    assert min(widths) >= 3.0
    assert sum(widths) == pytest.approx(320.0)


def test_the_step_that_goes_on_grows_with_the_clock(
    context: TestContext, pane: StoryPane, until: Until
) -> None:
    context.put(row("Running"), story(*TO_RUNNING))
    pane.show_job(JOB)
    until(lambda: pane.timeline.steps)
    before = pane.timeline.steps[-1]
    assert before.open
    until(lambda: pane.timeline.steps[-1].seconds > before.seconds)


def test_events_of_a_newer_broker_are_left_out_and_not_fatal() -> None:
    events = story(*TO_RUNNING, (50.0, "job.teleported", "Running", "Running", ""))
    assert len(replayed_events(events)) == len(TO_RUNNING)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"state": "Running", "exit_code": 7, "signal": 9}, ""),
        ({"exit_code": 0}, "Ended well (exit 0)"),
        ({"exit_code": 127}, "Exit 127: the program was not found"),
        ({"exit_code": 7}, "The application reported a failure (exit 7)"),
        ({"state": "Aborted", "signal": 9}, "Killed by SIGKILL (9: killed)"),
        ({"exit_code": 139}, "Exit 139: by convention, killed by sigsegv (11: segmentation fault)"),
        ({}, ""),
    ],
)
def test_the_end_is_said_in_words(told: dict[str, int], said: str) -> None:
    assert job_times.end_words({"state": "Done"} | told) == said


def test_the_pane_shows_way_events_and_resources(context: TestContext, pane: StoryPane, until: Until) -> None:
    context.put(row("Done", exit_code=7, ended=BEGUN + 392), story(*TO_FAILED, exit_code=7))
    pane.show_job(JOB)
    until(lambda: pane.events.count() == 7)
    assert pane.chart.path.current is JobState.DONE
    assert "failure (exit 7)" in pane.now.text()
    assert "next may be Cleared" in pane.chart.accessibleName()
    assert "Running 5 m 50 s" in pane.timeline.accessibleName()
    assert "keeps its place" in pane.events.item(2).text()


def test_a_new_event_appears_by_itself_and_the_running_state_pulses(
    context: TestContext, pane: StoryPane, until: Until
) -> None:
    context.put(row("Scheduled", started=None), story(*TO_RUNNING[:5]))
    pane.show_job(JOB)
    until(lambda: pane.events.count() == 5)
    assert not pane.chart._beat.isActive()
    context.put(row("Running"), story(*TO_RUNNING))
    until(lambda: pane.events.count() == 6)
    assert pane.chart._beat.isActive()
    until(lambda: not pane.chart._beat.isActive())


def test_what_a_waiting_job_waits_for_is_said(context: TestContext, pane: StoryPane, until: Until) -> None:
    context.put(row("Waiting", matched=None, scheduled=None, started=None, site=""), story(*TO_RUNNING[:2]),
             waits_for="Waits for 4 free CPUs.", queue_place=3)  # fmt: skip
    pane.show_job(JOB)
    until(lambda: pane.now.text() != "")
    assert pane.now.text() == "Waits for 4 free CPUs. It is number 3 in the queue."


def test_why_a_waiting_job_does_not_run_is_answered_in_words(
    context: TestContext, pane: StoryPane, until: Until
) -> None:
    context.put(row("Waiting", matched=None, scheduled=None, started=None, site=""), story(*TO_RUNNING[:2]))
    pane.show_job(JOB)
    until(pane.waiting.isVisible)
    panel = pane.waiting
    assert panel.headline.accessibleName() == "No site has 4 free CPUs now."
    assert panel.remedy.text().startswith("Ask for 2 CPUs")
    told = "Number 2 in the queue; none of 3 resources fits now, 2 would when idle;"
    assert panel.numbers.text().startswith(told)
    assert pane.now.isHidden()
    panel.first.click()
    panel.where.click()
    assert context.opened == [f"{OTHER} story", f"{JOB} where"]
    context.put(row("Running"), story(*TO_RUNNING))
    until(panel.isHidden)
    assert pane.now.isVisible()


def test_thousands_of_events_show_the_latest(context: TestContext, pane: StoryPane, until: Until) -> None:
    many = [*TO_RUNNING[:2], *[(n, "job.postponed", "Waiting", "Waiting", f"try {n}") for n in range(5000)]]
    context.put(row("Waiting"), story(*many))
    pane.show_job(JOB)
    until(lambda: pane.events.count() == 300)
    assert "try 4999" in pane.events.item(299).text()
