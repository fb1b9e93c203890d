"""Jobs that were submitted outside CrossDesk, in the table, the sidebar and the inspector of a window."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QMessageBox

from app.stores.link import ConnectionState
from app.theme.tokens import Mode
from broker_core.wire.outside import OutsideDetail, OutsideJob, OutsideJobs, OutsideOutput
from broker_core.wire.outside_columns import UNKNOWN
from broker_core.wire.sites import LogLine, SiteView
from broker_core.wire.slots import SlotsView
from tests.app.inspector.recorded import row
from tests.app.pictures import PICTURES
from tests.app.windows import Stage, play, turns
from tests.waiting import eventually

NOW = 1_795_000_000.0


def made(id: str, state: str, word: str, **more: object) -> OutsideJob:
    """One job of vega."""
    story = [LogLine(time=NOW, words=f"First seen: {state} ({word})")]
    known = {"site": "vega", "id": id, "state": state, "word": word, "story": story, "submitted": NOW}
    return OutsideJob.model_validate(known | {"name": f"relax-{id}", "queue": "main"} | more)


JOBS = [
    made("4711", "Running", "RUNNING", cpus=16, started=NOW + 60, node="n017"),
    made("4712", "Waiting", "PENDING", reason="Resources"),
    made("4713_2", "Done", "FAILED", exit_code=3, started=NOW, ended=NOW + 400),
    made("4714", UNKNOWN, "", ended=NOW + 500, reason="It has left the batch system's list."),
    made("4715", "Waiting", "PENDING", name="<b>bold</b>\x1b[31m\u202egpj.exe", reason="Priority"),
]


class Teller:
    """Stands in for the broker's answers about such jobs."""

    def __init__(self) -> None:
        self.canceled: list[str] = []
        self.looks: list[bool] = []

    async def sites(self) -> list[SiteView]:
        return []

    async def slots(self) -> SlotsView:
        return SlotsView(now=NOW, sites=[], glideins=[])

    async def outside_jobs(self, *, refresh: bool = True, wait: bool = False) -> OutsideJobs:
        self.looks.append(refresh)
        return OutsideJobs(jobs=JOBS, silent={"lyra": "It does not answer."})

    async def outside_job(self, site: str, id: str) -> OutsideDetail:
        job = next(job for job in JOBS if job.id == id)
        return OutsideDetail(job=job, facts=[("Reason", "Resources"), ("WorkDir", "/home/ann/relax")])

    async def outside_output(self, site: str, id: str, *, error: bool = False) -> OutsideOutput:
        return OutsideOutput(path="/home/ann/relax.out", size=9, text="step 1\x1b[2J\n")

    async def cancel_outside(self, site: str, id: str) -> OutsideJob:
        self.canceled.append(f"{site}/{id}")
        return JOBS[0]


async def shown(on: Stage) -> Teller:
    """A window that has some jobs of its own and some of outside, and shows the latter."""
    teller = Teller()
    on.context.session.client = teller  # type: ignore[assignment]
    own = [row("Done", id="job-1"), row("Running", id="job-2")]
    on.context.jobs.merge({name: [one[name] for one in own] for name in own[0]})
    on.context.jobs.finish()
    on.context.link.set(ConnectionState.CONNECTED)
    on.window.show_query("outside:yes")
    await eventually(lambda: len(on.window.jobs.outside.table.view) == len(JOBS), what="rows are shown")
    return teller


def test_they_have_rows_of_their_own_that_no_count_of_ours_has(qapp: QApplication, state_dir: Path) -> None:
    async def scene(on: Stage) -> None:
        teller = await shown(on)
        pane = on.window.jobs
        table = pane.outside.table
        states = {table.rows.columns["id"][table.view.lines[line]]: table.text(line, 0) for line in range(5)}
        assert states == {
            "vega/4711": "Running RUNNING",
            "vega/4712": "Waiting PENDING",
            "vega/4713_2": "Failed, exit 3 FAILED",
            "vega/4714": "Ended",
            "vega/4715": "Waiting PENDING",
        }
        assert {table.text(line, 5) for line in range(5)} == {"vega · outside"}
        assert not any("\x1b" in table.text(line, 1) or "\u202e" in table.text(line, 1) for line in range(5))
        assert pane.bar.count.text() == "5 jobs outside"
        assert "lyra could not be asked: It does not answer." in pane.outside.note.text()
        counts = on.context.counts
        await eventually(lambda: counts.of("outside:yes") == 5)
        assert (counts.of(""), counts.of("state:running")) == (2, 1)
        assert teller.looks[-1]
        on.window.show_query("outside: state:waiting")
        await eventually(lambda: len(table.view) == 2, what="the query is applied")
        assert pane.bar.count.text() == "2 of 5 jobs outside"
        on.window.show_query("")
        await eventually(lambda: pane.stack.currentWidget() is pane.view)
        assert len(pane.table.view) == 2
        asked = len(teller.looks)
        on.context.topics.sites.emit()
        assert (len(teller.looks), on.context.outside.watched) == (asked, False)

    play(qapp, state_dir, scene, connect=False)


def test_one_is_inspected_and_canceled_after_a_question(qapp: QApplication, state_dir: Path) -> None:
    async def scene(on: Stage) -> None:
        teller = await shown(on)
        on.window.jobs.outside.view.choose("vega/4711")
        inspector = on.window.inspector
        assert inspector is not None
        pane = inspector.outside
        assert (pane.isVisible(), pane.title.text()) == (True, "relax-4711")
        await eventually(lambda: "/home/ann/relax" in pane.texts["Facts"].toPlainText())
        assert "First seen: Running (RUNNING)" in pane.texts["Story"].toPlainText()
        pane.tabs.setCurrentWidget(pane.texts["Output"])
        await eventually(lambda: "step 1" in pane.texts["Output"].toPlainText())
        assert "\x1b" not in pane.texts["Output"].toPlainText()
        pane.cancel.click()
        (box,) = on.window.findChildren(QMessageBox)
        assert teller.canceled == []
        next(button for button in box.buttons() if button.text() == "Cancel the job").click()
        await eventually(lambda: teller.canceled == ["vega/4711"])
        on.window.jobs.outside.view.choose("vega/4713_2")
        assert not pane.cancel.isVisible()

    play(qapp, state_dir, scene, connect=False)


@pytest.mark.parametrize("mode", [Mode.LIGHT, Mode.DARK])
def test_pictures_of_them(qapp: QApplication, state_dir: Path, mode: Mode) -> None:
    async def scene(on: Stage) -> None:
        on.context.theme.wear(mode)
        await shown(on)
        on.window.jobs.outside.view.choose("vega/4711")
        inspector = on.window.inspector
        assert inspector is not None
        await eventually(lambda: "/home" in inspector.outside.texts["Facts"].toPlainText())
        for width, height in ((1280, 800), (900, 560)):
            on.window.resize(width, height)
            await turns()
            path = PICTURES / f"outside-{mode.value}-{width}.png"
            assert on.window.grab().save(str(path))

    play(qapp, state_dir, scene, connect=False)
