"""The agent that brings its own interpreter: one file for x86-64 nodes with glibc 2.28 or newer."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import broker_core
from broker_core.interactive.sessions.agent_programs import agents
from broker_core.launching.overlay_library import NoOverlayLibrary, OverlayLibrary
from tests.interactive.drawing import GROUND, KEY
from tests.interactive.pair import Screen as Console
from tests.interactive.pair import bench
from tests.interactive.screens import BESIDE, program
from tests.interactive.video import DecodedScreen, near
from tests.packaging.agent_build import PARTS, AgentFiles
from tests.packaging.bare_root import AGENT, MOUNTED, bare_root, listing
from tests.packaging.sources import ROOT
from tests.waiting import eventually

pytestmark = pytest.mark.timeout(600)
_VERSION = re.compile(rb"GLIBC_(\d+)\.(\d+)(?:\.\d+)?\0")
_CHECK = "--check"


def checked(
    *words: object, env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> dict[str, object]:
    """What the file says of itself after it has loaded all of its parts."""
    told = subprocess.run([str(word) for word in words], env=env, cwd=cwd, capture_output=True, check=False)
    assert told.returncode == 0, told.stderr.decode()
    return json.loads(told.stdout)


def programs(file: Path) -> Iterator[tuple[str, bytes]]:
    """Every part of a file that the node's loader gets: its head, and extension modules."""
    with zipfile.ZipFile(file) as archive:
        yield file.name, file.read_bytes()[: min(one.header_offset for one in archive.infolist())]
        for name in archive.namelist():
            if name.endswith(".so"):
                yield name, archive.read(name)


def newest(content: bytes) -> tuple[int, int]:
    """The newest version of glibc that a program names."""
    return max(((int(major), int(minor)) for major, minor in _VERSION.findall(content)), default=(0, 0))


def test_no_part_names_a_version_of_glibc_above_2_28(agent_files: AgentFiles) -> None:
    parts = dict(programs(agent_files.agent))
    assert "video/libvpx.so" in parts
    assert "cryptography/hazmat/bindings/_rust.so" in parts
    assert {name: newest(content) for name, content in parts.items() if newest(content) > (2, 28)} == {}
    assert newest(parts[agent_files.agent.name]) > (2, 2), "versions are found where there are some"
    assert all(b"GLIBC_ABI_" not in content for content in parts.values())


def test_an_empty_environment_is_enough_and_nothing_is_left_anywhere(
    agent_files: AgentFiles, tmp_path: Path
) -> None:
    before = listing(agent_files.folder)
    said = checked(agent_files.agent, _CHECK, env={}, cwd=tmp_path)
    assert said["video"] == "VP9"
    assert "asyncssh" in said["parts"]
    assert listing(tmp_path) == []
    assert listing(agent_files.folder) == before


