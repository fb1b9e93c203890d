"""The Use tab: words, charts beside what was asked for, and what to ask for the next time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from app.inspector.inspector import Inspector
from app.inspector.use import UsePane, asked_in, twice
from app.jobs.rerun_sheet import RerunSheet
from broker_core.jobs.use import FILE, UseSample
from tests.app.inspector.recorded import BEGUN, JOB, TO_FAILED, TO_RUNNING, TestContext, row, story
from tests.waiting import eventually

TEXT = '[ Executable = "train.sh"; MemoryPerNode = 4096; WallTime = "2h"; ]'
GB = 1 << 30


@pytest.fixture
def pane(qtbot: QtBot, context: TestContext) -> UsePane:
    made = UsePane(context)
    qtbot.addWidget(made)
    made.resize(420, 600)
    made.show()
    return made


def written(context: TestContext, state: str, *steps: Any, samples: int = 3, **details: Any) -> None:
    """A job that uses 1, 2, 3 ... GB and as many CPUs."""
    made = [UseSample(30 * one, 15.0 * one * (one + 1), (one + 1) * GB) for one in range(samples)]
    (context.client.folder / FILE).write_text("".join(one.line() for one in made))
    context.put(row(state, ended=BEGUN + 400 if state != "Running" else None), story(*steps, **details))
    answer = context.client.details[JOB]
    context.client.details[JOB] = answer.model_copy(update={"description": TEXT, "effective": TEXT})


def test_a_running_job_is_drawn_beside_what_it_asked_for(
    loop: asyncio.AbstractEventLoop, context: TestContext, pane: UsePane
) -> None:
    written(context, "Running", *TO_RUNNING)
    pane.show_job(JOB)
    memory = pane.charts["Memory"]
    loop.run_until_complete(eventually(lambda: memory.plot is not None))
    assert memory.plot is not None
    assert pane.words.text() == "So far 3.0 of 4 GB of memory and 1.5 of 4 CPUs."
    assert [list(curve.getData()[1]) for curve in memory.plot.curves] == [[1, 2, 3], [4, 4, 4]]
    loop.run_until_complete(eventually(lambda: pane.charts["CPUs"].plot is not None))
    cpus = pane.charts["CPUs"].plot
    assert cpus is not None
    assert [list(curve.getData()[1]) for curve in cpus.curves] == [[1, 1, 2], [4, 4, 4]]
    assert not pane.charts["GPUs"].isVisible()
    assert not pane.more.isVisible()
    assert not pane.copy.isVisible()


def test_gpus_and_disk_are_drawn_where_samples_know_them(
    loop: asyncio.AbstractEventLoop, context: TestContext, pane: UsePane
) -> None:
    written(context, "Running", *TO_RUNNING)
    text = TEXT.replace("[", "[ GPUNumber = 2; ScratchSize = 2048;", 1)
    lines = "0 0 1000 524288 - -\n30 100 1000 1048576 50 100\n60 200 1000 1048576 150 100\n"
    (context.client.folder / FILE).write_text(lines)
    answer = context.client.details[JOB]
    context.client.details[JOB] = answer.model_copy(update={"description": text, "effective": text})
    pane.show_job(JOB)
    gpus, disk = pane.charts["GPUs"], pane.charts["Disk"]
    loop.run_until_complete(eventually(lambda: gpus.plot is not None and disk.plot is not None))
    assert gpus.plot is not None
    assert disk.plot is not None
    assert [list(curve.getData()[1]) for curve in gpus.plot.curves] == [[0.5, 1.5], [2, 2]]
    assert [list(curve.getData()[1]) for curve in disk.plot.curves] == [[0.5, 1, 1], [2, 2, 2]]
    assert pane.words.text().endswith("1.0 of 2 GPUs and 1.0 of 2 GB of disk.")


@pytest.mark.parametrize(
    ("failure", "text", "change"),
    [
        ("out-of-memory", "Resubmit with twice the memory", {"MemoryPerNode": "8192"}),
        ("wall-limit", "Resubmit with twice the time", {"WallTime": '"240m"'}),
    ],
)
def test_what_a_job_ran_out_of_is_offered_twofold(
    failure: str, text: str, change: dict[str, str], context: TestContext, pane: UsePane,
    turn: Callable[[], None], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    asked: list[Any] = []
    monkeypatch.setattr("app.inspector.use.run_again", lambda *words: asked.append(words[1:]))
    written(context, "Aborted", *TO_FAILED, samples=1, failure=failure)
    pane.show_job(JOB)
    turn()
    assert (pane.more.isVisible(), pane.more.text()) == (True, text)
    pane.more.click()
    assert asked == [([JOB], change)]
    assert not pane.copy.isVisible()


@pytest.mark.parametrize(
    ("failure", "title", "prepared", "changes"),
    [
        ("wall-limit", "Resubmit with another time limit…", ("", "240m"), {"WallTime": "24h"}),
        ("out-of-memory", "Resubmit with another amount of memory…", ("8192M", ""), {"Memory": "24h"}),
    ],
)
def test_another_figure_can_be_chosen_than_twice(
    failure: str, title: str, prepared: tuple[str, str], changes: dict[str, str], context: TestContext,
    pane: UsePane, turn: Callable[[], None],
) -> None:  # fmt: skip
    written(context, "Aborted", *TO_FAILED, samples=1, failure=failure)
    pane.show_job(JOB)
    turn()
    assert (pane.other.isVisible(), pane.other.text()) == (True, title)
    pane.other.click()
    turn()
    (sheet,) = pane.window().findChildren(RerunSheet)
    assert (sheet.memory.text(), sheet.time.text()) == prepared
    (sheet.time if failure == "wall-limit" else sheet.memory).setText("24h")
    assert sheet.changes() == changes
    sheet.reject()


def test_better_figures_go_into_a_copy(
    context: TestContext, pane: UsePane, turn: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(context, "open_editor", lambda text, path=None: opened.append(text), raising=False)
    written(context, "Done", *TO_FAILED)
    answer = context.client.details[JOB]
    context.client.details[JOB] = answer.model_copy(
        update={"files": [], "usage": {"wall_s": 90.0, "cpu_s": 45.0}}
    )
    pane.show_job(JOB)
    turn()
    assert pane.words.text() == "Used 3.0 of 4 GB of memory and 0.5 of 4 CPUs."
    pane.copy.click()
    turn()
    (text,) = opened
    assert "MemoryPerNode = 3900" in text.replace("  ", " ")
    assert 'WallTime = "5m"' in text


def test_a_job_without_samples_says_why(
    context: TestContext, pane: UsePane, turn: Callable[[], None]
) -> None:
    context.put(row("Waiting", started=None), story(*TO_RUNNING[:3]))
    pane.show_job(JOB)
    turn()
    assert not pane.showing_content()
    written(context, "Running", *TO_RUNNING, samples=0)
    pane.refresh()
    turn()
    assert pane.showing_content()
    assert pane.note.text().startswith("Samples come every half minute")


@pytest.mark.parametrize("nodes", [1, 2])
def test_a_job_of_several_nodes_says_which_of_them_is_measured(
    context: TestContext, pane: UsePane, turn: Callable[[], None], nodes: int
) -> None:
    written(context, "Running", *TO_RUNNING)
    text = f'[ Executable = "train.sh"; HostNumber = {nodes}; ]'
    answer = context.client.details[JOB]
    context.client.details[JOB] = answer.model_copy(update={"description": text, "effective": text})
    pane.show_job(JOB)
    turn()
    assert ("the first one alone" in pane.note.text()) == (nodes > 1)


def test_the_tab_stands_before_the_description(qtbot: QtBot, context: TestContext) -> None:
    inspector = Inspector(context)
    qtbot.addWidget(inspector)
    titles = [inspector.tabs.tabText(place) for place in range(inspector.tabs.count())]
    assert titles[-2:] == ["Use", "Description"]


def test_other_names_of_the_same_are_kept() -> None:
    assert twice("wall-limit", '[ MaxWallTime = "1h"; ]', None, 10.0) == {"MaxWallTime": '"120m"'}
    assert twice("wall-limit", "[ ]", None, 600.0) == {"WallTime": '"20m"'}
    assert twice("wall-limit", "[ ]", None, None) == {}
    assert twice("out-of-memory", "[ MemoryPerCPU = 500; ]", GB, None) == {"MemoryPerCPU": "1000"}
    assert twice("out-of-memory", "[ ]", GB, None) == {"MemoryPerNode": "2048"}
    assert twice("", "[ ]", GB, 1.0) == {}
    assert asked_in("[ MemoryPerCPU = 500; ]", 4).memory == 2000 << 20


@pytest.mark.parametrize(
    ("text", "one"),
    [
        ("[ CpuNumber = 4; ]", True),
        ('[ JobType = "Parallel"; SubJobType = "plain"; NodeNumber = 4; HostNumber = 1; ]', True),
        ("[ CpuNumber = 4; HostNumber = 0; ]", False),
        ("[ CpuNumber = 4; WholeNodes = true; ]", False),
        ('[ JobType = "Parallel"; SubJobType = "openmpi"; NodeNumber = 4; ]', False),
    ],
)
def test_fewer_cpus_are_proposed_for_one_program_alone(text: str, one: bool) -> None:
    assert asked_in(text, 4).one_program is one
