"""What programs declare as parameters, and what they say of changes: read with distrust."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.jobs.published import parameters
from broker_core.jobs.published.parameters import BadValue, Parameter, ParameterHistory, ParameterUse, text_of
from broker_core.jobs.published.recording import Recording

RATE = {"parameter": "rate", "type": "number", "value": 0.5, "minimum": 0, "maximum": 1, "unit": "1/s"}


def lines(*found: Any) -> bytes:
    return b"".join(json.dumps(one).encode() + b"\n" for one in found)


def read(*found: Any) -> Recording:
    made = Recording()
    made.feed(lines(*found))
    return made


def test_a_change_is_recorded_with_who_when_from_to_and_the_point_before_it() -> None:
    change = {"parameter": "rate", "change": 1_700_000_000_000, "by": "ann@desk", "value": 0.25}
    made = read(RATE, {"series": {"loss": [3, 2]}, "x": [10, 20]}, change, change)
    (found,) = made.steering.changes
    assert (found.name, found.by, found.before, found.after, found.x) == ("rate", "ann@desk", 0.5, 0.25, 20)
    assert found.time == 1_700_000_000
    assert made.steering.parameters["rate"].value == 0.25
    assert made.steering.left_out == 0
    counted = read(RATE, {"series": {"loss": [3, 2, 1]}}, change)
    assert counted.steering.changes[0].x == 2


def test_a_change_that_was_refused_changes_nothing_and_is_in_the_history() -> None:
    made = read(RATE, {"parameter": "rate", "change": 5, "refused": "too\x1b much"})
    assert [one.refused for one in made.steering.changes] == ["too  much"]
    assert made.steering.parameters["rate"].value == 0.5
    assert made.steering.taken == {"rate": 5}


def test_a_parameter_that_is_declared_once_more_has_the_new_range() -> None:
    made = read(RATE, RATE | {"maximum": 10, "value": 7})
    assert made.steering.parameters["rate"] == Parameter(
        "rate", parameters.ParameterType.NUMBER, 7.0, 0.0, 10.0, "1/s"
    )


@pytest.mark.parametrize(
    "hostile",
    [
        {"parameter": "a" * 81},
        {"parameter": "é" * 41},
        {"parameter": "a\x1b[31m"},
        {"parameter": "a=b"},
        {"parameter": " "},
        {"parameter": 1},
        {"type": "matrix"},
        {"type": ["number"]},
        {"minimum": math.nan},
        {"maximum": math.inf},
        {"minimum": 1, "maximum": 1},
        {"minimum": "0"},
        {"maximum": True},
        {"maximum": 10**400},
        {"value": 2},
        {"value": math.nan},
        {"value": "0.5"},
        {"value": True},
        {"type": "switch", "value": 1},
        {"type": "integer", "value": 0.5},
        {"type": "integer", "value": 1 << 60, "maximum": None},
        {"type": "text", "value": "a" * 201},
        {"type": "text", "value": "a\nb"},
        {"type": "choice", "value": "a", "choices": []},
        {"type": "choice", "value": "a", "choices": "abc"},
        {"type": "choice", "value": "a", "choices": ["a"] * 65},
        {"type": "choice", "value": "a", "choices": ["a", "b\x00"]},
        {"type": "choice", "value": ["a"], "choices": ["a"]},
    ],
)
def test_hostile_declarations_are_counted_and_what_follows_is_read(hostile: Mapping[str, Any]) -> None:
    made = read({**RATE, **hostile}, RATE)
    assert (made.unreadable, list(made.steering.parameters)) == (1, ["rate"])


@pytest.mark.parametrize("number", [0, -1, True, "7", 1.5, 1 << 60])
def test_a_change_without_a_number_is_no_record(number: Any) -> None:
    assert read(RATE, {"parameter": "rate", "change": number, "value": 1}).unreadable == 1


def test_parameters_beyond_the_limit_and_changes_of_none_are_counted() -> None:
    made = read(*[RATE | {"parameter": f"p{number}"} for number in range(3000)])
    assert (len(made.steering.parameters), made.steering.left_out) == (64, 2936)
    made.feed(lines({"parameter": "other", "change": 1, "value": 1}))
    made.feed(lines({"parameter": "p1", "change": 1, "value": 7}))
    assert (made.steering.left_out, made.steering.changes) == (2938, [])


def test_a_history_without_end_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parameters, "_MOST_CHANGES", 10)
    made = read(RATE, *[{"parameter": "rate", "change": one, "value": 0.1} for one in range(1, 16)])
    assert [one.change for one in made.steering.changes] == list(range(6, 16))
    assert made.steering.left_out == 5


_json = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.text())
_KEYS = ("type", "value", "minimum", "maximum", "unit", "choices", "change", "by", "refused")


@given(_json, st.fixed_dictionaries({}, optional=dict.fromkeys(_KEYS, _json)))
def test_a_line_of_anything_is_a_record_or_is_counted(name: Any, more: Mapping[str, Any]) -> None:
    made = read({"parameter": name, **more}, RATE)
    assert made.records + made.unreadable == 2


def kind(name: str, **more: Any) -> Parameter:
    values: dict[str, Any] = {"switch": False, "choice": "cg", "text": "", "integer": 1}
    more = {"value": values.get(name, 1.0), **more}
    (found,) = read({"parameter": "p", "type": name, **more}).steering.parameters.values()
    return found


@pytest.mark.parametrize(
    ("of", "text", "value"),
    [
        (kind("number"), "1e-3", 0.001),
        (kind("number", maximum=2), "2", 2.0),
        (kind("integer", minimum=0), " 7 ", 7),
        (kind("switch"), "On", True),
        (kind("switch"), "0", False),
        (kind("choice", choices=["cg", "gmres"]), "gmres", "gmres"),
        (kind("text"), "a=b é", "a=b é"),
    ],
)
def test_what_a_person_types_is_read(of: Parameter, text: str, value: Any) -> None:
    assert of.read(text) == value
    assert of.read(text_of(value)) == value


@pytest.mark.parametrize(
    ("of", "text", "words"),
    [
        (kind("number"), "nan", "p is a number."),
        (kind("number", minimum=0, maximum=2), "2.1", "p is a number from 0 to 2."),
        (kind("number", minimum=0), "-1", "p is a number of at least 0."),
        (kind("integer", maximum=4), "5", "p is a whole number of at most 4."),
        (kind("integer"), "1.5", "p is a whole number."),
        (kind("switch"), "maybe", "p is on or off."),
        (kind("choice", choices=["cg", "gmres"]), "lu", "p is one of cg, gmres."),
        (kind("text"), "a\tb", "p is a line of at most 200 bytes."),
    ],
)
def test_what_is_no_value_is_refused_with_what_it_takes(of: Parameter, text: str, words: str) -> None:
    with pytest.raises(BadValue) as error:
        of.read(text)
    assert error.value.message == words


def test_word_of_an_older_change_is_left_out() -> None:
    known = ParameterHistory()
    known.declare(kind("number"))
    known.use(ParameterUse("p", 2, value=3), None)
    known.use(ParameterUse("p", 1, value=4), None)
    assert known.parameters["p"].value == 3.0
    assert len(known.changes) == 1
