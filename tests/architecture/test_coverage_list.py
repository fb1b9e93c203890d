"""The list of files that the tests cover in full, and what counts as that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.architecture.coverage_list import full, is_pure, listed, record
from tests.packaging.sources import ROOT


def test_the_list_names_files_of_pure_packages_each_once_in_order() -> None:
    paths = listed()
    assert paths == sorted(set(paths))
    assert [path for path in paths if not is_pure(path) or not (ROOT / path).is_file()] == []


def test_a_file_with_a_branch_that_was_never_taken_is_not_covered_in_full(tmp_path: Path) -> None:
    (tmp_path / "whole.py").write_text("def sign(x):\n    return -1 if x < 0 else 1\n\n\nsign(1)\n")
    (tmp_path / "half.py").write_text("import whole\n\nx = 1\nif whole.sign(x):\n    x = 2\nx = 3\n")
    data = tmp_path / "data"
    words = [
        sys.executable,
        "-m",
        "coverage",
        "run",
        "--branch",
        f"--data-file={data}",
        "--source=.",
        "half.py",
    ]
    subprocess.run(words, cwd=tmp_path, check=True)
    assert full(data, tmp_path) == {"whole.py"}


def test_recording_adds_and_never_takes_away(tmp_path: Path) -> None:
    file = tmp_path / "full_coverage.txt"
    file.write_text("b.py\n")
    record(["c.py", "a.py"], file)
    assert listed(file) == ["a.py", "b.py", "c.py"]
