"""`crossdesk job list` understands the desktop's queries, and shows what failed and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line.calling import crossdesk

SWEEP = """JobName = "scan"; Executable = "/bin/sh"; Arguments = "-c 'exit _PARAM_'";"""


@pytest.fixture
def sweep(broker: Path, tmp_path: Path) -> list[str]:
    """Ids of a batch of twelve jobs, of which the first four failed."""
    path = tmp_path / "sweep.jdl"
    path.write_text(SWEEP)
    given = [word for code in (*"3335", *"00000000") for word in ("--value", code)]
    return crossdesk("job", "submit", "--wait", str(path), *given).out.split()


def _found(*words: str) -> set[str]:
    return {row["id"] for row in crossdesk("job", "list", "--json", *words).json["jobs"]}


def test_a_query_is_that_of_the_desktop(sweep: list[str]) -> None:
    assert _found("state:failed", "name:sc*", "failed:today") == set(sweep[:4])
    assert _found("state:failed exit:3") == set(sweep[:3])
    assert _found("-state:done") == set(sweep[:4])
    assert _found("param:0", "exit:0") == set(sweep[4:])
    assert _found("name:the scan", "state:failed") == set()
    assert crossdesk("job", "list", "exit:5", "--json").json["total"] == 1


def test_lists_tell_failures_with_their_values_and_reasons(sweep: list[str]) -> None:
    said = crossdesk("job", "list")
    assert "12 jobs, none of them active" in said.err
    assert "4 failed; `crossdesk job list state:failed` shows them." in said.err
    (line,) = crossdesk("job", "list", "name:scan").out.splitlines()[1:]
    assert " scan  12 jobs: 4 Failed, 8 Done" in line
    assert line.endswith("exit 3 (3), exit 5 (1)")
    failed = crossdesk("job", "list", "state:failed")
    assert failed.out.count("scan (3)") == 3
    assert "4 of 12 jobs." in failed.err


def test_wrong_parts_of_a_query_are_marked(broker: Path) -> None:
    said = crossdesk("job", "list", "stat:failed", "name:x", "runtime:foo")
    assert said.code == 1
    assert "There is no field 'stat'." in said.err
    assert "'foo' is no duration." in said.err
    text, marks = said.err.splitlines()[-2:]
    marked = "".join(char for char, mark in zip(text, marks, strict=False) if mark == "^")
    assert marked == "stat:failedruntime:foo"
    refused = crossdesk("job", "list", "--json", "stat:failed").json["error"]
    assert (refused["code"], refused["place"]) == ("unclear_query", "stat:failed")


def test_a_mixed_batch_is_named_by_its_jobs(broker: Path, tmp_path: Path) -> None:
    names = [f"{word}.jdl" for word in ("align", "plot", "sum")]
    for name in names:
        (tmp_path / name).write_text(f'JobName = "{name[:-4]}"; Executable = "/bin/true";')
    assert crossdesk("job", "submit", "--hold", "look", *(names * 4), cwd=tmp_path).code == 0
    assert "align, plot, …" in crossdesk("job", "list", PYTHONIOENCODING="utf-8").out
