"""Where the scripts for worker nodes are on this machine, and names that they share (CB-JS-03)."""

from __future__ import annotations

import hashlib
import io
import zipfile
from functools import cache
from importlib.resources import files
from pathlib import Path

BLOCK = 512
"""Bytes in a unit of `__file_limit`."""
MARK = "CROSSDESK_ATTEMPT"
"""Variable that every process of an attempt has in its environment, with the attempt's tag."""


@cache
def starter_path() -> Path:
    """Path of `job_starter.sh`; the package is installed as files, never run from an archive."""
    return Path(str(files(__package__).joinpath("job_starter.sh")))


def runner_path() -> Path:
    """Path of `batch_runner.sh`, which a batch system starts."""
    return starter_path().with_name("batch_runner.sh")


@cache
def software_path() -> Path:
    """Path of `software.sh`, which runs programs with modules, containers and Python environments."""
    return starter_path().parent / "scripts" / "software.sh"


@cache
def mpi_start_path() -> Path:
    """Path of `mpi_start.sh`, which starts the processes of parallel jobs."""
    return starter_path().parent / "scripts" / "mpi_start.sh"


def overlay_path() -> Path:
    """Path of `overlay.py`, which stands beside `mpi_start.sh` wherever that is."""
    return mpi_start_path().with_name("overlay.py")


def overlay_files() -> list[Path]:
    """What stands together wherever `overlay.py` is."""
    parts = ("link", "packets", "door", "streams")
    return [overlay_path(), *(overlay_path().with_name(f"overlay_{part}.py") for part in parts)]


@cache
def use_path() -> Path:
    """Path of `use.sh`, by which the Job Starter samples what a job uses."""
    return starter_path().parent / "scripts" / "use.sh"


@cache
def publish_path() -> Path:
    """Path of the folder with what programs publish with."""
    return starter_path().parent / "scripts" / "publish"


def publish_files() -> list[Path]:
    """What of it goes to sites."""
    names = ("crossdesk-publish", "crossdesk_parameters.h", "crossdesk_publish.h", "crossdesk_publish.py")
    return [publish_path() / name for name in names]


def glidein_path() -> Path:
    """Path of `glidein.sh`, which holds a processor and runs payloads in its slots."""
    return starter_path().parent / "scripts" / "glidein.sh"


def shipped_name(key: str, content: bytes) -> str:
    """Under which a site keeps what is shipped to it."""
    return f"{key}.{hashlib.sha256(content).hexdigest()[:12]}"


@cache
def own_name(key: str, path: Path) -> str:
    """As `shipped_name`, of one of the scripts here, which are not read again."""
    return shipped_name(key, path.read_bytes())


def box_path() -> Path:
    """Path of `box.sh`, which keeps the program of a slot in its directory."""
    return starter_path().parent / "scripts" / "box.sh"


def warm_start_path() -> Path:
    """Path of `warm_start.sh`, which has the warm agent of a glidein run a program."""
    return starter_path().parent / "scripts" / "warm_start.sh"


@cache
def boxing_archive() -> bytes:
    """An archive for Python: run, it makes boxes of Landlock for `box.sh`; `payloads` in it runs what a
    glidein has in its slot1. Equal sources give equal bytes."""
    worker, stream = starter_path().parent, io.BytesIO()
    start = "import runpy\nrunpy.run_module('broker_core.worker.boxing', run_name='__main__')\n"
    with zipfile.ZipFile(stream, "w") as archive:
        for name in ("broker_core", "broker_core/worker", "broker_core/worker/scripts"):
            archive.writestr(zipfile.ZipInfo(f"{name}/__init__.py"), "")
        folders = ("boxing", "scripts/payloads", "scripts/plain")
        for path in sorted(path for folder in folders for path in worker.glob(f"{folder}/*.py")):
            inside = f"broker_core/worker/{path.relative_to(worker).as_posix()}"
            archive.writestr(zipfile.ZipInfo(inside), path.read_bytes())
        archive.writestr(zipfile.ZipInfo("__main__.py"), start)
    return stream.getvalue()


def site_test_path() -> Path:
    """Path of `site_test.sh`, the test job of a site."""
    return starter_path().parent / "scripts" / "site_test.sh"


def line_agent_path() -> Path:
    """Path of `line_agent.sh`, the agent of interactive jobs where ours proper cannot run."""
    return starter_path().parent / "scripts" / "line_agent.sh"


@cache
def hand_over_text() -> str:
    """Text of `hand_over.sh`, which goes to a site with each exchange of attempts."""
    return (starter_path().parent / "scripts" / "hand_over.sh").read_text()
