"""Places share one tab; what was open and selected is so again at the next start."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.shell.opened import reopen
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually

PLACES = ("view.jobs", "view.sites", "view.statistics", "view.scheduler", "help.contents", "view.simulation")


def _shown(on: Stage) -> list[str]:
    tabs = on.window.tabs
    return [tabs.tabText(at) for at in range(tabs.count()) if tabs.isTabVisible(at)]


def test_places_share_one_tab_left_of_what_was_opened(qapp: QApplication, state_dir: Path) -> None:
    async def scenario(on: Stage) -> None:
        on.context.open_editor("")
        for place in PLACES:
            on.context.trigger(place)
            await turns(3)
            page = on.window.tabs.currentWidget()
            assert len(_shown(on)) == 2
            assert on.window.tabs.tabText(on.window.tabs.indexOf(page)) == _shown(on)[0]
        on.context.show_query("")
        assert _shown(on)[0] == "Jobs"
        on.window.tabs.setCurrentWidget(on.window.tabs.editors()[0])
        on.context.trigger("tab.close")
        on.context.trigger("tab.close")
        await turns()
        assert _shown(on) == ["Jobs"]

    play(qapp, state_dir, scenario, connect=False)


@pytest.mark.expected_log(r"\d+ failed")
def test_tabs_place_and_selection_come_back(qapp: QApplication, broker: Path, tmp_path: Path) -> None:
    described = tmp_path / "mine.jdl"
    described.write_text('Executable = "/bin/true";')
    seen: list[str] = []

    async def before(on: Stage) -> None:
        await on.ready()
        seen.append(await on.finished("fails"))
        on.window.show_job(seen[0])
        on.window.open_job(seen[0])
        on.window.handlers.open_file(described)
        on.context.trigger("view.statistics")
        await turns()

    async def after(on: Stage) -> None:
        reopen(on.window)
        await on.ready()
        await eventually(lambda: on.window.jobs.view.chosen() == seen)
        assert sorted(_shown(on)) == sorted(["Statistics", "mine.jdl", on.context.jobs.row(seen[0])["name"]])
        assert on.window.tabs.view() == "statistics"
        assert on.window.tabs.currentWidget() not in on.window.tabs.editors()

    play(qapp, broker, before)
    play(qapp, broker, after)


def test_batches_and_comparisons_come_back_and_what_was_in_front_is(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    described = tmp_path / "mine.jdl"
    described.write_text('Executable = "/bin/true";')

    async def before(on: Stage) -> None:
        await on.ready()
        item = SubmissionItem(
            description='Executable = "/bin/true"; Arguments = "_PARAM_";', values=["1", "2"], name="two"
        )
        sent = Submission(key="a-batch-in-front", items=[item], hold="test")
        receipt = await on.context.client.submit(sent)
        await eventually(lambda: len(on.context.jobs.of_batch.get(receipt.batch, ())) == 2)
        on.window.handlers.open_file(described)
        on.window.handlers.compare_jobs(receipt.ids)
        on.window.handlers.show_batch(receipt.batch)
        await turns()

    async def after(on: Stage) -> None:
        reopen(on.window)
        await on.ready()
        await eventually(lambda: len(_shown(on)) == 4)
        tabs = on.window.tabs
        assert [kind for kind, _ in tabs.open_documents()] == ["file", "compare", "batch"]
        assert tabs.document(tabs.currentWidget())[0] == "batch"
        on.window.handlers.open_file(described)

    async def again(on: Stage) -> None:
        reopen(on.window)
        await on.ready()
        await eventually(lambda: len(_shown(on)) == 4)
        assert on.window.tabs.document(on.window.tabs.currentWidget()) == ["file", str(described)]

    for scenario in (before, after, again):
        play(qapp, broker, scenario)


def test_unfolded_batches_come_back_with_the_rows(qapp: QApplication, broker: Path) -> None:
    batches: list[str] = []

    def unfolded(on: Stage) -> list[str]:
        return [batch.id for batch in on.window.jobs.table.view.batches if batch.open]

    async def before(on: Stage) -> None:
        await on.ready()
        for key in ("first-of-two-batches", "second-of-two-batches"):
            item = SubmissionItem(
                description='Executable = "/bin/true"; Arguments = "_PARAM_";', values=["1", "2"]
            )
            receipt = await on.context.client.submit(Submission(key=key, items=[item], hold="test"))
            batches.append(receipt.batch)
        lines = on.window.jobs.table.view
        await eventually(lambda: len(lines.lines) == 2)
        lines.fold(lines.line_of_batch(batches[0]), True)
        on.context.show_query("state:running")
        await eventually(lambda: not lines.lines and not lines.working)

    async def after(on: Stage) -> None:
        reopen(on.window)
        await on.ready()
        on.context.show_query("")
        await eventually(lambda: unfolded(on) == batches[:1])
        assert len(on.window.jobs.table.view.lines) == 4
        on.window.jobs.table.view.fold_all(False)

    async def folded(on: Stage) -> None:
        reopen(on.window)
        await on.ready()
        await eventually(lambda: len(on.window.jobs.table.view.lines) == 2)
        assert unfolded(on) == []

    for scenario in (before, after, folded):
        play(qapp, broker, scenario)


def test_what_is_gone_is_left_out(qapp: QApplication, broker: Path, tmp_path: Path) -> None:
    async def scenario(on: Stage) -> None:
        on.context.preferences["open_tabs"] = [["file", str(tmp_path / "gone.jdl")], ["job", "x"], ["odd"]]
        on.context.preferences["selected_jobs"] = ["x"]
        on.context.preferences["page"] = "nowhere"
        reopen(on.window)
        await on.ready()
        assert _shown(on) == ["Jobs"]
        assert on.window.jobs.view.chosen() == []

    play(qapp, broker, scenario)
