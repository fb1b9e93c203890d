"""What a user does in the window, before a real broker: queries, settings, columns, output, batches."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QComboBox, QFileDialog, QInputDialog, QMenu, QSpinBox

from app.jobs.columns import BY_NAME
from app.shell.settings import SettingsDialog
from app.stores.link import ConnectionState
from app.submission.draft import JobDraft
from app.submission.sheet import SheetStage as Sending
from app.submission.sheet import SubmissionSheet
from app.theme.tokens import Mode
from broker_core.errors import CrossDeskError
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually


def test_a_query_is_saved_under_a_name_and_used_again(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        job = await on.finished("fails")
        jobs, sidebar = on.window.jobs, on.window.sidebar
        jobs.bar.show_text("name:nothing*")
        await eventually(lambda: jobs.state.title.text() == "No job matches")
        jobs.bar.save.click()
        dialog = await eventually(lambda: on.window.findChild(QInputDialog))
        dialog.setTextValue("Those of nobody")
        dialog.accept()
        assert on.context.preferences["saved_queries"] == [["Those of nobody", "name:nothing*"]]
        jobs.bar.show_text("")
        await eventually(lambda: jobs.table.rowCount() == 1)
        assert jobs.table.id_at(0) == job
        rows = range(sidebar.list.count())
        entry = next(
            sidebar.list.item(at) for at in rows if sidebar.list.item(at).text() == "Those of nobody"
        )
        sidebar.list.setCurrentItem(entry)
        assert jobs.bar.edit.text() == "name:nothing*"
        await eventually(lambda: jobs.table.rowCount() == 0)

    play(qapp, broker, scenario)


def test_settings_take_effect_at_once_and_are_kept(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.context.theme.wear(mode=Mode.LIGHT)
        rows, light = on.window.jobs.view.verticalHeader(), on.context.theme.color("surface").lightness()
        sheet = SettingsDialog(on.context, on.window)
        sheet.open()
        colors = next(box for box in sheet.findChildren(QComboBox) if box.findData(Mode.DARK) >= 0)
        size = next(box for box in sheet.findChildren(QSpinBox) if box.accessibleName() == "Text size")
        colors.setCurrentIndex([colors.itemData(at) for at in range(colors.count())].index(Mode.DARK))
        assert on.context.theme.color("surface").lightness() < light
        compact = next(box for box in sheet.findChildren(type(sheet._box("compact", ""))) if box.text())
        before = rows.defaultSectionSize()
        compact.click()
        assert rows.defaultSectionSize() < before
        size.setValue(20)
        assert on.window.jobs.bar.edit.font().pixelSize() == 20
        assert rows.defaultSectionSize() > before
        kept = [on.context.preferences[name] for name in ("theme", "font_size", "compact")]
        assert kept == ["dark", 20, True]
        sheet.close()
        on.context.theme.wear(mode=Mode.LIGHT, size=13)

    play(qapp, broker, scenario)


def test_columns_are_chosen_from_the_menu_and_kept(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        view, place = on.window.jobs.view, BY_NAME["cpus"]
        hidden = view.isColumnHidden(place)
        on.context.trigger("jobs.columns")
        menu = await eventually(lambda: on.window.jobs.findChild(QMenu))
        offers = {offer.text(): offer for offer in menu.findChildren(QAction)}
        assert not offers["Name"].isEnabled()
        offers[on.window.jobs.table.headerData(place, view.horizontalHeader().orientation())].trigger()
        assert view.isColumnHidden(place) is not hidden
        kept = {name: shown for name, _, shown in on.context.preferences["columns"]}
        assert kept["cpus"] is hidden
        menu.close()

    play(qapp, broker, scenario)


def test_output_is_fetched_and_a_job_submitted_again_from_the_table(
    qapp: QApplication, broker: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "fetched"
    folder.mkdir()

    async def scenario(on: Stage) -> None:
        await on.ready()
        job = await on.finished("fails")
        await eventually(on.context.actions.qt("job.fetch").isEnabled)
        assert on.window.jobs.view.chosen() == [job]
        on.context.trigger("job.fetch")
        dialog = await eventually(lambda: on.window.findChild(QFileDialog))
        dialog.fileSelected.emit(str(folder))
        dialog.close()
        await eventually(lambda: on.context.jobs.row(job)["state"] == "Cleared", what="the output was taken")
        assert [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size]
        await eventually(lambda: on.window.jobs.view.choose(job), what="the table shows it")
        on.context.trigger("job.resubmit")
        await eventually(lambda: len(on.context.jobs) == 2)
        again = next(one for one in on.context.jobs.at if one != job)
        await eventually(lambda: on.ended(again), 60)
        assert on.context.jobs.row(again)["exit_code"] == on.context.jobs.row(job)["exit_code"] == 7

    play(qapp, broker, scenario)


def test_all_jobs_of_a_submitted_batch_are_selected(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        on.window.jobs.bar.show_text("state:aborted")
        jobs = tuple(JobDraft(name, f'Executable = "/bin/echo"; Arguments = "{name}";') for name in "abc")
        sheet = SubmissionSheet(on.context, jobs, on.window)
        done: list[list[str]] = []
        sheet.submitted.connect(done.append)
        sheet.open()
        await eventually(lambda: sheet.stage is Sending.READY)
        sheet.form.submit.click()
        await eventually(lambda: done)
        await eventually(lambda: sorted(on.window.jobs.view.chosen()) == sorted(done[0]))
        assert len(done[0]) == 3
        assert sorted(on.window.inspector.ids) == sorted(done[0])

    play(qapp, broker, scenario)


def test_a_batch_submitted_again_is_a_batch_again(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        text = 'Executable = "/bin/echo"; Arguments = "_PARAM_";'
        item = SubmissionItem(description=text, values=["u", "v", "w"])
        first = await on.context.client.submit(Submission(key="swept-in-a-test", items=[item], hold="test"))
        await eventually(lambda: len(on.context.jobs) == 3 and on.window.jobs.view.choose_all(first.ids))
        on.context.trigger("job.resubmit")
        await eventually(lambda: len(on.context.jobs) == 6)
        again = [on.context.jobs.row(job) for job in on.context.jobs.at if job not in first.ids]
        assert sorted(row["parameter"] for row in again) == ["u", "v", "w"]
        assert len({row["batch"] for row in again}) == 1
        assert {row["batch"] for row in again} != {on.context.jobs.row(first.ids[0])["batch"]}

    play(qapp, broker, scenario)


def test_running_jobs_pulse_only_while_the_broker_is_there(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        pulse, delegate = on.window.jobs.pulse, on.window.jobs.view.delegate
        assert not pulse.beating
        item = SubmissionItem(description='Executable = "/bin/sleep"; Arguments = "300";')
        await on.context.client.submit(Submission(key="asleep-in-a-test", items=[item]))
        await eventually(lambda: pulse.beating and delegate.pulse < 1)
        on.context.link.set(ConnectionState.RECONNECTING, "The broker ended.")
        assert (pulse.beating, delegate.pulse) == (False, 1.0)

    play(qapp, broker, scenario)


def test_sites_and_statistics_say_why_they_show_nothing(qapp: QApplication, state_dir: Path) -> None:
    async def scenario(on: Stage) -> None:
        for place in ("view.sites", "view.statistics"):
            on.context.trigger(place)
            await turns()
            pane = on.window.tabs.currentWidget()
            assert pane.state.isVisible()
            assert pane.state.title.text() == "Connecting to the broker"
        on.context.begin()
        await eventually(lambda: on.context.link.up, 60)
        statistics = on.window.tabs.currentWidget()
        await eventually(lambda: statistics.state.title.text() == "Nothing to count yet")
        on.context.trigger("view.sites")
        sites = on.window.tabs.currentWidget()
        await eventually(lambda: sites.cards)
        assert not sites.state.isVisible()

    play(qapp, state_dir, scenario, connect=False)


def test_sites_and_statistics_offer_to_ask_again_after_an_error(qapp: QApplication, broker: Path) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        problem = CrossDeskError("The disk could not be read.", place="store")
        on.context.trigger("view.statistics")
        statistics = on.window.tabs.currentWidget()
        await eventually(lambda: statistics.numbers and on.context.sites.views)
        statistics.numbers = None
        statistics.show_error(problem)
        assert statistics.state.title.text() == "The statistics could not be read"
        assert "The disk could not be read." in statistics.state.text.text()
        statistics.state.primary.click()
        await eventually(lambda: statistics.state.title.text() == "Nothing to count yet")
        on.context.trigger("view.sites")
        sites = on.window.tabs.currentWidget()
        on.context.sites.views = []
        sites.show_error(problem)
        assert sites.state.title.text() == "The sites could not be read"
        sites.state.primary.click()
        await eventually(lambda: not sites.state.isVisible())

    play(qapp, broker, scenario)
