"""The slips of real descriptions: each is accepted with a warning, or refused with the fix named."""

from __future__ import annotations

import pytest

from broker_core.jdl.check import Checked, check

PROGRAM = 'Executable = "/bin/true";'

ACCEPTED = {
    "a missing semicolon": 'Executable = "/bin/true"\nStdOutput = "x";',
    "a comma at the end of a statement": 'Executable = "/bin/true",\nStdOutput = "x";',
    "a comparison sign for a value": 'Executable == "/bin/true";',
    "a missing comma between strings": PROGRAM + 'OutputSandbox = {"a" "b"};',
    "a comma too many": PROGRAM + 'OutputSandbox = {"a",, "b"};',
    "a comma before the first item": PROGRAM + 'OutputSandbox = {, "a"};',
    "a comma behind the last item": PROGRAM + 'OutputSandbox = {"a",};',
    "semicolons in a list": PROGRAM + 'OutputSandbox = {"a"; "b"};',
    "a list in square brackets": PROGRAM + 'OutputSandbox = ["a", "b"];',
    "a list in round brackets": PROGRAM + 'OutputSandbox = ("a", "b");',
    "quotes of a word processor": "Executable = \u201c/bin/true\u201d;",
    "single quotes of a word processor": "Executable = \u2018/bin/true\u2019;",
    "French quotes": "Executable = \u00ab/bin/true\u00bb;",
    "quotes of a typesetter": "Executable = ``/bin/true'';",
    "two single quotes": "Executable = ''/bin/true'';",
    "signs of printed text": PROGRAM + "Requirements = other.GlueCEInfoTotalCPUs \u2265 4;",
    "a dash for a minus": PROGRAM + "Rank = \u2013other.GlueCEStateEstimatedResponseTime;",
    "signs of other languages": PROGRAM + "Requirements = other.GlueCEInfoTotalCPUs => 4;",
    "an unequal sign of other languages": PROGRAM + "Requirements = other.GlueCEInfoTotalCPUs <> 4;",
    "three equals signs": PROGRAM + "Requirements = other.GlueCEInfoTotalCPUs === 4;",
    "a colon and an equals sign": 'Executable := "/bin/true";',
    "a backslash at the end of a line": PROGRAM
    + "Requirements = other.GlueCEInfoTotalCPUs > 1 && \\\n true;",
    "single quotes in an expression": PROGRAM + "Requirements = other.GlueCEInfoLRMSType == 'pbs';",
    "a single ampersand": PROGRAM + "Requirements = (other.GlueCEInfoTotalCPUs > 1) & true;",
    "a value where Member wants a list": PROGRAM + 'Requirements = Member("pbs", other.GlueCEInfoLRMSType);',
    "an unquoted host": PROGRAM + "ReplicaCatalog = pcrc.cern.ch;",
    "several names in one string": PROGRAM + 'OutputSandbox = "a, b";',
}

REFUSED = {
    "single quotes": "Executable = '/bin/true';",
    "single quotes in a list": PROGRAM + "OutputSandbox = {'a', 'b'};",
    "no quotes": PROGRAM + "StdOutput = std.out;",
    "no quotes in a list": PROGRAM + "OutputSandbox = {std.out, std.err};",
    "a path without quotes": "Executable = /bin/true;",
    "a missing quote": 'Executable = "/bin/true;\nStdOutput = "x";',
    "a missing square bracket": f"[ {PROGRAM}",
    "a missing round bracket": PROGRAM + 'Requirements = (other.GlueCEInfoTotalCPUs > 1; StdOutput = "x";',
    "a missing brace": PROGRAM + 'OutputSandbox = {"a", "b"; StdOutput = "x";',
    "a square bracket too many": PROGRAM + " ]",
    "a round bracket too many": PROGRAM + "Requirements = (other.GlueCEInfoTotalCPUs > 1));",
    "a brace too many": PROGRAM + 'OutputSandbox = {"a"}};',
    "an equals sign in an expression": PROGRAM + 'Requirements = other.GlueCEInfoLRMSType = "pbs";',
    "words for operators": PROGRAM + "Requirements = other.GlueCEInfoTotalCPUs > 4 AND true;",
    "a word for a sign": PROGRAM + "Requirements = not (other.GlueCEInfoTotalCPUs > 4);",
    "a colon": 'Executable: "/bin/true";',
    "a comment of another language": f"-- a comment\n{PROGRAM}",
    "the sign of a shell": f"$ {PROGRAM}",
    "the sign of a mail": f'> {PROGRAM}\n> StdOutput = "x";',
    "a number in quotes": PROGRAM + 'RetryCount = "3";',
    "a truth value in words": PROGRAM + "Interactive = no;",
    "a time without quotes": PROGRAM + "WallTime = 90m;",
    "arguments as a list": PROGRAM + 'Arguments = {"a", "b"};',
    "an expression in quotes": PROGRAM + 'Requirements = "other.GlueCEInfoTotalCPUs > 4";',
    "an attribute given twice": PROGRAM + 'StdOutput = "x"; StdOutput = "x";',
}

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