def test_variables_for_other_pythons_do_not_steer_it(agent_files: AgentFiles, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('the wrong module')\n")
    misleading = {"PYTHONPATH": str(tmp_path), "PYTHONHOME": str(tmp_path), "PYTHONSTARTUP": "/none"}
    assert checked(agent_files.agent, _CHECK, env=misleading, cwd=tmp_path)["python"]


@pytest.mark.root
def test_it_runs_without_python_home_proc_and_a_place_to_write_but_a_temporary_one(
    agent_files: AgentFiles, tmp_path: Path
) -> None:
    root = bare_root(tmp_path / "root", agent_files.agent)
    before = listing(root)
    script = 'mount --bind -o ro "$0" "$0" && mount -t tmpfs tmpfs "$0/tmp" && exec chroot "$0" "$@"'
    said = checked(*MOUNTED, script, root, AGENT, _CHECK, env={"TMPDIR": "/tmp", "PATH": os.environ["PATH"]})
    assert str(said["video"]).startswith("its libraries cannot be loaded"), "there is no libstdc++"
    assert listing(root) == before


@pytest.mark.root
async def test_a_session_where_there_is_nothing_but_glibc_and_a_shell(
    agent_files: AgentFiles, tmp_path: Path
) -> None:
    root = bare_root(tmp_path / "root", agent_files.agent)
    script = 'for one in dev proc; do mount --rbind /$one "$0/$one" || exit; done; exec chroot "$0" "$@"'
    inside = ("/bin/sh", "-c", 'cd /site/attempt/job && exec "$0" "$@"')
    (root / "site").mkdir()
    async with bench(root / "site") as made:
        before = listing(root / "tmp")
        await made.start_agent(
            ["/bin/sh", "-c", 'echo ready; while read line; do eval "$line"; done; exit 7'],
            within=(*MOUNTED, script, str(root), *inside),
            program=(AGENT,),
        )
        screen = Console(made.desk())
        await screen.shows(b"ready")
        await eventually(lambda: screen.session.status.writer)
        (root / AGENT.lstrip("/")).unlink()  # as sites do with programs that were not used for long
        screen.session.write(b"echo $((6 * 7)) of $TERM\n")
        await screen.shows(b"42 of xterm-256color")
        screen.session.write(b"\x04")
        await screen.ended()
        assert screen.session.status.exit_code == 7
        assert made.agent is not None
        assert await made.agent.wait() == 7
        assert listing(made.job.parent) == [str(made.job)]
        assert listing(root / "tmp") == before


@pytest.mark.display
async def test_the_file_alone_shows_a_virtual_screen(agent_files: AgentFiles, tmp_path: Path) -> None:
    async with bench(tmp_path) as made:
        await made.start_agent(program(30, side=380), screen=(640, 480), program=(str(agent_files.agent),))
        seen = DecodedScreen(made.desk(BESIDE).forwards.screen)
        await eventually(lambda: seen.frames > 5, what="video")
        await eventually(lambda: near(seen.color(300, 40), GROUND))
        await seen.takes_input()
        seen.tap(ord("k"))
        await seen.shows(KEY, ord("k"))


def test_the_same_inputs_give_the_same_bytes_wherever_they_are(
    agent_files: AgentFiles, tmp_path: Path
) -> None:
    again = AgentFiles(tmp_path / "elsewhere", agent_files.cache).build(agent_files.sources)
    assert again.agent.read_bytes() == agent_files.agent.read_bytes()
    assert again.library.read_bytes() == agent_files.library.read_bytes()


def test_the_library_for_nodes_without_namespaces_needs_glibc_2_17_alone(agent_files: AgentFiles) -> None:
    content = agent_files.library.read_bytes()
    assert (2, 2) < newest(content) <= (2, 17)
    needed = subprocess.run(["ldd", agent_files.library], capture_output=True, text=True, check=True).stdout
    assert [line.split()[0].rpartition("/")[2].partition(".")[0] for line in needed.splitlines()] == [
        *("linux-vdso", "libc", "ld-linux-x86-64"),
    ]


def test_the_broker_finds_the_library_that_was_built_and_says_how_where_there_is_none(
    agent_files: AgentFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker_core, "__file__", str(tmp_path / "broker_core" / "__init__.py"))
    with pytest.raises(NoOverlayLibrary, match=r"is missing at the broker\.") as missing:
        OverlayLibrary("").file()
    assert "sh packaging/agent.sh" in missing.value.remedy
    with pytest.raises(NoOverlayLibrary, match=r"broker\.toml names /nowhere/library, which is not there"):
        OverlayLibrary("/nowhere/library").file()
    built = tmp_path / "build" / "agent" / agent_files.library.name
    built.parent.mkdir(parents=True)
    shutil.copy2(agent_files.library, built)
    assert OverlayLibrary("").file().path == built


def test_the_file_knows_the_sources_that_it_was_made_of(
    agent_files: AgentFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PARTS:
        shutil.copytree(agent_files.sources / name, tmp_path / name)
    built = tmp_path / "build" / "agent" / agent_files.agent.name
    built.parent.mkdir(parents=True)
    shutil.copy2(agent_files.agent, built)
    monkeypatch.setattr(broker_core, "__file__", str(tmp_path / "broker_core" / "__init__.py"))
    assert (agents("").frozen, agents("").older) == (built, "")
    own = ("broker_core/interactive/channel/frames.py", "packaging/agent/launcher.c")
    for changed in (*own, "packaging/preload/overlay_preload.c"):
        was = (tmp_path / changed).read_bytes()
        (tmp_path / changed).write_bytes(was + b"\n")
        built.touch()
        assert "is older than its sources: run sh packaging/agent.sh" in agents("").older
        (tmp_path / changed).write_bytes(was)
    (tmp_path / "broker_core" / "broker" / "app.py").write_text("# no part of the agent\n")
    built.touch()
    assert agents("").older == ""


def test_it_is_built_where_it_is_needed_and_not_again_until_its_sources_change(
    agent_files: AgentFiles, tmp_path: Path
) -> None:
    for name in PARTS:
        shutil.copytree(agent_files.sources / name, tmp_path / name)
    built = tmp_path / "build" / "agent" / agent_files.agent.name
    built.parent.mkdir(parents=True)
    for file in (agent_files.agent, agent_files.library):
        shutil.copy2(file, built.parent)
    environment = os.environ | {"CROSSDESK_AGENT_CACHE": str(agent_files.cache), "CROSSDESK_VENV": sys.prefix}
    words, before = ["sh", str(tmp_path / "packaging" / "agent.sh"), "--if-needed"], built.stat().st_mtime_ns
    subprocess.run(words, env=environment, check=True)
    assert built.stat().st_mtime_ns == before
    (built.parent / agent_files.library.name).unlink()
    subprocess.run(words, env=environment, check=True)
    assert (built.parent / agent_files.library.name).read_bytes() == agent_files.library.read_bytes()
    changed = tmp_path / "broker_core" / "interactive" / "channel" / "frames.py"
    changed.write_text(changed.read_text() + "\n")
    subprocess.run(words, env=environment, check=True)
    assert built.stat().st_mtime_ns > before
    assert not (built.parent / "building").exists()


_CLOCK = """
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#define dlsym(handle, name) ((void *)0)
#include "newer_glibc.c"

int main(void) {
    sem_t lock;
    struct timespec until;
    sem_init(&lock, 0, 0);
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 20000000;
    if (until.tv_nsec >= SECOND) until.tv_nsec -= SECOND, until.tv_sec++;
    assert(sem_clockwait(&lock, CLOCK_MONOTONIC, &until) == -1 && errno == ETIMEDOUT);
    until.tv_sec -= 100;
    assert(sem_clockwait(&lock, CLOCK_MONOTONIC, &until) == -1 && errno == ETIMEDOUT);
    sem_post(&lock);
    assert(sem_clockwait(&lock, CLOCK_MONOTONIC, &until) == 0);
    until.tv_sec = 0x7fffffff;
    sem_post(&lock);
    assert(sem_clockwait(&lock, CLOCK_MONOTONIC, &until) == 0);
    return 0;
}
"""


def test_where_glibc_cannot_wait_by_any_clock_the_wall_clock_does(
    agent_files: AgentFiles, tmp_path: Path
) -> None:
    (tmp_path / "clock.c").write_text(_CLOCK)
    compiler = next(agent_files.cache.glob("wheels-*/ziglang/zig"))
    words = [
        compiler,
        "cc",
        "-target",
        "x86_64-linux-gnu.2.28",
        "-O2",
        "-fno-sanitize=all",
        f"-I{ROOT / 'packaging' / 'agent'}",
    ]
    where = {name: str(agent_files.cache / "zig") for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    subprocess.run([*words, "clock.c", "-o", "clock"], cwd=tmp_path, env={**os.environ, **where}, check=True)
    subprocess.run([tmp_path / "clock"], check=True)
