"""Acceptance and refusal: one code for every kind, all at once."""

from __future__ import annotations

import pytest

from broker_core.jdl.check import Checked, FileFact, Limits, check

GOOD = 'Executable = "/bin/true";'


def codes(text: str, **more: object) -> set[str]:
    return {item.code for item in check(text, **more).diagnostics}  # type: ignore[arg-type]


REFUSALS = {
    'Executable = "/bin/true"; Type = "Jobb";': "unknown-type",
    'Executable = "/bin/true"; JobType = "Serial";': "unknown-job-type",
    'Executable = "/bin/true"; JobType = "Checkpointable";': "job-type-deprecated",
    'Executable = "/bin/true"; JobType = "Parallel"; NodeNumber = 2;': "missing-sub-job-type",
    'Executable = "/x"; JobType = "Parallel"; NodeNumber = 2; SubJobType = "lam";': "unknown-sub-job-type",
    'Executable = "/bin/true"; JobType = "Parallel"; SubJobType = "openmpi";': "missing-node-number",
    'Executable = "/bin/true"; JobType = "Normal"; NodeNumber = 2;': "normal-with-nodes",
    'Executable = "/bin/true"; NodeNumber = 0;': "count-too-small",
    'Executable = "/bin/true"; NodeNumber = 2; CpuNumber = 3;': "counts-differ",
    'Executable = "/bin/true"; NodeNumber = "2";': "wrong-type",
    'StdOutput = "x";': "missing-executable",
    'Executable = "";': "missing-executable",
    'Executable = "bin/x";': "executable-path",
    'Executable = "/bin/t*";': "executable-wildcard",
    'Executable = "/bin/-x";': "leading-dash",
    'Executable = "/bin/true"; StdOutput = "../x";': "path-escapes",
    'Executable = "/bin/true"; StdOutput = "/etc/x";': "path-escapes",
    'Executable = "/bin/true"; StdError = "e*";': "stream-wildcard",
    'Executable = "/bin/true"; Prologue = "bin/x";': "executable-path",
    'Executable = "/bin/true"; Epilogue = "x*";': "executable-wildcard",
    'Executable = "/bin/true"; DataRequirements = {[InputData = "lfn:/a"]};': "data-ad",
    'Executable = "/bin/true"; OutputData = {[StorageElement = "se"]};': "data-ad",
    'Executable = "/bin/true"; OutputData = {[OutputFile = "a"; LogicalFileName = "/a"]};': "data-ad",
    'Executable = "/bin/true"; InputData = "lfn:/a"; DataRequirements = {};': "attributes-exclude",
    'Executable = "/bin/true"; InputSandboxBaseURI = "/tmp";': "address-form",
    'Executable = "/x"; OutputSandbox = {"a", "b"};OutputSandboxDestURI = "https://h/a";': "items-differ",
    'Executable = "/bin/true"; OutputSandbox = "*"; OutputSandboxDestURI = "gsiftp://h/a";': "items-differ",
    'Executable = "/bin/true"; InputSandbox = "a"; InputSandboxDestFileName = "../c";': "path-escapes",
    'Executable = "/bin/true"; InputSandbox = {"a", "b"}; InputSandboxDestFileName = {"c", "c"};': (
        "duplicate-sandbox-name"
    ),
    'Executable = "/bin/true"; InputSandbox = {"a", "b"}; InputSandboxDestFileName = "c";': "items-differ",
    'Executable = "/bin/true"; UserContact = "nobody";': "contact-form",
    'Executable = "/bin/true"; MyProxyServer = "_PARAM_";': "parameter-not-here",
    'Executable = "/bin/true"; Rank = other.DataAccessCost;': "data-access-cost",
    'Executable = "/bin/true"; InputData = "lfn:/a"; Rank = other.DataAccessCost + other.GlueCEName;': (
        "data-access-cost"
    ),
    'Executable = "/bin/true"; MinNumCPU = 2; NodeNumber = 3;': "counts-differ",
    'Executable = "/bin/true"; OutputSandbox = "a"; OutputSandboxDestURI = "gsiftp://h/a"; '
    'OutputSandboxBaseDestURI = "gsiftp://h/";': "attributes-exclude",
    'Type = "Collection"; Nodes = {[Executable = "/x"; InputSandbox = root.InputSandbox]};': "root-reference",
    'Type = "Collection"; Nodes = {[Type = "DAG"; Nodes = [a = [file = "x"]]]};': "nested-workflow",
    'Type = "Collection"; Nodes = {[JobType = "Parametric"; Executable = "/x"]};': "parametric-node",
    'Type = "Collection"; Nodes = {[File = "x"; Executable = "/x"]};': "node-file-alone",
    'Type = "Collection"; Nodes = {[NodeName = "a"; File="x"],[NodeName = "a"; File="y"]};': "duplicate-node",
    'Executable = "/bin/true"; StdInput = "in";': "stdin-not-in-sandbox",
    'Executable = "/bin/true"; InputSandbox = {"a/x", "b/x"};': "duplicate-sandbox-name",
    'Executable = "/bin/true"; OutputSandbox = {"x", "x"};': "duplicate-sandbox-name",
    'Executable = "/bin/true"; OutputSandbox = {"../x"};': "path-escapes",
    'Executable = "/bin/true"; OutputSandbox = {"a\\nb"};': "control-character",
    'Executable = "/bin/true"; InputSandbox = {"folder/"};': "empty-name",
    'Executable = "/bin/true"; InputSandbox = {"-rf"};': "leading-dash",
    f'Executable = "/bin/true"; StdOutput = "{"x" * 300}";': "name-too-long",
    'Executable = "/bin/true"; Environment = {"A"};': "environment-format",
    'Executable = "/bin/true"; Environment = {"1A=2"};': "environment-format",
    'Executable = "/bin/true"; Arguments = "\'a";': "arguments-unbalanced",
    'Executable = "/bin/true"; WallTime = "soon";': "wall-time-format",
    'Executable = "/bin/true"; WallTime = 0;': "wall-time-format",
    'Executable = "/bin/true"; WallTime = 5; MaxWallTime = 6;': "wall-times-differ",
    'Executable = "/bin/true"; Requirements = "true";': "quoted-expression",
    'Executable = "/bin/true"; RetryCount = -1;': "count-too-small",
    'Executable = "/bin/true"; HostNumber = 2;': "more-hosts-than-cpus",
    'Executable = "/bin/true"; ListenerPort = 2;': "listener-not-interactive",
    'Executable = "/bin/true"; JobType = "Parametric";': "missing-parameters",
    'Executable = "/bin/true"; JobType = "Parametric"; Parameters = true;': "parameters-format",
    'Type = "DAG";': "missing-nodes",
    'Type = "DAG"; Nodes = [];': "node-count",
    'Type = "DAG"; Nodes = [a = 1;];': "node-not-ad",
    'Type = "DAG"; Nodes = [a = [];];': "node-description",
    'Type = "DAG"; Nodes = [a = [file = "x"]; Dependencies = {{a, b}}];': "dependency",
    'Type = "DAG"; Nodes = [a = [file = "x"]; b = [file = "y"]; Dependencies = {{a, b}, {b, a}}];': "cycle",
    'Type = "DAG"; Interactive = true; Nodes = [a = [file = "x"]];': "interactive-workflow",
    'Type = "DAG"; Nodes = [a = [description = [Executable = "/x"; Interactive = true]]];': (
        "interactive-workflow"
    ),
    'Type = "DAG"; Nodes = [a = [description = [StdOutput = "x"]]];': "missing-executable",
    'JobType = "Parallel"; SubJobType = "openmpi"; Executable = "/x"; SubJobs = {[NodeNumber = 2]};': (
        "sub-jobs-one-cluster"
    ),
    'JobType = "Parallel"; SubJobType = "plain"; Executable = "/x"; SubJobs = {[NodeNumber = 2]};': (
        "sub-jobs-need-launcher"
    ),
    'JobType = "Parallel"; SubJobType = "pacx-mpi"; Executable = "/x"; SubJobs = {[Rank = 2]};': (
        "sub-job-node-number"
    ),
    'JobType = "Parallel"; SubJobType = "pacx-mpi"; NodeNumber = 3; Executable = "/x"; '
    "SubJobs = {[NodeNumber = 2]};": "sub-jobs-sum",
    'Executable = "/x"; SubJobs = {[NodeNumber = 2]};': "sub-jobs-of-normal",
    "": "empty",
    "// nothing": "empty",
    "[]": "empty",
}


