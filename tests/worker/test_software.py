"""Modules, containers and Python environments at a site: the job's program as software.sh starts it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from broker_core.jdl.description import Software
from broker_core.worker.markers import EndedMark
from broker_core.worker.script import software_path
from tests.testbed.registry import Registry
from tests.testbed.software import image, module_system, stand_in, wheel
from tests.worker.starting import SHELLS, run

pytestmark = pytest.mark.software
Variables = dict[str, str]
UV = Path(sys.prefix) / "bin" / "uv"
PYLOCK = """\
lock-version = "1.0"
created-by = "test"
[[packages]]
name = "demo"
version = "2.0"
[[packages.wheels]]
name = "demo-2.0-py3-none-any.whl"
url = "{url}"
hashes = {{ sha256 = "{digest}" }}
"""


@pytest.fixture(scope="module", params=["environment-modules", "lmod"])
def modules(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Variables:
    return module_system(request.param, tmp_path_factory.mktemp("modules"))


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with Registry(tmp_path_factory.mktemp("registry") / "own") as made:
        yield made


@pytest.fixture(params=SHELLS, ids=lambda words: Path(words[0]).name)
def shell(request: pytest.FixtureRequest) -> list[str]:
    return list(request.param)


def provided(
    directory: Path, software: Software, program: str, *words: str, **more: object
) -> tuple[int, EndedMark]:
    """One run with software; Python environments are shared by all runs below one folder."""
    given = {
        "shell": SHELLS[0],
        "software": software.words,
        "software_path": str(software_path()),
        "environments": str(directory.parent / "environments"),
    } | more
    return run(given.pop("shell"), directory, program, *words, **given)  # type: ignore[arg-type]


def out(directory: Path) -> str:
    return (directory / "job/out").read_text()


def test_modules_are_loaded_in_their_order_before_the_program_is_looked_for(
    modules: Variables, shell: list[str], tmp_path: Path
) -> None:
    wanted = Software(modules=("gcc/12", "demo"))
    code, mark = provided(tmp_path / "d", wanted, "greet", shell=shell, environment=tuple(modules.items()))
    assert (code, mark.failure) == (0, "")
    assert out(tmp_path / "d") == "gcc 12, demo 1\n"
    assert sorted(one.name for one in (tmp_path / "d/job").iterdir()) == ["err", "out"]


def test_a_module_that_is_not_there_is_the_reason_and_no_exit_code(
    modules: Variables, shell: list[str], tmp_path: Path
) -> None:
    wanted = Software(modules=("gcc/14", "gcc/99"))
    code, mark = provided(tmp_path / "d", wanted, "greet", shell=shell, environment=tuple(modules.items()))
    assert (code, mark.failure, mark.exit_code) == (229, "software", None)
    assert mark.reason.startswith("The module gcc/99 cannot be loaded: ")
    assert mark.reason in (tmp_path / "d/job/err").read_text()
    assert out(tmp_path / "d") == ""


def test_a_node_without_modules_says_so(tmp_path: Path) -> None:
    given = (("MODULESHOME", str(tmp_path)), ("PATH", os.environ["PATH"]))
    _, mark = provided(tmp_path / "d", Software(modules=("gcc/14",)), "true", environment=given)
    assert mark.reason == "There are no environment modules on this node, so gcc/14 cannot be loaded."


def test_a_program_that_no_module_brings_is_told(modules: Variables, tmp_path: Path) -> None:
    wanted = Software(modules=("gcc/14",))
    _, mark = provided(tmp_path / "d", wanted, "nothing", environment=tuple(modules.items()))
    assert (mark.failure, mark.exit_code) == ("software", None)
    assert mark.reason == "There is no program nothing at this site, with this software either."


def test_charliecloud_runs_the_program_in_the_image_with_the_jobs_directory(
    shell: list[str], tmp_path: Path
) -> None:
    wanted = Software(container=str(image(tmp_path / "image")))
    script = "cat given; ls /; echo made >result; exit 5"
    (tmp_path / "d/job").mkdir(parents=True)
    (tmp_path / "d/job/given").write_text("given\n")
    code, mark = provided(tmp_path / "d", wanted, "sh", "-c", script, shell=shell)
    assert (code, mark.exit_code, mark.failure) == (5, 5, "")
    assert out(tmp_path / "d").split()[:2] == ["given", "bin"]
    assert (tmp_path / "d/job/result").read_text() == "made\n"


def _by_address(registry: Registry) -> Variables:
    """Debian's ch-image runs with Debian's Python, and its account trusts the registry."""
    return {"PATH": f"/usr/bin:/bin:{os.environ['PATH']}", "REQUESTS_CA_BUNDLE": str(registry.authority)}


def test_an_image_by_address_is_fetched_once_for_jobs_that_come_together(
    registry: Registry, shell: list[str], tmp_path: Path
) -> None:
    made = image(tmp_path / "image")
    (made / "etc/version").write_text("1\n")
    wanted = Software(container=registry.push(made, f"my-lab/{tmp_path.name.lower()}:1"))
    given = tuple(_by_address(registry).items())

    def one(folder: Path) -> tuple[int, EndedMark]:
        words = ("sh", "-c", "cat /etc/version; echo made >result")
        return provided(folder, wanted, *words, shell=shell, environment=given)

    folders = [tmp_path / str(number) for number in range(3)]
    with ThreadPoolExecutor() as pool:
        assert [(code, mark.reason) for code, mark in pool.map(one, folders)] == [(0, "")] * 3
    assert [out(folder) for folder in folders] == ["1\n"] * 3
    assert [(folder / "job/result").read_text() for folder in folders] == ["made\n"] * 3
    told = "".join((folder / "job/err").read_text() for folder in folders)
    assert told.count("CrossDesk: fetching the container image localhost:") == 1
    assert not list((tmp_path / "environments").glob("*.storage"))


def test_an_image_is_asked_for_again_the_next_day_and_one_that_is_used_stays(
    registry: Registry, tmp_path: Path
) -> None:
    made = image(tmp_path / "image")
    given = tuple(_by_address(registry).items())
    seen = []
    for day in range(4):
        if day % 2 == 0:
            (made / "etc/version").write_text(f"{day // 2}\n")
            wanted = Software(container=registry.push(made, "my-lab/daily:latest"))
        _, mark = provided(tmp_path / f"d{day}", wanted, "cat", "/etc/version", environment=given)
        seen.append((out(tmp_path / f"d{day}"), mark.reason))
        for asked in (tmp_path / "environments").glob("*.image"):
            os.utime(asked, (0, time.time() - (0 if day == 1 else 90_000)))
    # What was fetched today is not asked for again.
    assert seen == [("0\n", ""), ("0\n", ""), ("0\n", ""), ("1\n", "")]
    assert len(list((tmp_path / "environments").glob("*/.complete"))) == 2


def test_an_image_that_cannot_be_fetched_is_the_reason(registry: Registry, tmp_path: Path) -> None:
    address = registry.push(image(tmp_path / "image"), "my-lab/other:1").replace("other:1", "none:1")
    given = tuple(_by_address(registry).items())
    code, mark = provided(tmp_path / "d", Software(container=address), "sh", environment=given)
    assert (code, mark.failure) == (229, "software")
    name = address.removeprefix("docker://")
    reason = f"The container image {name} cannot be fetched: unauthorized or not in registry: {name}."
    assert mark.reason == reason
    assert not [one for one in (tmp_path / "environments").iterdir() if one.is_dir()]


def test_an_image_of_the_sandbox_is_unpacked_beside_the_job_and_goes_with_it(tmp_path: Path) -> None:
    image(tmp_path / "image")
    (tmp_path / "d/job").mkdir(parents=True)
    subprocess.run(["tar", "-C", tmp_path / "image", "-cf", tmp_path / "d/job/image.tar", "."], check=True)
    code, _ = provided(tmp_path / "d", Software(container="image.tar"), "/bin/ls", "/")
    assert (code, "mnt" in out(tmp_path / "d").split()) == (0, True)
    assert not (tmp_path / "d/image").exists()


@pytest.mark.parametrize(
    ("make", "program", "reason"),
    [
        (lambda path: None, "sh", "The container image {path} is not at this site, or cannot be read."),
        (lambda path: path.write_text("no image"), "sh", "The container {path} cannot be started: ch-run"),
        (image, "python3", "There is no program python3 in the container."),
    ],
    ids=["missing", "broken", "without the program"],
)
def test_a_container_that_cannot_be_used_is_the_reason(
    make: Callable[[Path], object], program: str, reason: str, tmp_path: Path
) -> None:
    make(tmp_path / "image")
    code, mark = provided(tmp_path / "d", Software(container=str(tmp_path / "image")), program)
    assert (code, mark.failure, mark.exit_code) == (229, "software", None)
    assert mark.reason.startswith(reason.format(path=tmp_path / "image"))


def test_apptainer_is_given_the_jobs_directory_and_the_gpus_of_the_host(tmp_path: Path) -> None:
    """Apptainer and nvidia-smi cannot be had here: stand-ins, which show what the first is called with."""
    programs = stand_in(tmp_path / "bin", "apptainer", 'printf "%s\\n" "$@"; : >.crossdesk-software')
    stand_in(programs, "nvidia-smi", "exit 0")
    path = f"{programs}:{os.environ['PATH']}"
    code, _ = provided(tmp_path / "d", Software(container="docker://debian:12"), "train", "-x", path=path)
    job = str(tmp_path / "d/job")
    words = out(tmp_path / "d").split("\n")
    assert code == 0
    assert words[:8] == ["exec", "--bind", job, "--pwd", job, "--nv", "docker://debian:12", "/bin/sh"]
    assert words[-4:] == ["sh", "train", "-x", ""]


def requirements(directory: Path, wheels: Path, wanted: str = "demo==1.0") -> Path:
    """A job's directory with a requirements.txt that needs no network."""
    (directory / "job").mkdir(parents=True)
    (directory / "job/requirements.txt").write_text(f"--no-index\n--find-links {wheels}\n{wanted}\n")
    return directory


