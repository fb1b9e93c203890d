"""`_PARAM_` and the values of a sweep."""

from __future__ import annotations

import pytest

from broker_core.jdl import parametric
from broker_core.jdl.check import check
from broker_core.jdl.syntax.parse import parse
from broker_core.jdl.syntax.tree import Literal

TEXT = (
    'Executable = "run_PARAM_.sh"; Arguments = "-x _PARAM_"; InputSandbox = {"run_PARAM_.sh"}; '
    'StdOutput = "out._PARAM_"; Requirements = other.GlueCEStateFreeCPUs > _PARAM_; '
    'Environment = {"P=_PARAM_"};'
)


def test_the_value_stands_everywhere() -> None:
    job = check(TEXT, parameter="7").description
    assert job is not None
    assert (job.executable, job.arguments, job.stdout) == ("run7.sh", "-x 7", "out.7")
    assert (job.input_sandbox, job.environment) == (("run7.sh",), (("P", "7"),))
    assert job.ad.get("requirements").right == Literal(7)


def test_a_value_cannot_add_statements() -> None:
    job = check(TEXT, parameter='1"; StdError = "x').description
    assert job is not None
    assert job.stderr == ""
    assert job.arguments == '-x 1"; StdError = "x'


def test_a_value_is_checked_like_everything_else() -> None:
    assert "path-escapes" in {item.code for item in check(TEXT, parameter="/../x").errors}


def test_the_quick_way_gives_the_same_description() -> None:
    template = check(TEXT).description
    assert template is not None
    assert parametric.with_value(template, "7") == check(TEXT, parameter="7").description


@pytest.mark.parametrize(
    ("text", "textual"),
    [
        ('Executable = "a"; Arguments = "-x _PARAM_ \'_PARAM_ y\' z"; StdOutput = "o";', True),
        ('Executable = "a"; JobName = "n _PARAM_"; Environment = {"P=1"};', True),
        ('Executable = "a"; JobType = "Parametric"; Parameters = {1, x}; Arguments = "_PARAM_";', True),
        ('Executable = "a"; Requirements = other.GlueCEStateFreeCPUs > 2;', True),
        ('Executable = "a"; StdError = "_PARAM_";', False),
        ('Executable = "a_PARAM_"; Arguments = "_PARAM_";', False),
        ('Executable = "a"; Arguments = "_PARAM_"; /* and _PARAM_ */', False),
        ('Executable = "a"; Arguments = "_PARAM_"; OutputSandbox = {"o_PARAM_"};', False),
        ('Executable = "a"; Requirements = other.GlueCEStateFreeCPUs > _PARAM_;', False),
    ],
)
def test_where_the_value_is_only_text_the_quick_way_is_the_same(text: str, textual: bool) -> None:
    sweep = check(text).description
    assert sweep is not None
    for value in ("7", "x", "-3", "a_b", "0" * 100):
        assert parametric.is_textual(sweep.ad, text, value) == textual
        if textual:
            assert parametric.with_value(sweep, value) == check(text, parameter=value).description
    for value in ("../x", "a b", "'", "a/b", "a.b", "", "ü", "0" * 101):
        assert not parametric.is_textual(sweep.ad, text, value)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Parameters = 3;", ["0", "1", "2"]),
        ("Parameters = 10; ParameterStart = 1; ParameterStep = 4;", ["1", "5", "9"]),
        ('Parameters = {"a", b, 3};', ["a", "b", "3"]),
        ("Parameters = {5, 6, 7}; ParameterStart = 1;", ["6", "7"]),
        ("Parameters = 3; ParameterStep = 0;", None),
        ("Parameters = 100000000;", None),
        ("Parameters = {other.X};", None),
        ("A = 1;", None),
    ],
)
def test_the_values_of_a_sweep(text: str, values: list[str] | None) -> None:
    ad = parse(text).ad
    assert ad is not None
    assert parametric.values(ad) == values


def test_a_number_that_wants_too_many_jobs_is_refused_with_the_limit() -> None:
    for number in ("100000000", "9223372036854775807; ParameterStart = -9223372036854775807"):
        text = (
            f'Executable = "/bin/true"; JobType = "Parametric"; Arguments = "_PARAM_"; Parameters = {number};'
        )
        [error] = check(text).errors
        assert error.code == "parameters-format"
        assert "at most 1,000,000" in error.message
    assert parametric.counted(parse("Parameters = 0; ParameterStart = 10; ParameterStep = -3;").ad) == 4
    [error] = check(text.partition("Parameters =")[0] + "Parameters = 3; ParameterStep = 0;").errors
    assert "ParameterStep is not 0" in error.message
