"""The wheels of the plug-ins, installed as others would, found by the tools that they are for."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.packaging.sources import ROOT
from tests.packaging.wheels import built, installed

pytestmark = pytest.mark.tools


def _environment(base: Path, plugin: str) -> Path:
    """An environment with the wheel of a plug-in; the rest is borrowed from the running one."""
    wheel = built(base, f"packaging/plugins/{plugin}")
    place = installed(wheel, base / "venv", "--no-deps")
    site = next((place / "lib").glob("python3*")) / "site-packages"
    (site / "borrowed.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n")
    return place


def _told(place: Path, words: str) -> str:
    done = subprocess.run(
        [place / "bin" / "python", "-c", words],
        cwd=place,
        env={"PATH": os.environ["PATH"], "HOME": str(place)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_psij_finds_the_executor_of_an_installed_wheel(tmp_path: Path) -> None:
    place = _environment(tmp_path, "psij")
    words = (
        "import psij; made = psij.JobExecutor.get_instance('crossdesk');"
        "print(type(made).__name__, type(made).__module__);"
        "import crossdesk_psij; print(crossdesk_psij.__file__); made.close()"
    )
    name, file = _told(place, words).splitlines()
    assert name == "CrossDeskExecutor crossdesk_psij.executor"
    assert file.startswith(str(place))


def test_snakemake_would_find_the_executor_of_an_installed_wheel(tmp_path: Path) -> None:
    """Snakemake itself comes with its own tests (packaging/plugins); it goes by the names of modules."""
    place = _environment(tmp_path, "snakemake")
    words = (
        "import pkgutil, importlib.metadata as known;"
        "names = (one.name for one in pkgutil.iter_modules());"
        "print([name for name in names if name.startswith('snakemake_executor_plugin_')]);"
        "print(*known.requires('snakemake-executor-plugin-crossdesk'), sep='; ')"
    )
    modules, needs = _told(place, words).splitlines()
    assert modules == "['snakemake_executor_plugin_crossdesk']"
    assert needs.startswith("crossdesk; snakemake-interface-common>=1.17; ")