@pytest.fixture(params=["uv", "venv"])
def builder(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """What builds environments at the site, and PATH there."""
    folders = [one for one in os.environ["PATH"].split(":") if not (Path(one) / "uv").exists()]
    if request.param == "uv":
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin/uv").symlink_to(UV)
        folders.insert(0, str(tmp_path / "bin"))
    return request.param, ":".join(folders)


def test_a_python_environment_is_built_once_for_jobs_that_come_together(
    builder: tuple[str, str], tmp_path: Path
) -> None:
    tool, path = builder
    wheel(tmp_path / "wheels", "demo", "1.0")
    wanted = Software(python="requirements.txt")
    folders = [requirements(tmp_path / str(number), tmp_path / "wheels") for number in range(3)]
    words = ("python3", "-c", "import demo, sys; print(demo.version, sys.prefix)")
    with ThreadPoolExecutor() as pool:
        runs = pool.map(lambda one: provided(one, wanted, *words, path=path), folders)
    assert [(code, mark.failure) for code, mark in runs] == [(0, "")] * 3
    (made,) = (one for one in (tmp_path / "environments").iterdir() if one.is_dir())
    assert [out(one) for one in folders] == [f"1.0 {made}\n"] * 3
    told = "".join((one / "job/err").read_text() for one in folders)
    assert told.count(f"CrossDesk: building the Python environment of requirements.txt with {tool};") == 1
    assert told.count({"uv": "+ demo==1.0", "venv": "Successfully installed demo-1.0"}[tool]) == 1


def test_a_lock_of_packages_is_built_by_uv(tmp_path: Path) -> None:
    made = wheel(tmp_path / "wheels", "demo", "2.0")
    (tmp_path / "d/job").mkdir(parents=True)
    digest = hashlib.sha256(made.read_bytes()).hexdigest()
    (tmp_path / "d/job/pylock.toml").write_text(PYLOCK.format(url=made.as_uri(), digest=digest))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/uv").symlink_to(UV)
    path = f"{tmp_path}/bin:{os.environ['PATH']}"
    words = ("python3", "-c", "import demo; print(demo.version)")
    _, mark = provided(tmp_path / "d", Software(python="pylock.toml"), *words, path=path)
    assert (mark.failure, out(tmp_path / "d")) == ("", "2.0\n"), mark.reason


def test_packages_that_cannot_be_had_are_the_reason_and_nothing_half_made_stays(
    builder: tuple[str, str], tmp_path: Path
) -> None:
    tool, path = builder
    folder = requirements(tmp_path / "d", tmp_path, "no-such-package")
    code, mark = provided(folder, Software(python="requirements.txt"), "python3", path=path)
    assert (code, mark.failure) == (229, "software")
    assert mark.reason.startswith("The Python environment of requirements.txt cannot be built: ")
    assert "no-such-package" in mark.reason, (tool, mark.reason, (folder / "job/err").read_text())
    assert not [one for one in (tmp_path / "environments").iterdir() if one.is_dir()]


def test_an_environment_that_was_cut_off_is_built_anew_and_old_ones_go(
    builder: tuple[str, str], tmp_path: Path
) -> None:
    tool, path = builder
    wheel(tmp_path / "wheels", "demo", "1.0")
    wanted = Software(python="requirements.txt")
    provided(requirements(tmp_path / "a", tmp_path / "wheels"), wanted, "true", path=path)
    (made,) = (one for one in (tmp_path / "environments").iterdir() if one.is_dir())
    (made / ".complete").unlink()
    (made / "half").touch()
    old = tmp_path / "environments/old"
    old.mkdir()
    (old / ".used").touch()
    os.utime(old / ".used", (0, 0))
    provided(requirements(tmp_path / "b", tmp_path / "wheels"), wanted, "true", path=path)
    assert (made / ".complete").exists()
    assert not (made / "half").exists()
    assert not old.exists()
    assert (
        f"building the Python environment of requirements.txt with {tool};"
        in (tmp_path / "b/job/err").read_text()
    )


def test_a_file_of_conda_is_given_to_conda(tmp_path: Path) -> None:
    """conda cannot be had here: a stand-in, which makes the folder that is asked for."""
    script = 'mkdir -p "$5/bin"; printf "#!/bin/sh\\necho in conda\\n" >"$5/bin/tool"; chmod +x "$5/bin/tool"'
    path = f"{stand_in(tmp_path / 'bin', 'conda', script)}:{os.environ['PATH']}"
    (tmp_path / "d/job").mkdir(parents=True)
    (tmp_path / "d/job/env.yml").write_text("dependencies: [tool]\n")
    code, _ = provided(tmp_path / "d", Software(python="env.yml"), "tool", path=path)
    assert (code, out(tmp_path / "d")) == (0, "in conda\n")
