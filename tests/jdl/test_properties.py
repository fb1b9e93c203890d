"""Whatever the text: no exception, bounded work, and nothing lost in writing and editing."""

from __future__ import annotations

import string

from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.jdl.check import check
from broker_core.jdl.diagnostics import MOST
from broker_core.jdl.syntax.edit import set_attribute
from broker_core.jdl.syntax.parse import parse, parse_expression
from broker_core.jdl.syntax.tree import Literal
from broker_core.jdl.syntax.write import expression, name, value_text, write

PIECES = st.sampled_from(
    [
        "A",
        "=",
        ";",
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
        ",",
        ".",
        '"x"',
        '"y',
        'z"',
        "1",
        "2.5",
        "-3",
        "true",
        "undefined",
        "&&",
        "||",
        "==",
        "=?=",
        "is",
        "?",
        ":",
        "?:",
        "!",
        "-",
        "+",
        "*",
        "other.",
        "Executable",
        "Requirements",
        "Rank",
        "JobType",
        "Nodes",
        "Type",
        "InputSandbox",
        "SubJobs",
        "//",
        "/*",
        "*/",
        "#",
        "\n",
        "'",
        '"',
        "\\",
        "@",
        "_PARAM_",
        "Member(",
        '"Parallel"',
        '"DAG"',
        "NodeNumber",
        "SubJobType",
        '"../a"',
        "WallTime",
        '"�"',
    ]
)
SOUP = st.lists(PIECES, max_size=60).map(" ".join)
NAMES = st.text(string.ascii_letters + "_", min_size=1, max_size=8).filter(
    lambda word: word.lower() not in {"is", "isnt", "true", "false", "error", "undefined"}
)
SCALARS = st.one_of(
    st.integers(0, 2**62),
    st.booleans(),
    st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=8),
)
EXPRESSIONS = st.recursive(
    st.one_of(SCALARS.map(value_text), NAMES, NAMES.map(lambda word: f"other.{word}")),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "&&", "||", "==", "<", "is", "%", "|"]), inner).map(
            lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
        ),
        inner.map(lambda one: f"!({one})"),
        inner.map(lambda one: f"-{one}"),
        st.tuples(inner, inner, inner).map(lambda three: f"({three[0]} ? {three[1]} : {three[2]})"),
        st.lists(inner, max_size=3).map(lambda items: "{" + ", ".join(items) + "}"),
        st.tuples(NAMES, st.lists(inner, max_size=2)).map(lambda call: f"{call[0]}({', '.join(call[1])})"),
        inner.map(lambda one: f"[ a = {one}; ]"),
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=200), SOUP))
def test_any_text_is_checked_without_an_exception(text: str) -> None:
    checked = check(text, parameter="7")
    assert len(checked.diagnostics) <= MOST
    assert (checked.description is None) == bool(checked.errors)
    assert all(0 <= item.start <= item.end <= len(text) for item in checked.diagnostics)


@settings(max_examples=200, deadline=None)
@given(EXPRESSIONS)
def test_an_expression_that_was_written_is_read_as_the_same(text: str) -> None:
    tree, wrong = parse_expression(text)
    assert tree is not None, wrong
    again, wrong = parse_expression(expression(tree))
    assert wrong == ()
    assert again == tree


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(NAMES.map(str.lower), EXPRESSIONS, max_size=5))
def test_an_ad_that_was_written_is_read_as_the_same(parts: dict[str, str]) -> None:
    ad = parse("".join(f"{key} = {value};\n" for key, value in parts.items())).ad
    assert ad is not None
    assert parse(write(ad)).ad == ad


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=12))
def test_any_name_can_be_written(text: str) -> None:
    parsed = parse(f"{name(text)} = 1;")
    if any(ord(character) < 32 or ord(character) == 127 for character in text):
        return
    assert parsed.diagnostics == ()
    assert parsed.ad is not None
    assert parsed.ad.get(text) == Literal(1)


KEPT = "// head\nB = 2; /* two */\n\nOther = {1, 2}; # end\n"


@settings(max_examples=150, deadline=None)
@given(NAMES, EXPRESSIONS)
def test_an_edit_keeps_the_rest_and_can_be_taken_back(key: str, value: str) -> None:
    if key.lower() in ("b", "other"):
        return
    edited = set_attribute(KEPT, key, value)
    ad = parse(edited).ad
    tree, _ = parse_expression(value)
    assert ad is not None
    assert ad.get(key) == tree
    for part in ("// head\n", "B = 2;", "/* two */", "Other = {1, 2};", "# end"):
        assert part in edited
    assert set_attribute(edited, key, None) == KEPT
