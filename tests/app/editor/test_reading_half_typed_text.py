"""What the editor makes of a text at any moment of its typing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.description.document import changed_span
from app.description.lexical import bracket_pair, words
from app.description.statements import statements
from app.description.values import integer_of, list_source, string_of, string_source, strings_of, truth_of
from app.editor.completion.candidates import candidates
from app.editor.completion.context import place_at

_TEXT = st.text(alphabet=st.sampled_from(list("ab1 \n\"\\{}[]();=/*.,#'é😀")), max_size=60)


_TAGS = {"CONTAINER:apptainer": ["vega"], "MODULE:gcc/14": ["far", "vega"], "OPENMPI": ["far"]}


def _offered(text: str) -> list[str]:
    place = place_at(text, len(text))
    return [] if place is None else [candidate.text for candidate in candidates(place, text, _TAGS)]


def test_a_component_of_a_job_is_offered_what_it_can_have_and_has_not() -> None:
    begun = 'JobType = "Parallel"; SubJobs = { [ NodeNumber = 2; Rank = other.X; ], [ '
    assert _offered(begun) == ["NodeNumber", "Requirements", "Rank"]
    assert _offered(f"{begun} NodeNumber = 3; R") == ["Requirements", "Rank"]
    assert _offered(f"{begun} NodeNumber = 3; Rank = 1; R") == ["Requirements"]
    assert "other.GlueHostFreeCPUs" in _offered(f"{begun} Rank = ")
    assert {"SubJobType", "InputSandbox"} <= set(_offered(f"{begun} ] }}; "))
    assert "Executable" in _offered("[ Nodes = [ A = [ description = [ ")


def test_software_is_offered_as_the_sites_tell_it_and_as_the_files_are_there() -> None:
    assert _offered("Modules = {") == ["gcc/14"]
    assert _offered('Modules = {"gcc/14", "x') == []
    assert _offered("Tags = {") == [*_TAGS]
    assert _offered('Tags = "open') == ["OPENMPI"]
    assert _offered('Requirements = Member("CONT') == ["CONTAINER:apptainer"]
    assert "Member" in _offered("Requirements = Me")
    files = 'InputSandbox = {"in/tools.sif", "run.py", "requirements.txt"}; '
    assert _offered(f"{files} Container = ") == ["tools.sif", "docker://"]
    assert _offered(f'{files} PythonEnvironment = "req') == ["requirements.txt"]
    assert _offered('InputSandbox = in.sif; Container = "') == ["docker://"]


def test_statements_are_found_with_comments_nesting_and_without_the_last_semicolon() -> None:
    text = '[ /* a = 1; */ Executable = "x;y"; SubJobs = { [ NodeNumber = 5; ] }; Rank = other.A ]'
    found = statements(text)
    assert {name: found[name].value for name in found} == {
        "executable": '"x;y"',
        "subjobs": "{ [ NodeNumber = 5; ] }",
        "rank": "other.A",
    }
    assert all(text[one.start : one.end] == one.value for one in found.values())


@given(_TEXT)
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    assert all(text[word.start : word.end] == word.text for word in words(text))
    assert all(text[one.start : one.end] == one.value for one in statements(text).values())
    for position in range(len(text) + 1):
        place_at(text, position)
        bracket_pair(text, position)


@given(st.text(max_size=40))
def test_a_string_survives_being_written_and_read(value: str) -> None:
    plain = value.replace("\0", "")
    assert string_of(string_source(plain)) == plain


@given(st.lists(st.text(alphabet='ab "\\\n,{}', max_size=10), max_size=6))
def test_a_list_survives_being_written_and_read(values: list[str]) -> None:
    assert strings_of(list_source(values)) == values


@given(_TEXT, _TEXT)
def test_the_changed_span_turns_the_old_text_into_the_new_one(old: str, new: str) -> None:
    span = changed_span(old, new)
    if span is None:
        assert old == new
        return
    start, end, text = span
    assert old[:start] + text + old[end:] == new


def test_expressions_are_not_taken_for_plain_values() -> None:
    assert string_of('"a" + "b"') is None
    assert strings_of('{"a", b}') is None
    assert (integer_of("12"), integer_of("1+1"), integer_of("-1")) == (12, None, None)
    assert (truth_of("TRUE"), truth_of("false"), truth_of("1")) == (True, False, None)


def test_attributes_are_offered_at_the_start_of_a_statement_but_not_those_that_stand_there() -> None:
    offered = _offered('Executable = "a";\nExe')
    assert "Executable" not in offered
    assert _offered("Exec")[0] == "Executable"
    assert "StdOutput" in _offered("std")


def test_allowed_values_are_offered_inside_and_outside_quotes() -> None:
    assert _offered("JobType = ")[:2] == ["Normal", "Parallel"]
    assert _offered('SubJobType = "pac') == ["pacx-mpi"]
    assert "True" in _offered("Interactive = ")


def test_resources_are_offered_after_other_and_nothing_in_a_comment() -> None:
    assert "GlueHostFreeCPUs" in _offered("Rank = other.GlueHostF")
    assert _offered("// Exec") == []


@pytest.mark.parametrize(
    ("text", "position", "pair"),
    [("{a}", 1, (0, 2)), ("{a}", 3, (2, 0)), ('{ "}" }', 0, (0, 6)), ("(]", 0, (0, None)), ("ab", 1, None)],
)
def test_brackets_are_matched_outside_strings(text: str, position: int, pair: tuple[int, int | None]) -> None:
    assert bracket_pair(text, position) == pair
