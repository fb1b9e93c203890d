"""The wheel, installed into an empty environment and used from an unrelated folder."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
import zipfile
from pathlib import Path

import pytest

from broker_core.version import VERSION
from tests.packaging.agent_build import AGENT
from tests.packaging.sources import tracked
from tests.packaging.wheels import built, installed
from tests.running import end_all

pytestmark = pytest.mark.tools


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built without a network from a copy of the sources, in which the agent was built before."""
    agent = {f"build/agent/{AGENT}": AGENT.encode()}
    return built(tmp_path_factory.mktemp("wheel"), more=agent)


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with nothing but the wheel; its dependencies are borrowed from the running one.

    The borrowed folder comes by a .pth line behind the environment's own packages, and editable installs
    of the sources there are left out, since .pth files in a folder added so are not read.
    """
    place = installed(wheel, tmp_path_factory.mktemp("venv"), "--no-deps")
    site = next((place / "lib").glob("python3*")) / "site-packages"
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place


def test_the_wheel_holds_code_and_resources_but_no_tests(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info" not in name and ".data/" not in name}
    assert tops == {"app", "broker_core", "crossdesk_resources"}
    assert "crossdesk_resources/samples/neural-net/train.py" in names
    assert not [name for name in names if "__pycache__" in name]


def test_the_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        str(path).replace("resources/", "crossdesk_resources/", 1)
        if path.parts[0] == "resources"
        else str(path)
        for path in tracked()
        if path.parts[0] in ("app", "broker_core", "resources")
    }
    assert wanted - names == set()


def test_the_agent_that_was_built_comes_with_it_and_is_found(environment: Path, tmp_path: Path) -> None:
    words = (
        "from broker_core.interactive.sessions.agent_programs import agents; found = agents('');"
        "print(found.frozen, found.frozen.read_text(), found.missing, found.older)"
    )
    told = subprocess.run(
        [environment / "bin" / "python", "-c", words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == [str(environment / "share" / "crossdesk" / AGENT), AGENT]


def test_the_installed_program_tells_its_version(environment: Path, tmp_path: Path) -> None:
    told = _run(environment, tmp_path, "--version")
    assert told.stdout == f"crossdesk {VERSION}\n"


def test_the_installed_program_reads_its_own_resources(environment: Path, tmp_path: Path) -> None:
    told = _run(environment, tmp_path, "sample", "list", "--json")
    folders = [Path(one["folder"]) for one in json.loads(told.stdout)["samples"]]
    assert folders
    assert all(folder.is_relative_to(environment) for folder in folders)


def test_the_installed_program_runs_a_job_from_an_unrelated_folder(
    environment: Path, tmp_path: Path, state_dir: Path
) -> None:
    try:
        told = _run(environment, tmp_path, "sample", "run", "data-reduction", "--wait", "--json")
        assert told.returncode == 0, told.stdout + told.stderr
        job = json.loads(told.stdout)["id"]
        saved = _run(environment, tmp_path, "job", "get-output", job, "--dir", "out").stdout.strip()
        assert "harbour" in (tmp_path / saved / "summary.csv").read_text()
    finally:
        end_all(state_dir)


def _run(environment: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}
    program = [str(environment / "bin" / "crossdesk"), *words]
    return subprocess.run(
        program, cwd=folder, env=kept, capture_output=True, text=True, timeout=120, check=False
    )
