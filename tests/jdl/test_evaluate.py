"""Values of expressions: scopes, three values, limits."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.jdl.evaluation.evaluate import evaluate
from broker_core.jdl.syntax.parse import parse, parse_expression
from broker_core.jdl.syntax.tree import ERROR, UNDEFINED

OTHER = {"gluehostmainmemoryramsize": 2048, "tags": ["OpenGL", "MPI"], "name": "ce.example.org:2119"}


def value(text: str, own: str = "", **more: Any) -> Any:
    tree, wrong = parse_expression(text)
    assert tree is not None, wrong
    return evaluate(tree, parse(own).ad, OTHER, **more)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("other.GlueHostMainMemoryRAMSize >= 1024", True),
        ("target.gluehostmainmemoryramsize", 2048),
        ("GlueHostMainMemoryRAMSize", UNDEFINED),
        ('Member("opengl", other.tags)', True),
        ('isMember("X", other.tags)', False),
        ('RegExp("\\\\.example\\\\.org:", other.name)', True),
        ("other.missing > 1", UNDEFINED),
        ("other.missing > 1 || true", True),
        ("other.missing > 1 && false", False),
        ("other.missing ?: 3", 3),
        ('"a" == 1', ERROR),
        ("nosuch(1)", ERROR),
        ("member(1)", ERROR),
    ],
)
def test_expressions_read_the_resource(text: str, expected: Any) -> None:
    assert value(text) == expected


def test_bare_names_read_the_job_and_nested_ads_read_outwards() -> None:
    own = "A = 2; B = A * 3; C = [D = A + 1; E = D]; F = C.E; G = self.A; H = C.A;"
    assert [value(name, own) for name in ("B", "F", "G", "H")] == [6, 3, 2, UNDEFINED]


def test_circles_are_errors() -> None:
    assert value("A", "A = B; B = A;") is ERROR


def test_time_comes_from_the_caller() -> None:
    assert value("time()", now=1000.5) == 1000
    assert value("time()") is ERROR


def test_doubling_chains_end_in_an_error() -> None:
    own = "".join(f"A{n} = strcat(A{n + 1}, A{n + 1});\n" for n in range(60)) + 'A60 = "xxxx";'
    assert value("A0", own) is ERROR
    sums = "".join(f"A{n} = A{n + 1} + A{n + 1};\n" for n in range(60)) + "A60 = 1;"
    assert value("A0", sums) is ERROR


def test_long_chains_of_clauses_have_values() -> None:
    assert value(" && ".join(['other.name != "x"'] * 5000)) is True


def test_attribute_chains_are_bounded() -> None:
    own = "".join(f"A{n} = A{n + 1};\n" for n in range(5000)) + "A5000 = 1;"
    assert value("A0", own) is ERROR
    assert value("A4950", own) == 1


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "(a*)*b", "a*a*a*a*a*b", "(?=a)*", "(.)\\\\1", "(a|a)" * 30 + "$"]
)
def test_costly_patterns_are_errors(pattern: str) -> None:
    assert value(f'regexp("{pattern}", "{"a" * 3000}!")') is ERROR


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ('regexp(".*sdj$", "ce/queue-sdj")', True),
        ('regexp("^([0-9]+\\\\.){3}[0-9]+$", "158.109.65.150")', True),
        ('regexp("[a-z]+[0-9]+-[0-9]+[.]", "ce101-42.site.example.org:2119/jobmanager-pbs-long")', True),
        ('regexp("^(ce1|ce2|ce3)[.](pic|ifae)[.]es", "ce2.pic.es")', True),
        ('regexp("^ce[0-9]+\\\\.(a|b)\\\\.org:2119/", "ce01.b.org:2119/x")', True),
        ('replaceAll("a", "banana", "o")', "bonono"),
        ('regexps("(b)(a)", "banana", "\\\\2\\\\1")', "ab"),
        ('versionGE("1.10", "1.9")', True),
        ('stringListMember("b", "a, b,c")', True),
        ('split("a b,c")', ["a", "b", "c"]),
        ("interval(90061)", "1+01:01:01"),
        ("quantize(7, 2.5)", 7.5),
        ("pow(2, 10)", 1024),
        ('substr("abcdef", -3, 2)', "de"),
        ('anyCompare(">", {1, 2}, 1)', True),
        ('join(", ", {"a", 1})', "a, 1"),
    ],
)
def test_functions_do_what_their_names_say(call: str, expected: Any) -> None:
    assert value(call) == expected
