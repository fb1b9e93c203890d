"""Controls of parameters in the View tab: what they show of a recorded job, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.inspector.view.controls import ControlsView, ParameterControl
from app.inspector.view.pane import ViewPane
from app.inspector.view.slider_scale import SliderScale, scale_of
from broker_core.interactive.shadow.steering import WantedChange
from broker_core.jobs.published.parameters import Parameter, ParameterHistory, ParameterType
from broker_core.worker.scripts.publish import crossdesk_publish as publish
from tests.app.inspector.recorded import JOB
from tests.app.inspector.view.conftest import PublishingJob

Until = Callable[..., Any]
NOW = 1_900_000_000_000


def declare_all() -> None:
    """One parameter of each type."""
    publish.parameter("learning rate", 0.05, minimum=0.0001, maximum=1, unit="1/s")
    publish.parameter("momentum", 0.6, minimum=0.0, maximum=0.99)
    publish.parameter("layers", 3, minimum=1, maximum=10)
    publish.parameter("augment", True)
    publish.parameter("solver", "sgd", choices=["sgd", "adam"])
    publish.parameter("note", "first try")
    publish.parameter("seed", 7)


def change(name: str, value: Any, number: int) -> None:
    """The program says that it took a change over."""
    publish.record({"parameter": name, "change": number, "by": "ann@desk", "value": value})


@pytest.fixture
def controls(job: PublishingJob, pane: ViewPane, until: Until) -> ControlsView:
    """The controls of a running job, which has published and been steered before."""
    declare_all()
    for epoch in range(1, 41):
        publish.series(epoch, loss=2 / epoch, accuracy=1 - 1 / epoch)
        if epoch in (12, 30):
            change("momentum", epoch / 40, NOW + epoch)
    job.stands("Running")
    pane.show_job(JOB)
    until(lambda: pane.controls.controls and pane.curves is not None and pane.showing_content())
    return pane.controls


def test_each_type_has_its_control_with_the_value_in_use(controls: ControlsView) -> None:
    made = controls.controls
    assert list(made) == ["learning rate", "momentum", "layers", "augment", "solver", "note", "seed"]
    assert (made["learning rate"].name.text(), made["learning rate"].field.text()) == (
        "learning rate (1/s)", "0.05"
    )  # fmt: skip
    assert made["momentum"].field.text() == "0.75"
    assert (made["layers"].slider.maximum(), made["layers"].slider.value()) == (9, 2)
    assert made["augment"].switch.isChecked()
    assert made["solver"].choice.currentText() == "sgd"
    assert made["note"].field.text() == "first try"
    assert (made["seed"].slider.isVisible(), made["seed"].field.isVisible()) == (False, True)
    assert made["momentum"].sign.toolTip() == "Changed by ann@desk"


def test_changes_stand_in_a_table_and_as_marks_in_the_curves(controls: ControlsView, pane: ViewPane) -> None:
    assert pane.curves is not None
    assert [(one.x, one.words) for one in pane.curves.changes] == [
        (12.0, "momentum 0.6 → 0.3"), (30.0, "momentum 0.3 → 0.75")
    ]  # fmt: skip
    assert "momentum 0.6 → 0.3" in pane.curves.words_at(20)
    pane.curves.log_x.click()
    assert [round(line.value(), 3) for line in pane.curves._change_lines] == [1.079, 1.477]
    model = pane.tables.cells.model()
    assert pane.tables.chooser.currentText() == "Changes of parameters"
    last = [model.index(1, column).data() for column in range(1, 5)]
    assert last == ["ann@desk", "momentum", "0.3", "0.75"]


def test_a_change_is_pending_until_the_program_has_taken_it(
    controls: ControlsView, pane: ViewPane, until: Until
) -> None:
    controls.show_changes({"layers": WantedChange(NOW + 100, "bob@desk", "layers", "8")})
    layers = controls.controls["layers"]
    assert (layers.slider.value(), layers.field.text()) == (7, "8")
    assert controls.line.text() == "layers: the program has not taken the change yet."
    change("layers", 8, NOW + 100)
    until(lambda: not controls.line.isVisible())
    assert layers.sign.toolTip() == "Changed by ann@desk"
    publish.record({"parameter": "layers", "change": NOW + 200, "refused": "It is no value."})
    until(lambda: controls.line.text() == "layers: the program refused the last change. It is no value.")
    assert layers.field.text() == "8"


def test_what_is_typed_is_checked_before_it_is_sent(controls: ControlsView, pane: ViewPane) -> None:
    wanted: list[tuple[str, str]] = []
    controls.wanted.disconnect(pane._steer)
    controls.wanted.connect(lambda name, text: wanted.append((name, text)))
    rate = controls.controls["learning rate"].field
    rate.selectAll()
    QTest.keyClicks(rate, "7")
    QTest.keyClick(rate, Qt.Key.Key_Return)
    assert wanted == []
    assert controls.line.text() == "learning rate is a number from 0.0001 to 1."
    rate.selectAll()
    QTest.keyClicks(rate, "0.5")
    QTest.keyClick(rate, Qt.Key.Key_Return)
    controls.controls["augment"].switch.click()
    choice = controls.controls["solver"].choice
    QTest.keyClick(choice, Qt.Key.Key_Down)
    assert wanted == [("learning rate", "0.5"), ("augment", "false"), ("solver", "adam")]
    controls.refused("learning rate", "The session has ended.")
    assert "The session has ended." in controls.line.text()


def test_after_the_end_the_last_values_are_shown_and_cannot_be_changed(
    controls: ControlsView, job: PublishingJob, until: Until
) -> None:
    change("layers", 4, NOW + 100)
    job.stands("Done")
    until(lambda: not controls.controls["layers"].isEnabled())
    until(lambda: controls.controls["layers"].field.text() == "4")


def test_a_parameter_that_is_declared_with_another_range_has_another_slider(
    controls: ControlsView, until: Until
) -> None:
    publish.parameter("layers", 3, minimum=1, maximum=100)
    layers: ParameterControl = controls.controls["layers"]
    until(lambda: layers.slider.maximum() == 99)
    assert layers.slider.value() == 2
    assert layers.field.toolTip() == "layers: a whole number from 1 to 100"


def number(low: float | None, high: float | None, type_: str = "number") -> Parameter:
    return Parameter("p", ParameterType(type_), 1.0, low, high)


def test_a_slider_has_a_range_and_equal_ratios_over_decades() -> None:
    assert scale_of(number(0, None)) is None
    assert scale_of(number(None, 1)) is None
    assert scale_of(number(0.2, 0.8, "integer")) is None
    assert scale_of(number(-1e308, 1e308)) is None
    wide = scale_of(number(0.0001, 1))
    assert wide is not None
    assert wide.logarithmic
    assert (wide.value(0), wide.value(500), wide.value(1000)) == (0.0001, 0.01, 1)
    assert wide.position(0.01) == 500
    flat = SliderScale(-2, 2, whole=False)
    assert (flat.value(250), flat.position(-1), flat.position(9)) == (-1, 250, 1000)
    whole = SliderScale(0, 5000, whole=True)
    assert (whole.value(500), whole.value(1000), whole.position(2500)) == (2500, 5000, 500)


def test_hostile_names_are_shown_as_they_are(pane: ViewPane) -> None:
    known = ParameterHistory()
    known.declare(Parameter("<b>p</b>", ParameterType.NUMBER, 1.0, 0.0, 2.0, "<i>"))
    pane.controls.show_parameters(known, live=True)
    (control,) = pane.controls.controls.values()
    assert control.name.text() == "<b>p</b> (<i>)"
    assert control.name.textFormat() == Qt.TextFormat.PlainText
