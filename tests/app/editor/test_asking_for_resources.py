"""The form asks for memory, GPUs, nodes, accounts and queues, and offers what the sites have."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from app.editor.editor import Editor
from app.editor.form.fields import AmountField, NameField, NumberField
from app.theme.tokens import Mode
from broker_core.jdl.check import check
from broker_core.wire.resources import GpuCount
from broker_core.wire.sites import SiteView
from tests.app.bench_context import BenchContext
from tests.app.sites.made_up import site

NEW = ("CpuNumber", "MemoryPerNode", "GPUNumber", "GPUModel", "HostNumber", "Account", "QueueName", "QOS")
FOLDED = ("MemoryPerCPU", "ScratchSize", "WholeNodes", "Features", "Licenses", "Reservation")
TEXT = 'Executable = "/bin/echo";\n'


def vega() -> SiteView:
    return site(
        "vega",
        ces=["vega:22/jobmanager-slurm-long", "vega:22/jobmanager-slurm-main"],
        gpus=[GpuCount(model="a100", total=4, free=1), GpuCount(model="", total=1, free=1)],
        accounts=["phys", "chem"],
        qos=["long", "normal"],
        features=["ib", "epyc"],
        licenses=["matlab"],
        reservations=["course"],
    )


@pytest.fixture
def editor(request: pytest.FixtureRequest, qapp: QApplication, qtbot: QtBot) -> Editor:
    context = BenchContext(qapp, mode=getattr(request, "param", Mode.LIGHT))
    context.sites.views = [vega()]
    made = Editor(context, TEXT)
    qtbot.addWidget(made)
    made.resize(560, 900)
    made.show()
    qtbot.waitExposed(made)
    qtbot.waitUntil(lambda: not made.checking.pending, timeout=60_000)
    return made


def amount(editor: Editor, attribute: str) -> AmountField:
    field = editor.form.widgets[attribute]
    assert isinstance(field, AmountField)
    return field


def name(editor: Editor, attribute: str) -> NameField:
    field = editor.form.widgets[attribute]
    assert isinstance(field, NameField)
    return field


def _offered(field: NameField) -> list[str]:
    return [field.box.itemText(at) for at in range(field.box.count())]


def test_what_is_not_said_is_shown_as_the_sites_default_and_not_written(editor: Editor) -> None:
    assert amount(editor, "MemoryPerNode").spin.text() == "site's default"
    assert amount(editor, "GPUNumber").spin.text() == "none"
    assert name(editor, "Account").box.currentText() == ""
    assert name(editor, "Account").line.placeholderText() == "site's default"
    amount(editor, "MemoryPerNode").spin.setValue(8000)
    assert "MemoryPerNode = 8000;" in editor.text()
    assert amount(editor, "MemoryPerNode").spin.text() == "8000 MB"
    amount(editor, "MemoryPerNode").spin.setValue(0)
    assert "MemoryPerNode" not in editor.text()


def test_models_accounts_and_queues_of_the_sites_are_offered(editor: Editor) -> None:
    assert _offered(name(editor, "GPUModel")) == ["a100"]
    assert _offered(name(editor, "Account")) == ["chem", "phys"]
    assert _offered(name(editor, "QueueName")) == ["long", "main"]
    name(editor, "QueueName").box.setCurrentIndex(1)
    name(editor, "QueueName").box.activated.emit(1)
    assert 'QueueName = "main";' in editor.text()
    editor.context.sites.show_sites([])
    assert _offered(name(editor, "QueueName")) == []
    assert name(editor, "QueueName").box.currentText() == "main"


def test_a_name_that_no_site_offers_can_be_written(editor: Editor) -> None:
    field = name(editor, "Account")
    field.line.setFocus()
    QTest.keyClicks(field.line, "ph9")
    assert 'Account = "ph9";' in editor.text()
    assert field.box.currentText() == "ph9"
    field.line.clear()
    QTest.keyClicks(field.line, " ")
    assert "Account" not in editor.text()


def test_what_the_text_says_is_shown_and_an_expression_is_left_to_the_text(editor: Editor) -> None:
    editor.source.setPlainText(
        TEXT + 'GPUNumber = 2; GPUModel = "h100"; MemoryPerNode = 2 * 4000; Account = "a";'
    )
    assert amount(editor, "GPUNumber").spin.value() == 2
    assert name(editor, "GPUModel").box.currentText() == "h100"
    assert not amount(editor, "MemoryPerNode").isEnabled()
    assert check(editor.text()).description is not None


def test_features_and_licenses_are_chosen_one_by_one(editor: Editor) -> None:
    features = name(editor, "Features")
    assert _offered(features) == ["epyc", "ib"]
    assert _offered(name(editor, "Reservation")) == ["course"]
    assert _offered(name(editor, "QOS")) == ["long", "normal"]
    for at in (1, 0):
        features.box.setCurrentIndex(at)
        features.box.activated.emit(at)
    assert 'Features = {"ib", "epyc"};' in editor.text()
    assert features.box.currentText() == "ib, epyc"
    features.box.setCurrentIndex(1)
    features.box.activated.emit(1)
    assert 'Features = {"epyc"};' in editor.text()
    QTest.keyClicks(name(editor, "Licenses").line, "matlab:2, idl")
    assert 'Licenses = {"matlab:2", "idl"};' in editor.text()
    assert check(editor.text()).description is not None


def test_only_the_chosen_site_offers_its_names(editor: Editor) -> None:
    editor.context.sites.show_sites([vega(), site("far", accounts=["geo"])])
    assert _offered(name(editor, "Account")) == ["chem", "geo", "phys"]
    editor.source.setPlainText(TEXT + 'Requirements = other.GlueSiteName == "far";')
    assert _offered(name(editor, "Account")) == ["geo"]
    assert _offered(name(editor, "QOS")) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "CpuNumber = 8;"),
        ("NodeNumber = 4;", "CpuNumber = 8;"),
        ("NodeNumber = 4; CpuNumber = 4;", "CpuNumber = 8;"),
        ("MinNumCPU = 4;", "CpuNumber = 8;"),
        ('JobType = "Normal"; NodeNumber = 4;', 'JobType = "Normal"; CpuNumber = 8;'),
        ('NodeNumber = 4; SubJobType = "openmpi";', 'NodeNumber = 8; SubJobType = "openmpi";'),
        ('CpuNumber = 4; JobType = "Parallel";', 'CpuNumber = 8; JobType = "Parallel";'),
    ],
)
def test_cpus_of_a_program_are_those_of_one_node(editor: Editor, before: str, after: str) -> None:
    field = editor.form.widgets["CpuNumber"]
    assert isinstance(field, NumberField)
    editor.source.setPlainText(TEXT + before)
    assert field.spin.value() == (4 if before else 1)
    field.spin.setValue(8)
    assert editor.text().strip() == TEXT + after
    found = check(editor.text()).description
    if "Parallel" not in before:
        assert found is not None
        assert (found.cpus, found.request.hosts) == (8, 0 if "openmpi" in before else 1)


def test_one_cpu_of_a_program_is_not_written(editor: Editor) -> None:
    field = editor.form.widgets["CpuNumber"]
    assert isinstance(field, NumberField)
    editor.source.setPlainText(TEXT + "NodeNumber = 4;")
    field.spin.setValue(1)
    assert editor.text().strip() == TEXT.strip()
    assert editor.form.go_to("NodeNumber")


@pytest.mark.parametrize("editor", Mode, indirect=True)
def test_no_word_is_cut_at_the_narrowest_width(editor: Editor) -> None:
    """560 px wide, where the form stands alone."""
    editor.form.more.setChecked(True)
    for attribute in (*NEW, *FOLDED):
        field = editor.form.widgets[attribute]
        editor.form.ensureWidgetVisible(field)
        proxy = field.focusProxy()
        assert proxy is not None
        assert proxy.height() >= 24, attribute
        right = proxy.mapTo(editor.form.viewport(), proxy.rect().topRight()).x()
        assert right <= editor.form.viewport().width(), attribute
    labels = [one for one in editor.form.findChildren(QLabel) if one.isVisible() and not one.wordWrap()]
    assert all(one.width() >= one.sizeHint().width() for one in labels)


@pytest.mark.parametrize("editor", Mode, indirect=True)
def test_the_fields_of_all_sections_begin_at_the_same_place(editor: Editor) -> None:
    for size in (13, 18):
        editor.context.theme.wear(size=size)
        QApplication.processEvents()
        shown = [one for one in editor.form.widgets.values() if one.isVisible()]
        assert len(shown) > len(NEW)
        assert len({one.mapTo(editor, one.rect().topLeft()).x() for one in shown}) == 1, size


def test_a_closed_editor_leaves_nothing_behind(qapp: QApplication) -> None:
    context = BenchContext(qapp)
    before = set(qapp.allWidgets())
    for shown in (False, True):
        editor = Editor(context, TEXT)
        if shown:
            editor.show()
            qapp.processEvents()
        editor.deleteLater()
        del editor
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        qapp.processEvents()
        qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        assert set(qapp.allWidgets()) <= before, shown
