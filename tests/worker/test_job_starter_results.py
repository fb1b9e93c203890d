"""What the Job Starter lists of a job's files under each shell: what is to come home, and what stays."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from broker_core.sites.contract import InputFile
from broker_core.sites.left_files import LeftAtSite, LeftFile
from broker_core.sites.remote.stage_out import read_left, read_outputs
from tests.worker.starting import SHELLS, run

_BUSYBOX = shutil.which("busybox")
ALL_SHELLS = [*SHELLS, *([[_BUSYBOX, "sh"]] if _BUSYBOX and [_BUSYBOX, "sh"] not in SHELLS else [])]


@pytest.fixture(params=ALL_SHELLS, ids=lambda words: Path(words[0]).name)
def shell(request: pytest.FixtureRequest) -> list[str]:
    return list(request.param)


def _told(folder: Path) -> tuple[set[str], LeftAtSite]:
    """Names of what is to come home, and what stays."""
    raw = (folder / "outputs").read_bytes()
    return set(read_outputs(raw)), read_left(raw)


def test_what_is_too_large_stays_and_is_told_with_its_size(shell: list[str], tmp_path: Path) -> None:
    made = "head -c 900 /dev/zero >large; mkdir d; head -c 50 /dev/zero >'d/a b'; head -c 300 /dev/zero"
    _, mark = run(shell, tmp_path / "d", "sh", "-c", made, outputs=["."], most_output=100, stay=5)
    assert mark.missing == ()
    assert _told(tmp_path / "d") == ({"d/a b", "out", "err"}, LeftAtSite((LeftFile("large", 900),)))


def test_all_together_are_bound_by_the_same_limit(shell: list[str], tmp_path: Path) -> None:
    made = "for n in 1 2 3 4; do head -c 40 /dev/zero >$n; done"
    run(shell, tmp_path / "d", "sh", "-c", made, outputs=["."], most_output=100, stay=1)
    home, left = _told(tmp_path / "d")
    assert len(home - {"out", "err"}) == 2
    assert [one.size for one in left.files] == [40]
    assert (left.more, left.more_bytes) == (1, 40)


def test_where_outputs_are_named_all_others_stay_whatever_they_are_called(
    shell: list[str], tmp_path: Path
) -> None:
    (tmp_path / "d/job").mkdir(parents=True)
    (tmp_path / "d/job/in[1]").write_text("sent")
    line, strange = "a\nstay 1 b\\n", "../x"
    made = """
        mkdir -p kept/deep sub; echo 1 >kept/deep/x; echo 1 >r.csv; echo 22 >sub/r.csv; echo 3 >in1
        ln -s in1 link; mkfifo f; echo 44 >"$1"; echo 5 >"$(printf '\\001\\033[1m')"
        (cd sub && echo 6 >.hidden); echo 7 >"$2"
    """
    words = (made, "sh", line, "x" * 255)
    sent = [InputFile("in[1]", Path("in[1]"), False)]
    names = ["kept", "*.csv", "out", "err"]
    run(shell, tmp_path / "d", "sh", "-c", *words, outputs=names, inputs=sent, stay=20)
    home, left = _told(tmp_path / "d")
    assert home == {"kept/deep/x", "r.csv", "out", "err"}
    assert strange not in home
    assert {one.path: one.size for one in left.files} == {
        "sub/r.csv": 3, "in1": 2, line: 3, "\001\033[1m": 2, "sub/.hidden": 2, "x" * 255: 2,
    }  # fmt: skip
    assert left.more == 0


def test_of_very_many_that_stay_the_rest_is_counted(shell: list[str], tmp_path: Path) -> None:
    made = "n=0; while [ $n -lt 3000 ]; do echo 1 >file-of-a-long-name-that-fills-the-words-of-a-process-$n; "
    made += "n=$((n + 1)); done"
    run(shell, tmp_path / "d", "sh", "-c", made, outputs=["out"], stay=100)
    _, left = _told(tmp_path / "d")
    assert (len(left.files), left.more, left.more_bytes) == (100, 2900, 5800)


def test_a_job_that_names_no_outputs_costs_no_more_processes_than_before(
    shell: list[str], tmp_path: Path
) -> None:
    counted = tmp_path / "counted"
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("find", "sha256sum", "stat", "xargs", "cat", "rm", "sed", "wc"):
        (tools / name).write_text(f'#!/bin/sh\necho {name} >>{counted}\nexec {shutil.which(name)} "$@"\n')
        (tools / name).chmod(0o755)
    path = f"{tools}:{os.environ['PATH']}"
    environment = (("PATH", os.environ["PATH"]),)
    more: dict[str, object] = {"environment": environment, "path": path}
    run(shell, tmp_path / "d", "sh", "-c", "echo 1 >a", outputs=["."], most_output=100, stay=5, **more)
    assert sorted(counted.read_text().split()) == ["find", "rm", "sha256sum", "stat"]