@pytest.mark.parametrize("text", REFUSALS, ids=range(len(REFUSALS)))
def test_each_kind_of_refusal_has_its_code(text: str) -> None:
    checked = check(text)
    assert checked.description is None
    assert REFUSALS[text] in {item.code for item in checked.errors}


WARNINGS = {
    'Executable == "/bin/true";': "double-equals",
    'Executable = "/bin/true"\nStdOutput = "x";': "missing-semicolon",
    'Executable = "/bin/true"; InputSandbox = {"a" "b"};': "missing-comma",
    'Executable = "/bin/true"; InputSandbox = {"a", "b",};': "trailing-comma",
    "Executable = \u201c/bin/true\u201d;": "curly-quotes",
    'Executable = "/bin/true"; JobType = "Interactive";': "job-type-mapped",
    'Executable = "/bin/true"; JobType = "MPICH"; NodeNumber = 2;': "job-type-mapped",
    'Executable = "/bin/true"; CpuNumber = 2;': "cpus-make-parallel",
    'Executable = "/bin/true"; SubJobType = "plain"; NodeNumber = 2;': "parallel-implied",
    'Executable = "hostname";': "executable-not-sent",
    'Executable = "/bin/true"; Arguements = "x";': "misspelt-attribute",
    'Executable = "/bin/true"; Rank = other.GlueCEStateEstimatedResponseTime;': "rank-sign",
    'Executable = "/bin/true"; Requirements = other.GlueCEStateFreCPUs > 1;': "misspelt-resource-attribute",
    'Executable = "/bin/true"; Requirements = GlueCEStateFreeCPUs > 1;': "missing-other",
    'Executable = "/bin/true"; Requirements = Membr(1, {1});': "unknown-function",
    'Executable = "/bin/true"; Requirements = Member(1);': "argument-count",
    'Executable = "/x"; Requirements = other.GlueHostApplicationRunTimeEnvironment == "x";': "list-compared",
    'Executable = "/bin/true"; MyProxyServer = "x";': "not-carried-out",
    'Executable = "/bin/true"; InputData = "lfn:/a";': "data-not-sent",
    'Executable = "/bin/true"; PrologueArguments = "x";': "attribute-without",
    'Executable = "/bin/true"; Environment = {"A=1", "A=2"};': "environment-twice",
}


