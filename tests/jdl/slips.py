"""Slips in descriptions: accepted and refused ones."""

from __future__ import annotations

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
    "an unquoted host at the end": PROGRAM + "ReplicaCatalog = pcrc.cern.ch",
    "an unquoted host and a comment": PROGRAM + "ReplicaCatalog = pcrc#.cern.ch;",
    "an unquoted host in brackets": "[" + PROGRAM + "ReplicaCatalog = pcrc.cern.ch]",
    "an unquoted host and a comma": PROGRAM + "ReplicaCatalog = pcrc.cern.ch, Interactive = false;",
    "an unquoted host and no semicolon": PROGRAM + "ReplicaCatalog = pcrc.cern.ch Interactive = false;",
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
