"""Syntax: both spellings, comments, recovery, places."""

from __future__ import annotations

import pytest

from broker_core.jdl.syntax.parse import parse, parse_expression
from broker_core.jdl.syntax.tokens import tokenize
from broker_core.jdl.syntax.tree import Ad, Binary, Conditional, Literal
from broker_core.jdl.syntax.write import expression, write


def test_brackets_comments_and_case_make_no_difference() -> None:
    plain = parse('A = 1; b = {"x", [c = 2]};')
    dressed = parse('# first\n[ a = 1; // one\n /* two\n lines */ B = { "x", [ C = 2; ] } ] ;')
    assert plain.diagnostics == dressed.diagnostics == ()
    assert plain.ad is not None
    assert dressed.ad is not None
    assert write(plain.ad).lower() == write(dressed.ad).lower()


def test_operators_bind_as_in_classads() -> None:
    tree, _ = parse_expression("a || b && c == d + e * -f ? 1 : 2")
    assert isinstance(tree, Conditional)
    assert isinstance(tree.test, Binary)
    assert expression(tree) == "a || b && c == d + e * -f ? 1 : 2"
    tree, _ = parse_expression("(a || b) && (c is d) isnt (1 - (2 - 3))")
    assert tree is not None
    assert expression(tree) == "(a || b) && c =?= d =!= 1 - (2 - 3)"


def test_places_are_characters_of_the_text() -> None:
    text = 'Ä = 1;\nExecutable = "ünï";\n'
    parsed = parse(text.replace("Ä", "A"))
    assert parsed.ad is not None
    value = parsed.ad.get("executable")
    assert isinstance(value, Literal)
    assert text[value.start : value.end] == '"ünï"'


def test_one_error_costs_one_statement() -> None:
    parsed = parse("A = (1;\nB = 2;\nC = {1, ;\nD = [e = ; f = 3];\nG = 4;")
    assert parsed.ad is not None
    assert {entry.name for entry in parsed.ad} == {"B", "D", "G"}
    nested = parsed.ad.get("d")
    assert isinstance(nested, Ad)
    assert nested.get("f") == Literal(3)
    assert [item.line for item in parsed.diagnostics] == [1, 3, 4]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("A = 1; [", "expected-name"),
        ("[A = 1;", "unclosed"),
        ("A = 1; ] B = 2;", "text-after-end"),
        ("A B;", "expected-equals"),
        ('A = "x', "unterminated-string"),
        ("A = 1 2;", "unexpected"),
        ("A = b.1;", "unexpected"),
        ("A = b.;", "expected-name"),
        ("A = (1;", "unexpected"),
        ("A = (1", "unclosed"),
        ("A = f(1;", "unexpected"),
        ("A = 1 = 2;", "single-equals"),
        ("A = 1; a = 2;", "duplicate-attribute"),
        ('A = "\\000";', "nul-in-string"),
    ],
)
def test_syntax_errors_have_codes(text: str, code: str) -> None:
    assert code in {item.code for item in parse(text).diagnostics}


def test_tokens_cover_everything_but_white_space() -> None:
    text = 'A = "x\\"y" + 1.5e3; // c\n/* d */ \'q\' @ \u201cz\u201d "open'
    kinds = [token.kind for token in tokenize(text)]
    assert kinds == [
        "name", "operator", "string", "operator", "number", "operator", "comment", "comment", "quoted", "bad",
        "curly", "open",
    ]  # fmt: skip
    assert "".join(token.text for token in tokenize(text)) == text.replace(" ", "").replace("\n", "").replace(
        "//c", "// c"
    ).replace("/*d*/", "/* d */")


@pytest.mark.parametrize("text", [".true", ".'a b'", "other.'true'", "'is'"])
def test_names_that_need_quotes_are_written_as_they_are_read(text: str) -> None:
    tree, _ = parse_expression(text)
    assert tree is not None
    again, _ = parse_expression(expression(tree))
    assert again == tree
    assert expression(tree).replace("'", "") == text.replace("'", "")
