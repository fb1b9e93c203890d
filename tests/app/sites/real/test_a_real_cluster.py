"""A Slurm cluster behind SSH is added in the window, used, lost and heard again."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton

from app.sites.adding.sheet import FOUND, TRIAL, AddSite
from app.sites.page import SitesPage
from app.widgets.state_style import UNHEARD
from broker_core.wire.sites import SiteSpec
from broker_core.wire.submission import Submission, SubmissionItem
from tests.app.clicks import Clicks
from tests.app.pictures import PICTURES
from tests.app.windows import Stage, play, turns
from tests.testbed.slurm import Cluster
from tests.testbed.sshd import Sshd
from tests.waiting import eventually

SLEEP = 'Executable = "/bin/sleep"; Arguments = "300";'


def _save(widget: AddSite, name: str) -> None:
    assert widget.grab().save(str(PICTURES / f"desk-add-site-{name}-light-640.png"))


def test_a_cluster_is_added_by_its_alias_after_one_question_with_six_clicks(
    qapp: QApplication, broker: Path, cluster: Cluster, tmp_path: Path, sshd: Sshd
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        hand, places = Clicks(), on.window.sidebar.list
        [sites] = places.findItems("Sites", Qt.MatchFlag.MatchExactly)[:1]
        places.scrollToItem(sites)
        hand.click(places.viewport(), places.visualItemRect(sites).center())
        await hand.button(on.window.tabs.currentWidget(), "Add a site")
        sheet = on.window.handlers.adding
        hand.type(sheet.where.host, "cluster")
        await hand.button(sheet, "Connect")
        form = sheet.look.form
        await eventually(lambda: form.question is not None)
        assert sshd.fingerprint in form.text.text().replace("\u200b", "")
        _save(sheet, "question")
        hand.click(form.yes)
        await eventually(lambda: sheet.step == FOUND or sheet.look.failed)
        assert not sheet.look.failed, sheet.look.fault.text()
        await turns()
        _save(sheet, "found")
        sheet.found.form.directory.setText(str(tmp_path / "there"))
        await hand.button(sheet, "Add and test")
        await eventually(lambda: sheet.step == TRIAL)
        await eventually(lambda: sheet.trial.over, 90)
        await turns()
        _save(sheet, "done")
        assert sheet.trial.well, sheet.trial.line.said.text()
        await hand.button(sheet, "Done")
        assert hand.count == 6
        await eventually(lambda: on.context.sites.named("cluster").total_cpus == 8)
        on.context.show_site("cluster")
        page = on.window.tabs.currentWidget()
        assert isinstance(page, SitesPage)
        await eventually(lambda: "connected" in page.detail.log.toPlainText())
        assert [job.state for job in cluster.all_completed()][-1:] == ["COMPLETED"]

    play(qapp, broker, scenario)


@pytest.mark.usefixtures("trusting")
def test_jobs_of_a_silent_cluster_are_not_heard_from_and_never_failed(
    qapp: QApplication, broker: Path, cluster: Cluster, spec: SiteSpec, sshd: Sshd
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        await on.context.client.add_site(spec)
        await eventually(lambda: on.context.sites.named("cluster"))
        await eventually(lambda: on.context.sites.named("cluster").ces)
        job = await _running(on)
        sshd.kill()
        try:
            on.context.show_site("cluster")
            await eventually(lambda: on.context.sites.unheard("cluster:22/x"), 90)
            table = on.window.jobs.table
            assert table.style_of(table.view.line_of(job)).word == UNHEARD.word
            on.window.show_job(job, "story")
            story = on.window.inspector.panes["story"]
            await eventually(lambda: story.silent.isVisible())
            on.window.grab().save(str(PICTURES / "desk-not-heard-from-light-1280.png"))
            assert on.context.jobs.row(job)["state"] == "Running"
            _ask_elsewhere(on)
        finally:
            sshd.start()
        await on.context.client.connect_site("cluster")
        await eventually(lambda: on.context.sites.unheard("cluster:22/x") is None, 90)
        await eventually(lambda: table.style_of(table.view.line_of(job)).word == "Running")
        await on.context.client.cancel([job])
        await eventually(lambda: on.ended(job))

    play(qapp, broker, scenario)


@pytest.mark.usefixtures("trusting")
def test_a_job_of_a_silent_cluster_is_run_elsewhere_on_purpose(
    qapp: QApplication, broker: Path, cluster: Cluster, spec: SiteSpec, sshd: Sshd
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        await on.context.client.add_site(spec)
        await eventually(lambda: on.context.sites.named("cluster") and on.context.sites.named("cluster").ces)
        job = await _running(on, site="")
        sshd.kill()
        await eventually(lambda: on.context.sites.unheard("cluster:22/x"))
        on.window.show_job(job, "story")
        _ask_elsewhere(on, "Run 1 job elsewhere")
        await eventually(lambda: (on.context.jobs.row(job) or {})["site"].startswith("localhost"))
        await eventually(lambda: on.context.jobs.row(job)["state"] == "Running")
        sshd.start()
        await on.context.client.connect_site("cluster")
        await eventually(lambda: not cluster.present(), what="what was left there is canceled")
        assert on.context.jobs.row(job)["state"] == "Running"
        await on.context.client.cancel([job])
        await eventually(lambda: on.ended(job))

    play(qapp, broker, scenario)


@pytest.mark.usefixtures("trusting")
def test_a_job_is_sent_to_the_queue_that_was_chosen_in_the_match_view(
    qapp: QApplication, broker: Path, cluster: Cluster, spec: SiteSpec
) -> None:
    async def scenario(on: Stage) -> None:
        await on.ready()
        await on.context.client.add_site(spec)
        await eventually(lambda: on.context.sites.named("cluster") and on.context.sites.named("cluster").ces)
        first = await on.finished("fails")
        on.window.show_job(first, "where")
        match = on.window.inspector.panes["where"].match
        await eventually(lambda: match.report is not None and match.report.known == 3)
        row = match.candidates.row_of("cluster:22/jobmanager-slurm-short")
        match.list.selectRow(row)
        match._submit()
        await eventually(lambda: len(on.context.jobs) == 2)
        again = next(job for job in on.context.jobs.at if job != first)
        await eventually(lambda: on.ended(again))
        assert on.context.jobs.row(again)["site"] == "cluster:22/jobmanager-slurm-short"

    play(qapp, broker, scenario)


async def _running(on: Stage, site: str = "cluster") -> str:
    more = "" if site else 'Rank = regexp("slurm", other.GlueCEUniqueID) ? 2 : 1;'
    item = SubmissionItem(description=SLEEP + more, name="far-away")
    receipt = await on.context.client.submit(Submission(key="far-away-1", items=[item], site=site))
    [job] = receipt.ids
    await eventually(lambda: (on.context.jobs.row(job) or {}).get("state") == "Running", 90)
    return job


def _ask_elsewhere(on: Stage, answer: str = "Keep") -> None:
    """The question is asked with its warning, and answered."""
    on.context.trigger("job.elsewhere")
    [box] = on.window.findChildren(QMessageBox)
    assert "done twice" in box.informativeText()
    [button] = [one for one in box.findChildren(QPushButton) if one.text() == answer]
    button.click()
