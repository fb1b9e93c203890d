"""Parameters of a running program: what it declares, what desks want of them, and what it took over."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from broker_core.errors import CrossDeskError
from broker_core.jobs.published.texts import MOST_NAME, NotARecord, shown

MOST_PARAMETERS = 64
"""Parameters of a job."""
MOST_TEXT = 200
"""Bytes of a text or choice."""
_MOST_UNIT, _MOST_CHOICES, _MOST_INTEGER, _MOST_CHANGES = 20, 64, 1 << 53, 10_000
_SWITCH = {"true": True, "on": True, "yes": True, "1": True, "false": False, "off": False, "no": False} | {
    "0": False
}
Value = bool | int | float | str


class BadValue(CrossDeskError):
    """A value that a parameter does not take."""

    code = "bad_value"


class ParameterType(StrEnum):
    """What values there are."""

    NUMBER = "number"
    INTEGER = "integer"
    SWITCH = "switch"
    CHOICE = "choice"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter as the program declared it, with the value that it uses."""

    name: str
    type: ParameterType
    value: Value
    minimum: float | None = None
    maximum: float | None = None
    unit: str = ""
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> Value:
        """The value that a person typed; raises BadValue."""
        found: Any = text
        try:
            if self.type is ParameterType.NUMBER:
                found = float(text)
            elif self.type is ParameterType.INTEGER:
                found = int(text)
            elif self.type is ParameterType.SWITCH:
                found = _SWITCH.get(text.strip().lower())
        except ValueError:
            found = None
        return self.checked(found)

    def checked(self, value: Any) -> Value:
        """The value, if it is one of this parameter; raises BadValue."""
        if self.type is ParameterType.NUMBER and type(value) is int and abs(value) <= _MOST_INTEGER:
            value = float(value)
        if not self._fits(value):
            raise BadValue(f"{self.name} is {self.range_text()}.", place=self.name)
        taken: Value = value
        return taken

    def range_text(self) -> str:
        """Which values it takes, in words."""
        if self.type is ParameterType.SWITCH:
            return "on or off"
        if self.type is ParameterType.CHOICE:
            return f"one of {', '.join(self.choices)}"
        if self.type is ParameterType.TEXT:
            return f"a line of at most {MOST_TEXT} bytes"
        kind = "a number" if self.type is ParameterType.NUMBER else "a whole number"
        low, high = self.minimum, self.maximum
        if low is not None and high is not None:
            return f"{kind} from {low:.12g} to {high:.12g}"
        if low is not None:
            return f"{kind} of at least {low:.12g}"
        return kind if high is None else f"{kind} of at most {high:.12g}"

    def _fits(self, value: Any) -> bool:
        if self.type is ParameterType.SWITCH:
            return type(value) is bool
        if self.type is ParameterType.CHOICE:
            return value in self.choices
        if self.type is ParameterType.TEXT:
            return isinstance(value, str) and value.isprintable() and _bytes(value) <= MOST_TEXT
        whole = self.type is ParameterType.INTEGER
        if type(value) is not (int if whole else float) or (whole and abs(value) > _MOST_INTEGER):
            return False
        low = -math.inf if self.minimum is None else self.minimum
        high = math.inf if self.maximum is None else self.maximum
        return math.isfinite(value) and low <= value <= high


@dataclass(frozen=True, slots=True)
class ParameterUse:
    """The program has taken a change over, or refused it."""

    name: str
    change: int
    """Number of the change, which is the time when the agent took it: milliseconds since the epoch."""
    by: str = ""
    """The desk that wanted it."""
    value: Any = None
    refused: str = ""
    """Why it was not taken over; empty: it was."""


@dataclass(frozen=True, slots=True)
class ParameterChange:
    """A change as the job's history has it."""

    name: str
    change: int
    by: str
    before: Value
    after: Value
    """The same as before where it was refused."""
    x: float | None = None
    """Of the latest point that was published before it."""
    refused: str = ""

    @property
    def time(self) -> float:
        """When the agent took it from the desk, in seconds since the epoch by the clock of the node."""
        return self.change / 1000


def text_of(value: Value) -> str:
    """The value as it is sent to the program."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def read_parameter(found: Mapping[str, Any]) -> Parameter | ParameterUse:
    """A declaration, or word of a change; raises NotARecord and what wrong types raise."""
    name = found["parameter"]
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or "=" in name:
        raise NotARecord("The name of a parameter is a line without =.")
    if _bytes(name) > MOST_NAME:
        raise NotARecord(f"The name of a parameter has at most {MOST_NAME} bytes.")
    return _declared(name, found) if "type" in found else _used(name, found)


def _declared(name: str, found: Mapping[str, Any]) -> Parameter:
    choices = found.get("choices", [])
    if not isinstance(choices, list) or len(choices) > _MOST_CHOICES or not all(map(_is_choice, choices)):
        raise NotARecord(f"The choices of a parameter are at most {_MOST_CHOICES} texts.")
    low, high = _limit(found.get("minimum")), _limit(found.get("maximum"))
    if low is not None and high is not None and not low < high:
        raise NotARecord("The range of a parameter is empty.")
    unit = shown(found.get("unit", ""), _MOST_UNIT)
    kind = ParameterType(found["type"])
    made = Parameter(name, kind, "", low, high, unit, tuple(dict.fromkeys(choices)))
    try:
        return replace(made, value=made.checked(found["value"]))
    except BadValue as error:
        raise NotARecord("The value of a parameter is none that it takes.") from error


def _is_choice(text: Any) -> bool:
    return isinstance(text, str) and bool(text) and text.isprintable() and _bytes(text) <= MOST_TEXT


def _limit(value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise NotARecord("The range of a parameter is no two numbers.")
    return float(value)


def _used(name: str, found: Mapping[str, Any]) -> ParameterUse:
    number = found["change"]
    if type(number) is not int or not 0 < number <= _MOST_INTEGER:
        raise NotARecord("A change of a parameter has a number.")
    refused = shown(found.get("refused", ""), MOST_TEXT)
    return ParameterUse(name, number, shown(found.get("by", "")), found.get("value"), refused)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


class ParameterHistory:
    """All parameters of a job, their values and changes, within bounds of memory."""

    def __init__(self) -> None:
        self.parameters: dict[str, Parameter] = {}
        self.changes: list[ParameterChange] = []
        self.taken: dict[str, int] = {}
        """Name to the number of the latest change that the program took over or refused."""
        self.latest: dict[str, ParameterChange] = {}
        """Name to its latest change."""
        self.left_out = 0
        """Records of further parameters, values that a parameter does not take, and very old changes."""

    def declare(self, parameter: Parameter) -> None:
        """A program has declared a parameter, or once more in another way."""
        if parameter.name in self.parameters or len(self.parameters) < MOST_PARAMETERS:
            self.parameters[parameter.name] = parameter
        else:
            self.left_out += 1

    def use(self, use: ParameterUse, x: float | None) -> None:
        """The program tells of a change; what it said before is not counted twice."""
        known = self.parameters.get(use.name)
        if known is None:
            self.left_out += 1
        elif use.change > self.taken.get(use.name, 0):
            try:
                after = known.value if use.refused else known.checked(use.value)
            except BadValue:
                self.left_out += 1
                return
            self.taken[use.name] = use.change
            self.parameters[use.name] = replace(known, value=after)
            made = ParameterChange(use.name, use.change, use.by, known.value, after, x, use.refused)
            self.changes.append(made)
            self.latest[use.name] = made
            if len(self.changes) > _MOST_CHANGES:
                del self.changes[0]
                self.left_out += 1
