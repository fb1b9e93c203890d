"""The Job Starter takes the best agent that the node can run, and tells the plain one why it is taken."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from broker_core.launching.cached_program import CachedProgram
from tests.worker.starting import SHELLS, run

FULL = "agent-x86_64-linux.0123"
NEWER = {"uname": "x86_64", "getconf": "glibc 2.28"}


@pytest.fixture(params=SHELLS, ids=lambda words: Path(words[0]).name)
def shell(request: pytest.FixtureRequest) -> list[str]:
    return list(request.param)


def node(folder: Path, monkeypatch: pytest.MonkeyPatch, **says: str) -> None:
    """Stands in for other machines: what this one says of its processor and its C library."""
    folder.mkdir()
    for name, words in says.items():
        (folder / name).write_text(f"#!/bin/sh\necho '{words}'\n")
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def agents(folder: Path) -> list[CachedProgram]:
    """Two agents that say who they are and what they lack, and start the program; with their hashes."""
    folder.mkdir()
    found = []
    for name in (FULL, "plain"):
        path = folder / name
        path.write_text(f'#!/bin/sh\necho "{name.partition("-")[0]}: $CROSSDESK_AGENT_LACKING"\nexec "$@"\n')
        path.chmod(0o700)
        found.append(CachedProgram(str(path), path, hashlib.sha256(path.read_bytes()).hexdigest()))
    return found


def taken(shell: list[str], tmp_path: Path, some: list[CachedProgram]) -> str:
    _, mark = run(shell, tmp_path / "d", "echo", "ran", interactive=True, agents=tuple(some))
    assert mark.failure == ""
    return (tmp_path / "d/job/out").read_text()


@pytest.mark.parametrize("libc", ["2.28", "2.29", "2.36", "2.101", "3.0"])
def test_the_best_agent_runs_where_it_can(
    shell: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, libc: str
) -> None:
    node(tmp_path / "bin", monkeypatch, uname="x86_64", getconf=f"glibc {libc}")
    assert taken(shell, tmp_path, agents(tmp_path / "programs")) == "agent: \nran\n"


@pytest.mark.parametrize(
    ("says", "lacking"),
    [
        ({"uname": "aarch64", "getconf": "glibc 2.36"}, "no x86-64 machine"),
        ({"uname": "x86_64", "getconf": "glibc 2.27"}, "no GNU C library of version 2.28"),
        ({"uname": "x86_64", "getconf": "glibc 2.5"}, "no GNU C library of version 2.28"),
        ({"uname": "x86_64", "getconf": ""}, "no GNU C library of version 2.28"),
    ],
)
def test_another_node_gets_the_plain_one(
    shell: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: dict[str, str], lacking: str
) -> None:
    node(tmp_path / "bin", monkeypatch, **says)
    assert lacking in taken(shell, tmp_path, agents(tmp_path / "programs")).splitlines()[0]


@pytest.mark.parametrize("damage", ["changed", "half", "gone", "forbidden"])
def test_a_damaged_agent_is_not_run(
    shell: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    node(tmp_path / "bin", monkeypatch, **NEWER)
    some = agents(tmp_path / "programs")
    path = some[0].path
    match damage:
        case "changed":
            path.write_text(path.read_text() + "\n")
        case "half":
            path.write_text(path.read_text()[:20])
        case "gone":
            path.unlink()
        case "forbidden":
            path.chmod(0o600)
    first = taken(shell, tmp_path, some).splitlines()[0]
    assert first.startswith("plain: its ")


def stamp(program: CachedProgram) -> str:
    found = program.path.stat()
    return f"{found.st_ino} {found.st_size} {int(found.st_mtime)} {int(found.st_ctime)}"


def test_an_agent_that_has_not_changed_since_it_was_looked_at_is_not_read_again(
    shell: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node(tmp_path / "bin", monkeypatch, sha256sum="nothing like it", **NEWER)
    some = tuple(agents(tmp_path / "programs"))
    for name, stamps, runs in (
        ("as it was", [stamp(one) for one in some], "agent: "),
        ("another one", [f"{stamp(some[0])}1", stamp(some[1])], "plain: its copy at the site is damaged"),
        ("not known", ["", stamp(some[1])], "plain: its copy at the site is damaged"),
    ):
        known = dict(zip(some, stamps, strict=True))
        directory = tmp_path / name
        _, mark = run(
            shell, directory, "echo", "ran", interactive=True, agents=some, stamp=known.__getitem__
        )
        assert mark.failure == "", name
        assert (directory / "job/out").read_text() == f"{runs}\nran\n", name


def test_without_any_the_job_ends_with_the_reason(
    shell: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node(tmp_path / "bin", monkeypatch, uname="aarch64", getconf="glibc 2.36")
    status, mark = run(
        shell, tmp_path / "d", "echo", interactive=True, agents=tuple(agents(tmp_path / "programs")[:1])
    )
    assert (status, mark.failure) == (222, "agent")
    assert "the node is no x86-64 machine" in mark.reason
