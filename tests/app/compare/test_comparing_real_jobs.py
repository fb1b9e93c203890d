"""Jobs that really ran, compared in a real window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from app.actions.table import COMPARED
from app.inspector.compare.page import ComparePage
from app.stores.alike import Alike
from app.theme.tokens import Mode
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.pictures import PICTURES, nameless
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually

JOB = r"""[
  Executable = "/bin/sh";
  Arguments = "-c '%s'";
  StdOutput = "out.txt";
  StdError = "err.txt";
  OutputSandbox = {"out.txt", "err.txt", "losses.csv", "only.txt"};
]
"""
TRAIN = (
    r"echo begin; for n in 1 2 3 4 5 6 7 8 9; do echo equal $n; done; echo rate %s; "
    r"echo epoch,loss > losses.csv; for n in 1 2 3 4; do echo $n,%s >> losses.csv; done; %s"
)
HOSTILE = r"printf \"\\\\033[31mred\\\\033[0m <b>bold</b> \\\\007\\\\033]0;title\\\\007end\\\\n\""


async def run(on: Stage, commands: dict[str, str]) -> list[str]:
    """Submit commands by the names of their jobs, and wait for their ends."""
    items = [SubmissionItem(description=JOB % command, name=name) for name, command in commands.items()]
    receipt = await on.context.client.submit(Submission(key=f"compare-{id(items):012d}", items=items))
    await eventually(lambda: all(on.ended(job) for job in receipt.ids), 90)
    return list(receipt.ids)


async def compared(on: Stage, ids: list[str]) -> ComparePage:
    """Select jobs and compare them by the action of the table."""
    on.window.show_jobs(ids)
    await eventually(lambda: sorted(on.window.jobs.view.chosen()) == sorted(ids))
    on.context.trigger("job.compare")
    page = on.window.tabs.currentWidget()
    assert isinstance(page, ComparePage)
    await eventually(lambda: len(page.jobs) == len(ids))
    return page


def values(page: ComparePage, name: str) -> tuple[str, ...]:
    return next(fact.values for fact in page.overview.facts if fact.name == name)


async def save(on: Stage, name: str) -> None:
    for mode in (Mode.LIGHT, Mode.DARK):
        on.context.theme.wear(mode=mode)
        for width, height in ((1280, 800), (900, 560)):
            on.window.resize(width, height)
            await turns(8)
            assert on.window.grab().save(str(PICTURES / f"compare-{name}-{mode.value}-{width}.png"))


@pytest.mark.expected_log(r"\d+ failed")
def test_three_jobs_are_compared_in_every_view(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        ids = await run(on, {
            "slow": TRAIN % ("0.1", "0.$n", "echo x > only.txt"),
            "fast": TRAIN % ("0.5", "0.$n", "true"),
            "broken": TRAIN % ("0.5", "9.$n", "echo no such thing >&2; exit 7"),
        })  # fmt: skip
        page = await compared(on, ids)
        assert [job.row["name"] for job in page.jobs] == ["slow", "fast", "broken"]
        assert values(page, "Exit code") == ("0", "0", "7")
        assert {fact.name for fact in page.overview.facts if not fact.differs} >= {"CPUs", "Ran at", "Kind"}
        await save(on, "overview")

        page.show_tab("description")
        await eventually(lambda: page.descriptions.view.content.differing)
        await save(on, "description")

        page.show_tab("logs")
        await eventually(lambda: page.logs.view.content.differing == 1)
        assert "rate 0.1 | rate 0.5 | rate 0.5" in page.logs.view.visible_lines()
        await save(on, "logs")
        page.logs.chooser.setCurrentIndex(1)
        await eventually(lambda: " |  | no such thing" in page.logs.view.visible_lines())

        page.show_tab("output")
        await eventually(lambda: page.outputs.table.facts)
        files = {fact.name: fact for fact in page.outputs.table.facts}
        assert files["only.txt"].values[1:] == ("–", "–")
        assert [value[-9:] for value in files["losses.csv"].values] == ["version 1", "version 1", "version 2"]
        await eventually(lambda: [one.kind() for one in page.outputs.previews] == ["table"] * 3)
        await save(on, "output")
        row = [getattr(one, "name", "") for one in page.outputs.table.model_.rows].index("only.txt")
        page.outputs.table.selectRow(row)
        await eventually(lambda: page.outputs.previews[0].kind() == "text")
        assert page.outputs.previews[1].empty_state.heading.text() == "No such file"
        assert nameless(on.window) == set()
        on.window.resize(900, 560)
        await turns()
        assert page.minimumSizeHint().width() <= on.window.tabs.minimumSizeHint().width()

    play(qapp, broker, scenario)


@pytest.mark.expected_log(r"\d+ failed")
def test_only_differences_leaves_out_what_is_equal(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        ids = await run(on, {"one": TRAIN % ("1", "1", "true"), "two": TRAIN % ("2", "1", "exit 4")})
        page = await compared(on, ids)
        page.only.setChecked(True)
        shown = [getattr(row, "name", row) for row in page.overview.model_.rows]
        assert "Kind" not in shown
        assert "Exit code" in shown
        page.show_tab("logs")
        await eventually(lambda: "rate 1 | rate 2" in page.logs.view.visible_lines())
        assert page.logs.view.visible_lines()[0] == "8 equal lines not shown"
        await save(on, "only")
        page.logs.numbers.setChecked(True)
        await eventually(lambda: page.logs.summary.text() == "All lines are equal")
        assert page.logs.quiet.heading.text() == "No differences"
        page.show_tab("output")
        await eventually(lambda: page.outputs.table.facts)
        listed = [getattr(row, "name", row) for row in page.outputs.table.model_.rows]
        assert "losses.csv" not in listed

    play(qapp, broker, scenario)


@pytest.mark.expected_log(r"\d+ failed")
def test_hostile_logs_a_job_without_output_and_one_removed_meanwhile(
    qapp: QApplication, broker: Path
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        ids = await run(on, {
            "escapes": HOSTILE,
            "binary": r"head -c 4096 /dev/zero",
            "silent": "true",
            "long": "seq 1 30000",
        })  # fmt: skip
        page = await compared(on, ids)
        page.show_tab("logs")
        await eventually(lambda: page.logs.view.content.texts)
        texts = [list(text) for text in page.logs.view.content.texts]
        assert texts[0] == ["red <b>bold</b> ·end"]
        assert texts[1] == []
        assert texts[2] == []
        assert len(texts[3]) == 20_000
        assert "binary: 4.0 KiB that are not text." in page.logs.remarks.text()
        assert "long: only the first 20,000 lines of" in page.logs.remarks.text()
        await save(on, "hostile")
        await on.context.client.purge([ids[2]])
        await eventually(lambda: "silent was removed with its files." in page.gone.text())
        assert page.gone.isVisible()
        assert len(page.jobs) == 4

    play(qapp, broker, scenario)


def test_compare_is_offered_for_two_to_five_jobs_only(qapp: QApplication, state_dir: Path) -> None:
    async def scenario(on: Stage) -> None:
        on.context.actions.link(True)
        row = {"state": "Done", "held": "", "interactive": False}
        for number in range(8):
            on.context.actions.select([Alike(row, number)])
            assert on.context.actions.qt("job.compare").isEnabled() is (COMPARED[0] <= number <= COMPARED[1])

    play(qapp, state_dir, scenario, connect=False)


@pytest.mark.expected_log(r"\d+ failed")
def test_columns_scroll_together_and_steps_lead_to_differences(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        ids = await run(on, {"all": "seq 1 500", "gap": "seq 1 300; echo other; seq 302 500"})
        page = await compared(on, ids)
        page.show_tab("logs")
        view = page.logs.view
        await eventually(lambda: view.content.differing == 1)
        view.step(1)
        await turns()
        assert view.visible_lines()[0] == "301 | other"
        view.setFocus()
        view.keyPressEvent(key(Qt.Key.Key_End))
        assert view.visible_lines()[-1] == "500 | 500"
        view.keyPressEvent(key(Qt.Key.Key_Home))
        assert view.visible_lines()[0] == "1 | 1"

    play(qapp, broker, scenario)


def key(code: Qt.Key) -> object:
    from PySide6.QtGui import QKeyEvent

    return QKeyEvent(QKeyEvent.Type.KeyPress, code, Qt.KeyboardModifier.NoModifier)
