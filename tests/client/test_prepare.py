from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from broker_core.client.prepare import prepare, prepare_now
from broker_core.client.sandbox import hashed
from broker_core.jdl.limits import Limits


def codes(prepared) -> list[str]:
    return [one.code for one in prepared.errors]


def described(folder: Path, sandbox: str) -> str:
    (folder / "run.sh").write_text("#!/bin/sh\n")
    return f'Executable = "run.sh"; InputSandbox = {{"run.sh", {sandbox}}};'


async def test_a_good_description_is_ready_with_its_files_hashed(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_bytes(b"abc")
    (tmp_path / "job.jdl").write_text(described(tmp_path, '"data.txt"'))
    ready = await prepare(tmp_path / "job.jdl")
    assert ready.ok
    data = next(one for one in ready.files if one.name == "data.txt")
    assert (data.sha256, data.size) == (hashlib.sha256(b"abc").hexdigest(), 3)


def test_the_program_of_the_job_is_executable_even_if_its_file_is_not(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("abc")
    ready = prepare_now(described(tmp_path, '"data.txt"'), tmp_path)
    assert {one.name: one.executable for one in ready.files} == {"run.sh": True, "data.txt": False}


def test_wildcards_stand_for_all_files_that_fit(tmp_path: Path) -> None:
    for name in ("a1.dat", "a2.dat", "b.dat"):
        (tmp_path / name).write_text(name)
    ready = prepare_now(described(tmp_path, '"a*.dat"'), tmp_path)
    assert [one.name for one in ready.files] == ["run.sh", "a1.dat", "a2.dat"]


def test_a_folder_with_wildcard_characters_in_its_own_name_is_no_pattern(tmp_path: Path) -> None:
    folder = tmp_path / "run [1]"
    folder.mkdir()
    (folder / "x.dat").write_text("x")
    ready = prepare_now(described(folder, '"*.dat"'), folder)
    assert [one.name for one in ready.files] == ["run.sh", "x.dat"]


@pytest.mark.parametrize(
    "name", ["with space.txt", "ünïcode.txt", "semi;colon.txt", "quote'.txt", "$HOME.txt"]
)
def test_files_with_odd_names_are_sent_as_they_are(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    ready = prepare_now(described(tmp_path, f'"{name}"'), tmp_path)
    assert [one.name for one in ready.files] == ["run.sh", name]


def test_a_missing_file_is_told_with_its_place(tmp_path: Path) -> None:
    ready = prepare_now("\n" + described(tmp_path, '"nothing.txt"'), tmp_path)
    assert codes(ready) == ["sandbox-file-missing"]
    assert ready.errors[0].line == 2
    assert ready.text[ready.errors[0].start : ready.errors[0].end] == '"nothing.txt"'


def test_a_folder_in_the_sandbox_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "stuff").mkdir()
    ready = prepare_now(described(tmp_path, '"stuff"'), tmp_path)
    assert codes(ready) == ["sandbox-file-unreadable"]
    assert "folder" in ready.errors[0].message


def test_a_pipe_in_the_sandbox_is_refused_without_reading_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    ready = prepare_now(described(tmp_path, '"pipe"'), tmp_path)
    assert codes(ready) == ["sandbox-file-unreadable"]


def test_equal_names_from_two_folders_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.txt").write_text(folder)
    assert codes(prepare_now(described(tmp_path, '"a/same.txt", "b/same.txt"'), tmp_path)) == [
        "duplicate-sandbox-name"
    ]


def test_equal_names_met_by_a_wildcard_are_refused(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.txt").write_text(folder)
    assert codes(prepare_now(described(tmp_path, '"*/same.txt"'), tmp_path)) == ["duplicate-sandbox-name"]


def test_a_sandbox_over_the_limit_is_refused_before_anything_is_hashed(tmp_path: Path) -> None:
    with (tmp_path / "huge.dat").open("wb") as stream:
        stream.truncate(10**12)
    ready = prepare_now(described(tmp_path, '"huge.dat"'), tmp_path)
    assert codes(ready) == ["sandbox-too-big"]
    assert ready.files == ()


def test_the_limit_of_the_broker_counts(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_bytes(b"x" * 2000)
    limits = Limits(input_sandbox_max=1000)
    assert codes(prepare_now(described(tmp_path, '"data.txt"'), tmp_path, limits=limits)) == [
        "sandbox-too-big"
    ]


def test_a_description_of_100_megabytes_is_refused_without_reading_it_all(tmp_path: Path) -> None:
    path = tmp_path / "huge.jdl"
    with path.open("wb") as stream:
        stream.truncate(100_000_000)
    assert codes(prepare_now(path)) == ["description-too-large"]


def test_a_binary_file_is_no_description(tmp_path: Path) -> None:
    path = tmp_path / "program.jdl"
    path.write_bytes(b"\x7fELF\xff\xfe\x00\x01")
    assert codes(prepare_now(path)) == ["description-not-text"]


def test_a_description_that_is_not_there_is_told(tmp_path: Path) -> None:
    ready = prepare_now(tmp_path / "none.jdl")
    assert codes(ready) == ["description-unreadable"]
    assert "no such file" in ready.errors[0].message


def test_a_refused_description_raises_with_all_its_errors(tmp_path: Path) -> None:
    ready = prepare_now(described(tmp_path, '"one.txt", "two.txt"'), tmp_path)
    assert len(ready.refused().diagnostics) == 2
    assert "2 errors" in str(ready.refused())


def test_progress_tells_bytes_and_total(tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_bytes(b"x" * 3_000_000)
    seen: list[tuple[int, int]] = []
    ready = prepare_now(described(tmp_path, '"data.txt"'), tmp_path, progress=lambda *step: seen.append(step))
    assert seen[-1] == (ready.size, ready.size)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_file_that_became_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no ordinary file"):
        hashed(tmp_path / "pipe")


def test_outputs_of_equal_names_in_two_folders_are_in_order(tmp_path: Path) -> None:
    text = 'Executable = "/bin/true"; OutputSandbox = {"a/*.csv", "b/*.csv", "a/x", "b/x"};'
    assert codes(prepare_now(text, tmp_path)) == []


@pytest.mark.parametrize(
    ("name", "content", "fixed"),
    [
        ("a b.py", "print(1)\n", 'Executable = "python3"; Arguments = "\'a b.py\' -x";'),
        ("plot.r", "plot(1)\n", 'Executable = "Rscript"; Arguments = "plot.r -x";'),
        (
            "dos.py",
            "#!/usr/bin/env python3\r\nprint(1)\r\n",
            'Executable = "python3"; Arguments = "dos.py -x";',
        ),
        ("own.py", "#!/usr/bin/env python3\nprint(1)\n", ""),
        ("plain.sh", "echo 1\n", ""),
        ("plain", "echo 1\n", ""),
    ],
)
def test_a_script_that_a_shell_would_read_as_its_own_is_told_with_what_runs_it(
    tmp_path: Path, name: str, content: str, fixed: str
) -> None:
    (tmp_path / name).write_bytes(content.encode())
    text = f'Executable = "{name}"; Arguments = "-x"; InputSandbox = "{name}";'
    found = [one for one in prepare_now(text, tmp_path).diagnostics if one.code == "no-interpreter-line"]
    assert len(found) == bool(fixed)
    for one in found:
        (fix,) = one.fixes
        assert (text[: fix.start] + fix.text + text[fix.end :]).startswith(fixed)
        assert prepare_now(text[: fix.start] + fix.text + text[fix.end :], tmp_path).ok
