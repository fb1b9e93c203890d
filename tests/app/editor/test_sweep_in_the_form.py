"""Values in the form make a sweep of a job, and none make one job of it again."""

from __future__ import annotations

import pytest

from app.description.sweep import with_values
from broker_core.jdl.check import check
from broker_core.jdl.parametric import is_parametric, values

TEXT = 'Executable = "/bin/echo";\n'
PARALLEL = 'JobType = "Parallel"; SubJobType = "openmpi"; NodeNumber = 2;\n'


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        (TEXT, 'JobType = "Parametric";'),
        (f'{TEXT}JobType = "Normal";\n', 'JobType = "Parametric";'),
        (f"{TEXT}{PARALLEL}", 'JobType = {"Parametric", "Parallel"}'),
        (f'{TEXT}JobType = {{"parametric"}};\n', 'JobType = {"parametric"};'),
    ],
)  # fmt: skip
def test_values_make_a_sweep_and_none_make_one_job(before: str, kind: str) -> None:
    after = with_values(before, '{"a", "b"}')
    assert kind in after
    found = check(after)
    assert not found.errors
    assert found.description is not None
    assert is_parametric(found.description.ad)
    assert values(found.description.ad) == ["a", "b"]
    again = check(with_values(after, None)).description
    assert again is not None
    assert not is_parametric(again.ad)
    assert again.structure == found.description.structure


def test_a_kind_that_is_no_word_is_left_as_it_is() -> None:
    assert with_values("JobType = self.Kind;", "3") == "JobType = self.Kind;\nParameters = 3;"


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [
        ("", 'JobType = "Parametric"; Parameters = 3;'),
        ('JobType = "Normal"; ', 'JobType = "Parametric"; Parameters = 3;'),
        ('JobType = "Parallel"; SubJobType = "plain"; NodeNumber = 2; ', '{"Parametric", "Parallel"}'),
    ],
)
def test_values_without_a_sweep_are_told_with_a_fix(kind: str, wanted: str) -> None:
    text = f"{TEXT}{kind}Parameters = 3;"
    (told,) = [one for one in check(text).diagnostics if "Parameters" in one.message]
    (fix,) = told.fixes
    mended = text[: fix.start] + fix.text + text[fix.end :]
    assert wanted in mended
    again = check(mended)
    assert again.description is not None
    assert is_parametric(again.description.ad)
    assert not [one for one in again.diagnostics if "Parameters" in one.message]
