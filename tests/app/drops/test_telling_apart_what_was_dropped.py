"""What a dropped file or text is taken for."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from broker_core.client.programs.file_kind import ItemKind, classify, looks_like_description
from broker_core.client.programs.path_facts import facts_of

ELF = b"\x7fELF\x02\x01\x01" + b"\0" * 64


def _file(folder: Path, name: str, content: bytes = b"", mode: int = 0o644) -> Path:
    path = folder / name
    path.write_bytes(content)
    path.chmod(mode)
    return path


def _kind(path: Path) -> tuple[ItemKind, str]:
    item = classify(facts_of(path))
    return item.kind, item.interpreter


@pytest.mark.parametrize(
    ("name", "content", "mode", "kind", "interpreter"),
    [
        ("job.jdl", b'Executable = "a";', 0o644, ItemKind.DESCRIPTION, ""),
        ("JOB.JDL", b"", 0o644, ItemKind.DESCRIPTION, ""),
        ("noname", b'Executable = "a";\nStdOutput = "o";\n', 0o644, ItemKind.DESCRIPTION, ""),
        ("a.out", ELF, 0o755, ItemKind.PROGRAM, ""),
        ("copied", ELF, 0o644, ItemKind.PROGRAM, ""),
        ("libm.so.6", ELF, 0o755, ItemKind.DATA, ""),
        ("run", b"#!/bin/sh\necho\n", 0o755, ItemKind.SCRIPT, ""),
        ("run", b"#!/bin/bash -e\necho\n", 0o644, ItemKind.SCRIPT, "/bin/bash -e"),
        ("run.py", b"#!/usr/bin/env python3\n", 0o644, ItemKind.SCRIPT, "python3"),
        ("dos.sh", b"#!/bin/sh\r\necho\r\n", 0o755, ItemKind.SCRIPT, "/bin/sh"),
        ("plain.py", b"print(1)\n", 0o644, ItemKind.SCRIPT, "python3"),
        ("plain.py", b"print(1)\n", 0o755, ItemKind.SCRIPT, "python3"),
        ("plain.sh", b"echo 1\n", 0o644, ItemKind.SCRIPT, "sh"),
        ("do-it", b"echo 1\n", 0o755, ItemKind.SCRIPT, "sh"),
        ("table.csv", b"a,b\n1,2\n", 0o755, ItemKind.DATA, ""),
        ("picture.py", b"\0\1\2", 0o644, ItemKind.DATA, ""),
        ("empty", b"", 0o644, ItemKind.DATA, ""),
    ],
)
def test_a_file_is_told_by_name_content_and_mode(
    tmp_path: Path, name: str, content: bytes, mode: int, kind: ItemKind, interpreter: str
) -> None:
    assert _kind(_file(tmp_path, name, content, mode)) == (kind, interpreter)


def test_a_binary_named_like_a_description_is_refused_with_the_reason(tmp_path: Path) -> None:
    item = classify(facts_of(_file(tmp_path, "x.jdl", ELF)))
    assert item.kind is ItemKind.UNUSABLE
    assert "binary" in item.why


def test_a_huge_description_is_refused_without_being_read(tmp_path: Path) -> None:
    path = _file(tmp_path, "huge.jdl", b'Executable = "a";\n')
    os.truncate(path, 100 << 20)
    item = classify(facts_of(path))
    assert item.kind is ItemKind.UNUSABLE


@pytest.mark.parametrize("name", ["-rf", "a b", "ü", "line\nbreak.sh", "..."])
def test_hostile_names_are_taken_as_they_are(tmp_path: Path, name: str) -> None:
    item = classify(facts_of(_file(tmp_path, name, b"#!/bin/sh\n", 0o755)))
    assert (item.kind, item.facts.path.name) == (ItemKind.SCRIPT, name)


def test_what_is_neither_file_nor_folder_is_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(tmp_path / "sock"))
    kinds = [_kind(path)[0] for path in (pipe, tmp_path / "sock", tmp_path / "gone", tmp_path)]
    listening.close()
    assert kinds == [ItemKind.UNUSABLE, ItemKind.UNUSABLE, ItemKind.UNUSABLE, ItemKind.FOLDER]


def test_an_impossible_name_is_refused() -> None:
    item = classify(facts_of(Path("/tmp/with\0zero")))
    assert item.kind is ItemKind.UNUSABLE


@pytest.mark.parametrize(
    "text",
    [
        'Executable = "a";',
        '[ Type = "DAG"; Nodes = [] ]',
        '// remark\n  jobtype = "Parallel";\n',
        "executable=x;",
    ],
)
def test_a_text_with_the_attributes_of_a_job_is_a_description(text: str) -> None:
    assert looks_like_description(text)


@pytest.mark.parametrize(
    "text",
    [
        "echo hello",
        "#!/bin/sh\nexecutable=1;\n",
        "Dear all,\nhello",
        "type == 3",
        '// Executable = "a";\n',
        "",
    ],
)
def test_other_text_is_none(text: str) -> None:
    assert not looks_like_description(text)
