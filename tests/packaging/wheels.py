"""Wheels of the project, built without a network from a copy of its sources, and installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

from tests.packaging.sources import ROOT, tracked


def built(base: Path, folder: str = ".", more: dict[str, bytes] | None = None) -> Path:
    """The wheel of a folder of the project, made in `base`; `more`: files that lie in the copy besides."""
    for path in tracked():
        (base / "source" / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, base / "source" / path)
    for name, content in (more or {}).items():
        (base / "source" / name).parent.mkdir(parents=True, exist_ok=True)
        (base / "source" / name).write_bytes(content)
    words = ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(base)]
    words.append(str(base / "source" / folder))
    told = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    [wheel] = base.glob("*.whl")
    return wheel


def installed(wheel: Path, place: Path, *words: str) -> Path:
    """A new environment with the wheel alone; `words` go to pip."""
    venv.create(place, with_pip=False, symlinks=True)
    pip = [sys.executable, "-m", "pip", "--python", str(place / "bin" / "python"), "install", "-q"]
    subprocess.run([*pip, *words, "--no-index", str(wheel)], check=True)
    return place
