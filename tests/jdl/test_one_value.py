"""The description of one job of a sweep, written for that job alone."""

from __future__ import annotations

import pytest

from broker_core.jdl.changes import text_of_value
from broker_core.jdl.check import check


def test_the_value_stands_where_the_mark_stood_and_all_else_stays() -> None:
    text = '// a sweep\n[ Executable = "a.sh"; Arguments = "-n _PARAM_ x";\n  N = _PARAM_; ]'
    assert text_of_value(text, "7") == '// a sweep\n[ Executable = "a.sh"; Arguments = "-n 7 x";\n  N = 7; ]'


@pytest.mark.parametrize("value", ['say "hi"', "a\\b", "1.5e3", "x; Rank = 1", "täg", "0"])
def test_no_value_adds_more_than_itself(value: str) -> None:
    text = 'Executable = "/bin/echo"; Arguments = "_PARAM_"; JobName = "_PARAM_"; N = _PARAM_;'
    made = check(text_of_value(text, value)).description
    assert made is not None
    assert made.name == value
    assert made.arguments == value
    assert made.ad is not None
    assert set(made.ad.entries) == {"executable", "arguments", "jobname", "n"}


@pytest.mark.parametrize(("types", "left"), [
    ('"Parametric"', None), ('{"Parametric"}', None), ('{"Interactive", "Parametric"}', '"Interactive"'),
])  # fmt: skip
def test_a_parametric_description_is_plain_afterwards_with_its_value_in_the_environment(
    types: str, left: str | None
) -> None:
    text = (
        f'JobType = {types}; Parameters = 9; ParameterStart = 3; Executable = "/bin/echo"; '
        'Arguments = "_PARAM_"; Environment = {"A=1"};'
    )
    written = text_of_value(text, "5")
    made = check(written).description
    assert made is not None
    assert made.arguments == "5"
    assert made.environment == (("A", "1"), ("ParameterValue", "5"))
    assert ("JobType" in written) is (left is not None)
    assert left is None or f"JobType = {left};" in written
    assert "Parameters" not in written
