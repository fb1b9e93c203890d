"""UserTags: which tags a description gives its jobs, and what is said of those that can be none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.errors import BadRequest
from broker_core.jdl.check import check
from broker_core.jdl.user_tags import LONGEST, MOST, tag_of, tags_of
from tests.jdl.slips import PROGRAM


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ('[ study = "A-17"; priority = 3 ]', ("study:A-17", "priority:3")),
        ("[ pilot = true; rerun = false ]", ("pilot", "rerun:false")),
        ('{ "calib", "Größe", "2026.1" }', ("calib", "Größe", "2026.1")),
        ('"calib"', ("calib",)),
        ('{ "Calib", "calib" }', ("Calib",)),
    ],
)
def test_names_with_values_and_lists_of_words_are_tags(written: str, tags: tuple[str, ...]) -> None:
    checked = check(PROGRAM + f"UserTags = {written};")
    assert checked.description is not None
    assert (checked.description.tags, checked.diagnostics) == (tags, ())


@pytest.mark.parametrize("written", ['{ "two words", "good" }', '[ who = "me, you"; good = true ]'])
def test_what_can_be_no_tag_is_left_out_with_a_warning_at_its_place(written: str) -> None:
    text = PROGRAM + f"\nUserTags = {written};"
    checked = check(text)
    assert checked.description is not None
    assert checked.description.tags == ("good",)
    (warning,) = checked.diagnostics
    assert (warning.code, warning.severity, warning.line) == ("tag-form", "warning", 2)
    assert text[warning.start : warning.end] in ('"two words"', '"me, you"')
    assert "letters, digits" in warning.message


def test_what_is_no_text_and_more_tags_than_a_job_bears_are_warned_of() -> None:
    many = ", ".join(f'"t{number}"' for number in range(MOST + 1))
    for written in ("[ a = { 1 } ]", f"{{ {many} }}"):
        checked = check(PROGRAM + f"UserTags = {written};")
        assert checked.description is not None
        assert [one.code for one in checked.diagnostics] == ["tag-form"]
        assert len(checked.description.tags) in (0, MOST)


@given(st.text(max_size=80))
def test_a_tag_is_a_word_and_reads_as_itself_again(text: str) -> None:
    try:
        tag = tag_of(text)
    except BadRequest:
        return
    assert tag_of(tag) == tag
    assert tag.split() == [tag]
    assert tag[0] not in "-_.:"
    assert len(tag) <= LONGEST


def test_tags_that_differ_in_case_or_in_how_accents_are_stored_are_one() -> None:
    assert tags_of(["Calib", "b", "CALIB", "cafe\u0301", "caf\u00e9"]) == ("Calib", "b", "café")
    for bad in ("", "-x", "a b", "a\u202eb", "a\x1bb", "a,b", "x" * (LONGEST + 1)):
        with pytest.raises(BadRequest):
            tag_of(bad)
