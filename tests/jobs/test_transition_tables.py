"""Every life cycle of the product is a sound table; a table is found here by itself."""

from __future__ import annotations

import ast
import inspect
import re
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from broker_core.jobs.transition_table import IllegalTransition, TransitionTable, label
from tests.jobs.tables import TABLES

_each = pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))


def undocumented(enum: type[Enum]) -> list[str]:
    """Members that no text follows in the source."""
    source = Path(inspect.getfile(enum)).read_text(encoding="utf-8")
    (body,) = [
        node.body
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef) and node.name == enum.__name__
    ]
    said = {
        before.targets[0].id
        for before, after in pairwise(body)
        if isinstance(before, ast.Assign) and isinstance(before.targets[0], ast.Name)
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    }
    return [member.name for member in enum if member.name not in said]


def test_there_are_tables() -> None:
    assert "JOB_LIFE" in TABLES


@_each
def test_every_state_is_reached_final_ones_are_not_left_and_every_event_leads_somewhere(
    table: TransitionTable[Any, Any],
) -> None:
    assert table.faults() == []


@_each
def test_every_state_says_what_it_means(table: TransitionTable[Any, Any]) -> None:
    enums = {type(state) for state in table.states if isinstance(state, Enum)}
    assert {enum: missing for enum in enums if (missing := undocumented(enum))} == {}
    classes = [state for state in table.states if isinstance(state, type)]
    assert [one for one in classes if not (one.__doc__ or "").endswith(".")] == []
    assert len(table.states) == len(classes) + sum(isinstance(state, Enum) for state in table.states)


@_each
@given(data=some.data())
def test_whatever_happens_it_stays_in_the_table(
    table: TransitionTable[Any, Any], data: some.DataObject
) -> None:
    state = None
    for event in data.draw(some.lists(some.sampled_from(list(table.events)), max_size=40)):
        if not table.allows(state, event):
            with pytest.raises(IllegalTransition, match=re.escape(str(event.value))):
                table.after(state, event)
            continue
        after = table.after(state, event)
        assert after in table.states
        assert state not in table.final or after is state
        state = after


@_each
def test_every_state_and_step_is_in_the_diagram(table: TransitionTable[Any, Any]) -> None:
    lines = "\n".join(table.diagram())
    for (old, event), new in table.steps.items():
        name = str(event.value).rpartition(".")[2]
        before, after = (label(state).replace(" ", "_") for state in (old, new))
        assert re.search(rf"(?m)^    {re.escape(before)} --> {re.escape(after)}: .*\b{name}\b", lines)


class _Light(Enum):
    RED = "red"
    GREEN = "green"
    BROKEN = "broken"


class _Change(Enum):
    SWITCHED = "switched"
    HIT = "hit"


@pytest.mark.parametrize(
    ("steps", "faults"),
    [
        ({(None, _Change.SWITCHED): _Light.RED}, {"green is never reached", "broken is never reached",
            "hit leads nowhere", "red is not final and never left", "green is not final and never left"}),
        ({(None, _Change.SWITCHED): _Light.RED, (_Light.RED, _Change.SWITCHED): _Light.GREEN,
          (_Light.GREEN, _Change.HIT): _Light.BROKEN, (_Light.BROKEN, _Change.SWITCHED): _Light.RED},
         {"broken is final and left"}),
        ({(None, _Change.SWITCHED): _Light.RED, (_Light.RED, _Change.SWITCHED): _Light.GREEN,
          (_Light.GREEN, _Change.HIT): _Light.BROKEN, (_Light.BROKEN, _Change.HIT): _Light.BROKEN}, set()),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table_is_told(steps: dict[Any, Any], faults: set[str]) -> None:
    table = TransitionTable("a lamp", tuple(_Light), _Change, frozenset({_Light.BROKEN}), steps)
    assert set(table.faults()) == faults
