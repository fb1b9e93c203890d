"""Adding a site in four steps: by alias, with questions on the way, by URL, on this machine; by keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from app.sites.adding.address_step import read_address, ssh_aliases
from app.sites.adding.found_text import facts
from app.sites.adding.sheet import FOUND, LOOKING, TRIAL, WHERE
from app.sites.spec_form import SpecForm
from broker_core.errors import CrossDeskError
from broker_core.wire.sites import Detection, LinkView, QuestionView, SystemFound
from tests.app.inspector.recorded import row
from tests.app.sites.conftest import Act
from tests.app.sites.made_up import NEW_HOST, PASSPHRASE, SitesBroker, found
from tests.app.sites.sheets import sheet_of
from tests.app.windows import Stage, turns
from tests.waiting import eventually


def asking(question: QuestionView) -> LinkView:
    return LinkView(state="needs credentials", question=question, reason=question.text)


def test_a_site_is_added_by_its_alias_with_three_presses_of_return(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        broker.detections = [Detection(id="d1", state="looking", reason="Asking for queues."), found()]
        broker.job = "test-1"
        sheet = sheet_of(on)
        QTest.keyClicks(sheet.where.host, "cluster-b")
        QTest.keyClick(sheet.where.host, Qt.Key.Key_Return)
        assert sheet.step == LOOKING
        await eventually(lambda: sheet.step == FOUND)
        assert "detect cluster-b" in broker.asked
        assert sheet.found.form is not None
        QTest.keyClick(sheet.next, Qt.Key.Key_Return)
        await eventually(lambda: sheet.step == TRIAL)
        assert broker.added[0] == found().suggestion
        await eventually(lambda: sheet.trial.trial.job == "test-1")
        told = row("Running", id="test-1", site="cluster-b:22/jobmanager-slurm-short")
        on.context.jobs.merge({name: [value] for name, value in told.items()})
        await eventually(lambda: sheet.trial.line.said.text() == "The test job runs.")
        done = told | {"state": "Done", "exit_code": 0, "ended": told["submitted"] + 3, "position": 9}
        on.context.jobs.merge({name: [value] for name, value in done.items()})
        await eventually(lambda: "It works" in sheet.trial.line.said.text())
        assert sheet.next.text() == "Done"
        assert QApplication.focusWidget() is sheet.next
        assert sheet.next.isDefault(), "Return ends it, and opens no job"
        QTest.keyClick(sheet.next, Qt.Key.Key_Return)
        await eventually(lambda: on.window.handlers.adding is None)

    act(SitesBroker([]), scene)


def test_questions_on_the_way_are_answered_in_the_sheet(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        broker.detections = [Detection(id="d1", state="question", question=NEW_HOST)]
        sheet = sheet_of(on)
        sheet.where.host.setText("cluster-b")
        sheet.next.click()
        form = sheet.look.form
        await eventually(lambda: form.question is not None)
        assert "SHA256:vZ3u8w0Q" in form.text.text()
        assert not form.field.isVisible()
        broker.detections = [Detection(id="d1", state="question", question=PASSPHRASE)]
        form.yes.click()
        await eventually(lambda: form.question is not None and form.question.kind == "passphrase")
        assert broker.answers[0][1].value == "yes"
        assert form.why.isVisible(), "it is said why nothing can be kept"
        QTest.keyClicks(form.field, "open sesame")
        broker.detections = [found()]
        QTest.keyClick(form.field, Qt.Key.Key_Return)
        await eventually(lambda: sheet.step == FOUND)
        assert [one.value for _, one in broker.answers] == ["yes", "open sesame"]
        assert form.field.text() == ""
        broker.asks = PASSPHRASE
        sheet.next.click()
        await eventually(lambda: len(broker.answers) == 3)
        assert broker.answers[2][0] == found().suggestion.name
        assert broker.answers[2][1].value == "open sesame", "nobody types it twice to add one site"
        question = PASSPHRASE.model_copy(update={"id": "again"})
        broker.views = [broker.views[0].model_copy(update={"link": asking(question)})]
        on.context.sites.reload()
        await eventually(lambda: sheet.trial.form.question == question)
        assert len(broker.answers) == 3, "what was refused is not sent again"

    act(SitesBroker([]), scene)


def test_why_nothing_was_found_is_told_with_the_way_back(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        broker.detections = [Detection(id="d1", state="failed", reason="nowhere is not a known host.")]
        sheet = sheet_of(on)
        sheet.where.host.setText("nowhere")
        sheet.next.click()
        await eventually(lambda: sheet.look.failed)
        assert "not a known host" in sheet.look.fault.text()
        assert sheet.next.text() == "Try again"
        sheet.back.click()
        assert sheet.step == WHERE
        assert sheet.where.host.text() == "nowhere"

    act(SitesBroker([]), scene)


def test_a_host_that_can_run_no_jobs_is_not_added_and_says_what_it_lacks(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        broker.detections = [Detection(id="d1", state="found", host="hut", reason="It lacks flock.")]
        sheet = sheet_of(on)
        sheet.where.host.setText("hut")
        sheet.next.click()
        await eventually(lambda: sheet.step == FOUND)
        said = [one.text() for one in sheet.found.findChildren(QLabel)]
        assert "It lacks flock." in said
        assert not sheet.next.isEnabled()

    act(SitesBroker([]), scene)


def test_a_name_that_is_taken_is_told_beside_the_field(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        broker.detections = [found()]
        broker.refused = CrossDeskError("There is a site cluster-b already.", remedy="Choose another name.")
        sheet = sheet_of(on)
        sheet.where.host.setText("cluster-b")
        sheet.next.click()
        await eventually(lambda: sheet.step == FOUND)
        sheet.next.click()
        await eventually(lambda: "already" in sheet.found.form.fault.text())
        sheet.found.form.name.setText("Not A Name")
        sheet.next.click()
        assert "lower-case letters" in sheet.found.form.fault.text()
        broker.refused = None
        sheet.found.form.name.setText("mine")
        sheet.found.systems.button(1).click()
        assert sheet.found.form.spec().kind == "shell"

    act(SitesBroker([]), scene)


def test_queues_and_settings_are_taken_from_the_form(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        broker.detections = [found()]
        sheet = sheet_of(on)
        sheet.where.host.setText("cluster-b")
        sheet.next.click()
        await eventually(lambda: sheet.step == FOUND)
        form = sheet.found.form
        form.queues.item(1).setCheckState(Qt.CheckState.Unchecked)
        form.options.setText("--account='phys lab'")
        form.variables.setPlainText("A=1\nPATH=/opt/bin")
        form.lease.setValue(10)
        spec = form.spec()
        assert (spec.queues, spec.options, spec.lease) == (["short"], ["--account=phys lab"], 600.0)
        assert spec.environment == {"A": "1", "PATH": "/opt/bin"}
        short = SpecForm(spec.model_copy(update={"lease": 20.0}), new=False)
        assert (short.lease.value(), short.spec().lease) == (1, 20.0)
        assert (spec.list_interval, spec.cluster, spec.reachable) == (30.0, "", False)
        form.reachable.setChecked(True)
        assert form.spec().reachable
        form.list_interval.setValue(120)
        form.cluster.setText("vega")
        assert (form.spec().list_interval, form.spec().cluster) == (120.0, "vega")
        often = SpecForm(spec.model_copy(update={"list_interval": 2.5}), new=False)
        assert (often.list_interval.value(), often.spec().list_interval) == (2, 2.5)
        form.cluster.setText("a,b")
        assert form.spec() is None
        form.cluster.setText("")
        form.variables.setPlainText("not a variable")
        assert form.spec() is None
        assert "NAME=value" in form.fault.text()

    act(SitesBroker([]), scene)


def test_this_machine_and_arc_sites_need_no_host(act: Act) -> None:
    async def scene(on: Stage, broker: SitesBroker) -> None:
        broker.detections = [found()]
        sheet = sheet_of(on)
        sheet.where.kinds.button(2).click()
        sheet.where.url.setText("arc.example.org")
        sheet.next.click()
        assert "URL" in sheet.where.fault.text()
        sheet.where.url.setText("https://arc.example.org/arex")
        sheet.where.proxy.setText("/home/ann/proxy")
        request = sheet.where.request()
        assert (request.url, request.proxy, request.host) == (
            "https://arc.example.org/arex",
            "/home/ann/proxy",
            "",
        )
        sheet.where.kinds.button(1).click()
        sheet.next.click()
        await eventually(lambda: sheet.step == FOUND)
        assert "detect here" in broker.asked
        sheet.close()
        await turns()

    act(SitesBroker([]), scene)


def test_what_was_not_looked_for_is_not_said_to_be_missing() -> None:
    arc = found().model_copy(
        update={"systems": [SystemFound(kind="arc", title="ARC")], "mpi": [], "python": ""}
    )
    assert {said.partition(":")[0] for _, _, _, said in facts(arc)} == {"not known"}
    assert ("Python", "3.11.2") in [(name, said) for _, _, name, said in facts(found())]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("cluster", {"host": "cluster", "user": "", "port": 0}),
        ("ann@login.example.org:2222", {"host": "login.example.org", "user": "ann", "port": 2222}),
        ("ssh://ann@[::1]:22/", {"host": "::1", "user": "ann", "port": 22}),
        ("https://arc.example.org:443/arex", {"url": "https://arc.example.org:443/arex"}),
    ],
)
def test_hosts_are_read_as_people_write_them(text: str, wanted: dict[str, object]) -> None:
    assert read_address(text) == wanted


@pytest.mark.parametrize("text", ["", "two words", "https://", "host:99999", "a@b@c"])
def test_what_names_no_host_is_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w+ .*\."):
        read_address(text)


def test_aliases_come_from_the_configuration_and_what_it_includes(tmp_path: Path) -> None:
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "conf.d" / "work").write_text("Host work-1 work-2\n  User ann\n")
    (tmp_path / "config").write_text(
        "Include conf.d/*\nInclude missing\nHost=cluster-a *.example.org !not\n"
        'Host "quoted"\nHost * \n  Port 22\n'
    )
    assert ssh_aliases(tmp_path / "config") == ["cluster-a", "quoted", "work-1", "work-2"]
    assert ssh_aliases(tmp_path / "none") == []


def test_an_alias_is_completed_while_it_is_written(act: Act) -> None:
    (Path.home() / ".ssh").mkdir(exist_ok=True)
    (Path.home() / ".ssh" / "config").write_text("Host cluster-a cluster-b\n")

    async def scene(on: Stage, broker: SitesBroker) -> None:
        sheet = sheet_of(on)
        await eventually(lambda: sheet.where.aliases.stringList() == ["cluster-a", "cluster-b"])
        assert QApplication.focusWidget() is sheet.where.host
        QTest.keyClicks(sheet.where.host, "cluster-a")
        offers = sheet.where.host.completer().popup()
        await eventually(offers.isVisible)
        row = offers.visualRect(offers.model().index(0, 0))
        assert offers.viewport().height() >= row.height(), "the only offer is seen whole"
        broker.detections = [found()]
        QTest.keyClick(offers, Qt.Key.Key_Return)
        assert sheet.step == LOOKING
        assert not offers.isVisible()
        await eventually(lambda: sheet.step == FOUND)
        sheet.close()

    act(SitesBroker([]), scene)