@pytest.mark.parametrize("text", WARNINGS, ids=range(len(WARNINGS)))
def test_slips_are_tolerated_with_a_word_about_them(text: str) -> None:
    checked = check(text)
    assert checked.description is not None, checked.diagnostics
    assert WARNINGS[text] in {item.code for item in checked.diagnostics}


def test_all_errors_are_told_at_once_with_their_places() -> None:
    text = 'Type = "Jobb";\nNodeNumber = "4";\nStdOutput = "../x";\nRequirements = (1 +;\nX = @;'
    found = [(item.code, item.line, item.column) for item in check(text).errors]
    assert found == [
        ("missing-executable", 0, 0),
        ("unknown-type", 1, 8),
        ("wrong-type", 2, 14),
        ("path-escapes", 3, 13),
        ("expected-value", 4, 20),
        ("expected-value", 5, 5),
    ]


def applied(text: str, checked: Checked) -> str:
    for item in sorted(checked.diagnostics, key=lambda one: -one.start):
        for fix in item.fixes[:1]:
            text = text[: fix.start] + fix.text + text[fix.end :]
    return text


@pytest.mark.parametrize(
    "text",
    [
        'Executable == "/bin/true"',
        'Executable = "/bin/true"\nStdOutput = "x"',
        'Executable = "/bin/true"; NodeNumber = "1";',
        'Executable = "/bin/true"; Interactive = "true";',
        'Executable = "/bin/true"; JobName = run1;',
        "Executable = '/bin/true';",
        'Executable = "/bin/true"; JobType = "MPICH"; NodeNumber = 2;',
        'Executable = "/bin/true"; Requirements = other.GlueCEStateFreeCPUs = 2;',
        'Executable = "/bin/true"; Requirements = true and false;',
        'Executable = "/bin/true"; Arguements = "x";',
        'Executable = "/bin/true"; InputSandbox = {"a" "b",};',
        'Executable = "/bin/true"; StdOutput = "x;',
        '[Executable = "/bin/true";',
        'Executable = "/bin/true"; Rank = other.GlueCEStateEstimatedResponseTime;',
        'Executable = "/bin/true"; Requirements = GlueCEStateFreeCPUs > 1;',
        'Executable = "/bin/true"; Requirements = "true";',
        'Executable = "/bin/true"; Executable = "/bin/false";',
    ],
)
def test_quick_fixes_leave_nothing_to_complain_about(text: str) -> None:
    before = check(text)
    assert before.diagnostics
    after = check(applied(text, before))
    assert after.diagnostics == ()


