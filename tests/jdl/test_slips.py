"""The slips of real descriptions: each is accepted with a warning, or refused with the fix named."""

from __future__ import annotations

import pytest

from broker_core.jdl.check import Checked, check
from tests.jdl.slips import ACCEPTED, PROGRAM, REFUSED

SILENT = [
    '# a comment\nExecutable = "/bin/true"; // another\n/* and\n a third */',
    PROGRAM + "Interactive = FALSE; Requirements = TRUE;",
    '\ufeffExecutable\u00a0=\u00a0"/bin/true";\r\nStdOutput\u200b = "x";\r\n',
    PROGRAM + 'Arguments = "one " "two";',
    'executable = "/bin/true"; STDOUTPUT = "x"',
]


def mended(text: str, checked: Checked) -> str:
    """The text with the first fix of everything that was found."""
    for item in sorted(checked.diagnostics, key=lambda one: -one.start):
        for fix in item.fixes[:1]:
            text = text[: fix.start] + fix.text + text[fix.end :]
    return text


@pytest.mark.parametrize("slip", ACCEPTED)
def test_a_slip_with_one_meaning_is_accepted_told_and_fixed(slip: str) -> None:
    checked = check(ACCEPTED[slip])
    assert checked.description is not None, checked.diagnostics
    assert {item.severity for item in checked.diagnostics} <= {"warning", "hint"}
    assert all(item.fixes and item.line for item in checked.diagnostics)
    after = check(mended(ACCEPTED[slip], checked))
    assert after.description is not None
    assert after.diagnostics == ()


@pytest.mark.parametrize("slip", REFUSED)
def test_any_other_slip_is_refused_with_a_fix_that_mends_it(slip: str) -> None:
    checked = check(REFUSED[slip])
    assert checked.description is None
    assert all(item.fixes and item.line for item in checked.errors), checked.errors
    assert check(mended(REFUSED[slip], checked)).description is not None


@pytest.mark.parametrize("text", SILENT, ids=range(len(SILENT)))
def test_what_the_language_allows_is_no_slip(text: str) -> None:
    assert check(text).diagnostics == ()


def test_an_attribute_that_cannot_be_read_is_not_called_missing() -> None:
    assert [item.code for item in check('Executable = "/bin/true;').errors] == ["unterminated-string"]


def test_a_sign_for_a_shell_is_pointed_out() -> None:
    assert [item.code for item in check(PROGRAM + 'Arguments = "a > b";').diagnostics] == ["shell-sign"]
    assert check(PROGRAM + "Arguments = \"'a > b' c>d a&b\";").diagnostics == ()


def test_two_slips_in_one_list_are_told_apart() -> None:
    found = check(PROGRAM + "OutputSandbox = ['a', \"b\"];").diagnostics
    assert {item.code for item in found} == {"list-brackets", "wrong-type"}
