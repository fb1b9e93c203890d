"""Acceptance and refusal: one code for every kind, all at once."""

from __future__ import annotations

import pytest

from broker_core.jdl.check import Checked, FileFact, Limits, check
from broker_core.jdl.description import UserCommand
from tests.jdl.refusals import REFUSALS, WARNINGS

GOOD = 'Executable = "/bin/true";'
PARTS = 'JobType = "Parallel"; SubJobType = "mpich-g2"; Executable = "/x"; {} SubJobs = {{ {} }};'


def codes(text: str, **more: object) -> set[str]:
    return {item.code for item in check(text, **more).diagnostics}  # type: ignore[arg-type]


@pytest.mark.parametrize("text", REFUSALS, ids=range(len(REFUSALS)))
def test_each_kind_of_refusal_has_its_code(text: str) -> None:
    checked = check(text)
    assert checked.description is None
    assert REFUSALS[text] in {item.code for item in checked.errors}


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
        "Executable = \"/bin/cat\"; Arguments = \"-n 'in 1/a.txt'\"; InputSandbox = \"in 1/a.txt\";",
        'Executable = "/bin/cat"; Arguments = "in/a"; InputSandbox = "in/a"; InputSandboxDestFileName = "b";',
    ],
)
def test_quick_fixes_leave_nothing_to_complain_about(text: str) -> None:
    before = check(text)
    assert before.diagnostics
    after = check(applied(text, before))
    assert after.diagnostics == ()


@pytest.mark.parametrize(
    "argument", ["a.txt", "./a.txt", "/b/in/a.txt", "../in/a.txt", "other/a.txt", "in/b.txt"]
)
def test_other_paths_in_arguments_are_not_complained_about(argument: str) -> None:
    text = f'Executable = "/bin/cat"; Arguments = "{argument}"; InputSandbox = "/b/in/a.txt";'
    assert codes(text) == set()


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


def test_remote_files_are_needs() -> None:
    job = check(f'{GOOD} InputSandbox = {{"gsiftp://h/x", "file:///a/b"}};').description
    assert job is not None
    assert job.needs == ("transfer:gsiftp",)
    assert job.input_sandbox == ("gsiftp://h/x", "/a/b")


def test_what_the_starter_fetches_is_no_need_and_has_its_name_without_the_query() -> None:
    text = (
        'Executable = "run.sh"; InputSandboxBaseURI = "https://h/in";'
        'InputSandbox = {"https://h/in/run.sh?t=1", "b"};'
        'InputSandboxDestFileName = {"run.sh", "c"}; StdInput = "c";'
    )
    job = check(text).description
    assert job is not None
    assert (job.needs, job.renamed) == ((), (("b", "c"),))
    assert job.input_sandbox == ("https://h/in/run.sh?t=1", "https://h/in/b")


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


@pytest.mark.parametrize(
    ("dialect", "written", "brought"),
    [
        ("crossdesk", "", (".",)),
        ("crossdesk", "OutputSandbox = {};", ()),
        ("crossdesk", 'OutputSandbox = "a";', ("a",)),
        ("glite", "", ()),
    ],
)
def test_without_an_output_sandbox_all_comes_back_where_that_is_not_said_otherwise(
    dialect: str, written: str, brought: tuple[str, ...]
) -> None:
    made = check(f'[ Executable = "/bin/true"; {written} ]', limits=Limits(dialect=dialect)).description
    assert made is not None
    assert made.output_sandbox == brought




@pytest.mark.parametrize(
    ("part", "code", "fixes"),
    [
        ("[ NodeNumber = 2; Executable = \"/y\" ]", "sub-job-attribute", []),
        ("[ NodeNumber = 2; Requirement = true ]", "sub-job-attribute", ["Write Requirements"]),
        ("[ NodeNumber = 2; Rank = other.GlueCEStateEstimatedResponseTime ]", "rank-sign", ["Add a minus"]),
        ('[ NodeNumber = 2; Requirements = "true" ]', "quoted-expression", ["Remove the quotes"]),
    ],
)
def test_what_is_wrong_in_a_component_is_told_there(part: str, code: str, fixes: list[str]) -> None:
    text = PARTS.format("", f"[ NodeNumber = 1; Requirements = other.X == NodeNumber ], {part}")
    (found,) = check(text).diagnostics
    assert (found.code, [one.title for one in found.fixes]) == (code, fixes)
    assert text.index(part) <= found.start < found.end <= text.index(part) + len(part)


def test_what_the_job_says_is_not_told_again_for_each_component() -> None:
    rank = "Rank = other.GlueCEStateEstimatedResponseTime;"
    text = PARTS.format(rank, "[ NodeNumber = 1 ], [ NodeNumber = 2 ]")
    assert [one.code for one in check(text).diagnostics] == ["rank-sign"]


def test_a_wrong_sum_of_components_is_put_right_by_a_fix() -> None:
    text = PARTS.format("NodeNumber = 7;", "[ NodeNumber = 1 ], [ NodeNumber = 2 ]")
    (found,) = check(text).diagnostics
    (fix,) = found.fixes
    assert (found.code, text[fix.start : fix.end], fix.text) == ("sub-jobs-sum", "7", "3")


def test_a_starter_of_the_user_is_looked_at_like_a_program() -> None:
    text = f'{GOOD} InputSandbox = "s"; JobStarter = "s"; JobStarterArguments = "-n \'a b\'";'
    job = check(text).description
    assert job is not None
    assert (job.starter, job.needs) == (UserCommand("s", "-n 'a b'"), ())
    found = check(f'{GOOD} JobStarter = "dir/s"; JobStarterArguments = "\'";').diagnostics
    assert [one.code for one in found if one.severity == "error"] == [
        "executable-path",
        "arguments-unbalanced",
    ]
    over = check(f'{GOOD} JobType = "Parallel"; SubJobType = "mpich-g2"; NodeNumber = 2; JobStarter = "/s";')
    assert [one.code for one in over.diagnostics if one.severity == "error"] == ["starter-over-sites"]


def test_a_prologue_is_none_of_each_process() -> None:
    parallel = f'{GOOD} JobType = "Parallel"; SubJobType = "openmpi"; NodeNumber = 2; Prologue = "/p";'
    found = [one for one in check(parallel).diagnostics if one.severity == "error"]
    assert [one.code for one in found] == ["hook-of-processes"]
    assert "I2G_MPI_PRE_RUN_HOOK" in found[0].message
    job = check(f'{GOOD} Prologue = "/p"; PrologueArguments = "1"; Epilogue = "/e";').description
    assert job is not None
    assert (job.prologue, job.epilogue) == (UserCommand("/p", "1"), UserCommand("/e"))


@pytest.mark.parametrize(
    ("kind", "mpi"),
    [
        ("", ""),
        ('JobType = "Parallel"; SubJobType = "plain"; NodeNumber = 2;', "plain"),
        ('JobType = "Parallel"; SubJobType = "openmpi"; NodeNumber = 2;', "plain"),
    ],
)
def test_what_starts_the_processes_of_a_parallel_job_is_the_users_starter(kind: str, mpi: str) -> None:
    job = check(f'{GOOD} {kind} JobStarter = "/s";').description
    assert job is not None
    assert job.mpi == mpi