def test_missing_unreadable_and_large_files_are_told() -> None:
    text = 'Executable = "/bin/true"; InputSandbox = {"gone", "locked", "big"};'
    files = {"locked": FileFact(1, readable=False), "big": FileFact(11)}
    found = codes(text, files=files, limits=Limits(input_sandbox_max=10))
    assert found == {"sandbox-file-missing", "sandbox-file-unreadable", "sandbox-too-big"}


def test_files_are_not_asked_for_where_nobody_looked() -> None:
    assert codes('Executable = "run.sh"; InputSandbox = {"run.sh", "*.txt"};') == set()


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("90", 90.0),
        ('"90m"', 5400.0),
        ('"01:30:00"', 5400.0),
        ('"2-12:00"', 216000.0),
        ("1.5", 1.5),
        ('"2h"', 7200.0),
    ],
)
def test_wall_time_is_understood_in_the_usual_forms(written: str, seconds: float) -> None:
    job = check(f"{GOOD} WallTime = {written};").description
    assert job is not None
    assert job.wall_limit == seconds


def test_constant_expressions_count_as_values() -> None:
    job = check(
        'Executable = strcat("/bin/", "true"); JobType = "Parallel"; SubJobType = "plain"; NodeNumber = 2*3;'
    )
    assert job.description is not None
    assert (job.description.executable, job.description.cpus) == ("/bin/true", 6)


def test_unknown_attributes_are_kept() -> None:
    job = check(f"{GOOD} MyOwn = 42;").description
    assert job is not None
    assert job.ad.get("myown").value == 42


def test_remote_files_and_starters_are_needs() -> None:
    job = check(f'{GOOD} InputSandbox = {{"gsiftp://h/x", "file:///a/b"}}; JobStarter = "s";').description
    assert job is not None
    assert job.needs == ("job-starter", "transfer:gsiftp")
    assert job.input_sandbox == ("gsiftp://h/x", "/a/b")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x" * 2_000_000, "too-large"),
        ("a\x00b", "not-text"),
        ("a = \udcff;", "bad-encoding"),
        ("a = " + "(" * 10_000, "too-deep"),
        ("a = " + "-" * 10_000 + "1;", "too-deep"),
        ("[a = " * 10_000, "too-deep"),
        ("a = b" + ".c" * 10_000 + ";", "too-deep"),
        ("a = {" + "1," * 20_000 + "1};", "too-long-list"),
        ("a = 1;" * 60_000, "too-large"),
        ("a = 99999999999999999999;", "number-too-big"),
        ("/* " * 1000, "unterminated-comment"),
        ("@ = 1;\n" * 1000, "too-many-errors"),
        (
            'Type = "Collection"; OutputSandbox = {'
            + '"a",' * 9000
            + "}; Nodes = {"
            + '[Executable = "/x"],' * 20
            + "};",
            "too-much-inherited",
        ),
    ],
    ids=[
        "large",
        "nul",
        "surrogate",
        "parens",
        "signs",
        "ads",
        "links",
        "list",
        "words",
        "number",
        "comment",
        "many",
        "inherited",
    ],
)
def test_hostile_text_is_refused_with_a_reason(text: str, code: str) -> None:
    assert code in codes(text)
