"""Controls of a program's parameters: what it uses, what was asked of it, and changing that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QSizePolicy,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from app.inspector.view.slider_scale import SliderScale, scale_of
from app.widgets.labels import label
from broker_core.client.printable import printable
from broker_core.jobs.published.parameters import BadValue, Parameter, ParameterType, Value, text_of

if TYPE_CHECKING:
    from app.context import AppContext
    from broker_core.interactive.shadow.steering import WantedChange
    from broker_core.jobs.published.parameters import ParameterHistory

_PAUSE_MS = 100
"""Between two changes while a slider is dragged."""
_ICON, _FIELD, _NAME = 16, 88, 116


class ParameterControl(QWidget):
    """One parameter: a slider and a field, a switch, a choice or a line."""

    wanted = Signal(str, str)
    """Name, and the value as text."""
    bad = Signal(str)
    """What was typed is no value: why."""

    def __init__(self, context: AppContext, parameter: Parameter) -> None:
        super().__init__()
        self._context = context
        self.parameter = parameter
        self._scale = scale_of(parameter)
        self.name, self.sign = label(wrap=True), QLabel()
        self.slider, self.field = QSlider(Qt.Orientation.Horizontal), QLineEdit()
        self.switch, self.choice = QCheckBox("On"), QComboBox()
        self._sign: tuple[str, str, str] | None = None
        self._unsent: Value | None = None
        self._under_way = False
        """A change was sent that the agent has not answered."""
        self._due = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._lay_out()
        self._connect()
        self.fit(parameter)

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 2, 12, 2)
        row.setSpacing(8)
        self.name.setFixedWidth(_NAME)
        row.addWidget(self.name)
        for part in (self.slider, self.field, self.switch, self.choice):
            row.addWidget(part, 0 if part is self.field else 1)
        row.addWidget(self.sign)
        self.sign.setFixedSize(_ICON, _ICON)

    def _connect(self) -> None:
        self._due.timeout.connect(self._send)
        self.slider.valueChanged.connect(self._slid)
        self.slider.sliderReleased.connect(self._send)
        self.field.returnPressed.connect(self._typed)
        self.field.editingFinished.connect(self._typed)
        self.switch.clicked.connect(self._want)
        self.choice.textActivated.connect(self._want)

    def fit(self, parameter: Parameter) -> None:
        """Take another range or unit, without a word to the program."""
        self.parameter, self._scale = parameter, scale_of(parameter)
        kind, scale = parameter.type, self._scale
        name = printable(parameter.name)
        self.name.setText(name + (f" ({printable(parameter.unit)})" if parameter.unit else ""))
        for part in (self.name, self.slider, self.field, self.switch, self.choice):
            part.setAccessibleName(name)
            part.setToolTip(f"{name}: {printable(parameter.range_text())}")
        self.slider.setVisible(scale is not None)
        self.field.setVisible(kind not in (ParameterType.SWITCH, ParameterType.CHOICE))
        policy = QSizePolicy.Policy.Expanding if scale is None else QSizePolicy.Policy.Fixed
        self.field.setSizePolicy(policy, QSizePolicy.Policy.Fixed)
        self.field.setMaximumWidth(_FIELD if scale is not None else 1 << 16)
        self.switch.setVisible(kind is ParameterType.SWITCH)
        self.choice.setVisible(kind is ParameterType.CHOICE)
        self.slider.blockSignals(True)
        steps = 1 if scale is None else scale.steps
        self.slider.setMaximum(steps)
        self.slider.setSingleStep(max(1, steps // 100))
        self.slider.setPageStep(max(1, steps // 10))
        self.slider.blockSignals(False)
        self.choice.clear()
        self.choice.addItems(parameter.choices)

    @property
    def busy(self) -> bool:
        """The user is changing it, or a change is on its way: what comes from the program waits."""
        typing = self.field.hasFocus() and self.field.isModified()
        return typing or self.slider.isSliderDown() or self._unsent is not None or self._under_way

    def sent(self) -> None:
        """The agent has answered what was sent last."""
        self._under_way = False

    def allow(self, live: bool) -> None:
        """Have it changed while the program runs; nothing is under way after that."""
        self.setEnabled(live)
        if not live:
            self._under_way, self._unsent = False, None

    def show_value(self, value: Value) -> None:
        """Show what the program uses, or will, unless the user is just changing it."""
        if self.busy:
            return
        self._draw(value)

    def show_sign(self, icon: str, tone: str, words: str) -> None:
        """A sign beside the control; no icon: none."""
        if (icon, tone, words) == self._sign:
            return
        self._sign = (icon, tone, words)
        drawn = self._context.theme.icon(icon, tone).pixmap(_ICON, _ICON) if icon else QPixmap()
        self.sign.setPixmap(drawn)
        self.sign.setToolTip(words)
        self.sign.setAccessibleName(words)

    def forget_sign(self) -> None:
        """Draw the sign anew when it is shown next: the theme is another."""
        self._sign = None

    def _draw(self, value: Value, *, slide: bool = True) -> None:
        if self.parameter.type is ParameterType.SWITCH:
            self.switch.setChecked(value is True)
        elif self.parameter.type is ParameterType.CHOICE:
            self.choice.setCurrentText(str(value))
        elif self.field.text() != _shown(value):
            self.field.setText(_shown(value))
        if slide and self._scale is not None and not isinstance(value, str):
            self.slider.blockSignals(True)
            self.slider.setValue(self._scale.position(value))
            self.slider.blockSignals(False)

    def _slid(self, position: int) -> None:
        assert isinstance(self._scale, SliderScale)
        self._want(self._scale.value(position))

    def _typed(self) -> None:
        if not self.field.isModified():
            return
        try:
            value = self.parameter.read(self.field.text())
        except BadValue as error:
            self.bad.emit(printable(error.message))
            return
        self.field.setModified(False)
        self._want(value)

    def _want(self, value: Value) -> None:
        self._unsent = value
        self._draw(value, slide=not self.slider.isSliderDown())
        if not self._due.isActive():
            self._send()

    def _send(self) -> None:
        if self._unsent is not None:
            text, self._unsent = text_of(self._unsent), None
            self._under_way = True
            self._due.start()
            self.wanted.emit(self.parameter.name, text)


class ControlsView(QFrame):
    """The controls of all parameters, and a line about what is under way."""

    wanted = Signal(str, str)
    """Name and value that the program shall use."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self.controls: dict[str, ParameterControl] = {}
        self.line = label(role="small", wrap=True)
        """Stands below them, where it moves none of them."""
        self.changes: Mapping[str, WantedChange] = {}
        """Name to the newest change by any desk."""
        self._history: ParameterHistory | None = None
        self._waits = ""
        self._problems: dict[str, str] = {}
        self.setProperty("role", "banner-muted")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 6, 0, 6)
        self._column.setSpacing(2)
        self.line.setContentsMargins(12, 4, 12, 4)
        self._column.addStretch(1)
        context.theme.changed.connect(self._dress)

    def clear(self) -> None:
        """Forget the job shown before."""
        for control in self.controls.values():
            control.deleteLater()
        self.controls, self.changes, self._history = {}, {}, None
        self._waits, self._problems = "", {}

    def show_parameters(self, history: ParameterHistory, *, live: bool) -> None:
        """Show these; `live`: the program runs, and they may be changed."""
        self._history = history
        for name, parameter in list(history.parameters.items()):
            control = self.controls.get(name)
            if control is None:
                self._add(parameter)
            elif _other_form(control.parameter, parameter):
                control.fit(parameter)
        for name in set(self.controls) - set(history.parameters):
            self.controls.pop(name).deleteLater()
        for control in self.controls.values():
            control.allow(live)
        if not live:
            self._waits, self._problems = "", {}
        self._show()

    def show_changes(self, changes: Mapping[str, WantedChange]) -> None:
        """Desks want these values."""
        self.changes = changes
        self._show()

    def show_waits(self, reason: str) -> None:
        """Why nothing can be sent now; empty: it can."""
        self._waits = reason
        self._show()

    def give_up(self, reason: str) -> None:
        """Nothing can be sent, and what was under way did not arrive."""
        for control in self.controls.values():
            control.sent()
        self.show_waits(reason)

    def sent(self, name: str) -> None:
        """The program can find what was wanted last of this parameter."""
        if name in self.controls:
            self.controls[name].sent()
        self._problems.pop(name, None)
        self._show()

    def refused(self, name: str, why: str) -> None:
        """A change did not reach the job."""
        if name in self.controls:
            self.controls[name].sent()
        self._problems[name] = why
        self._show()

    def _add(self, parameter: Parameter) -> None:
        control = self.controls[parameter.name] = ParameterControl(self._context, parameter)
        control.wanted.connect(self._want)
        control.bad.connect(lambda why, name=parameter.name: self.refused(name, why))
        self._column.insertWidget(len(self.controls) - 1, control)

    def _want(self, name: str, text: str) -> None:
        self._problems.pop(name, None)
        self.wanted.emit(name, text)
        self._show()

    def _dress(self) -> None:
        for control in self.controls.values():
            control.forget_sign()
        self._show()

    def _show(self) -> None:
        if self._history is None:
            return
        lines = [self._waits] if self._waits else []
        for name, control in self.controls.items():
            words = self._show_one(name, control, self._history)
            lines += [words] if words else []
        self.line.setText("\n".join(lines[:4]))
        self.line.setVisible(bool(lines))

    def _show_one(self, name: str, control: ParameterControl, history: ParameterHistory) -> str:
        """Show value and sign of one control; returns words about what is under way."""
        known, change = history.parameters[name], self.changes.get(name)
        pending = change is not None and change.number > history.taken.get(name, 0)
        value, words = known.value, self._problems.get(name, "")
        if pending and change is not None:
            try:
                value = known.read(change.value)
            except BadValue as error:
                words = error.message
        control.show_value(value)
        shown = printable(name)
        if words:
            control.show_sign("circle-alert", "warning", words)
        elif (pending or control.busy) and control.isEnabled():
            words = f"{shown}: the program has not taken the change yet."
            control.show_sign("hourglass", "muted", words)
        elif last := history.latest.get(name):
            if last.refused:
                words = f"{shown}: the program refused the last change. {printable(last.refused)}"
                control.show_sign("circle-alert", "warning", words)
            else:
                control.show_sign("circle-check", "positive", f"Changed by {printable(last.by)}")
                return ""
        else:
            control.show_sign("", "", "")
        return words


def _other_form(one: Parameter, other: Parameter) -> bool:
    """Whether more than the value differs."""
    return (one.type, one.minimum, one.maximum, one.unit, one.choices) != (
        other.type, other.minimum, other.maximum, other.unit, other.choices
    )  # fmt: skip


def _shown(value: Value) -> str:
    """The value in a field."""
    return f"{value:.10g}" if isinstance(value, float) else text_of(value)
