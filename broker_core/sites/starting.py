"""Starting the Job Starter of an attempt on this machine."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from broker_core.jdl.names import wrong_address
from broker_core.launching.cached_program import CachedProgram
from broker_core.sites.contract import InputFile, LaunchOrder, SiteRefused
from broker_core.sites.local.settings import LocalSettings
from broker_core.system.priority import NICEST, group_gives_way
from broker_core.worker.agent_settings import IDLE, VARIABLE
from broker_core.worker.encoding import encode, encode_list
from broker_core.worker.script import (
    BLOCK,
    MARK,
    mpi_start_path,
    publish_path,
    software_path,
    starter_path,
    use_path,
)
from broker_core.worker.words import split_words

_INHERITED = ("HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
"""What a job gets of the broker's own environment; nothing else leaks into it."""
_RESET = (signal.SIGPIPE, signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGXFSZ)
_BEAT = 2
"""Seconds between two looks of a session's starter for its cancellation, which it ends without us too."""
MOST_FETCHED = 20_000_000_000
"""Bytes of one input file that is fetched by its address."""
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
"""Names of variables that launchers of MPI pass on."""
_MOST_VALUE = 131_000
"""Bytes that the kernel takes in one variable, a little less."""


@dataclass(frozen=True, slots=True)
class StarterSettings:
    """How the Job Starter is run at one site: what its variables say beside the launch order."""

    directory: str
    """Of the attempt, at the site; empty: known only where it runs."""
    program: Callable[[CachedProgram], str] | None = None
    """Path of a program that the site keeps; None: it keeps none."""
    file_limit: int = 0
    """Bytes that one file may have where the order does not say; 0: no limit."""
    kill_grace: int = 5
    """Seconds between asking to end and ending."""
    notice: str = ""
    """FIFO that hears of the start."""
    news: str = ""
    """Directory for news to a broker that looks in from afar."""
    beat: int = 0
    """Seconds between two signs of life; 0: none."""
    lease: int = 0
    """Seconds that the program may run without a change of `lease_file`; 0: for ever. Needs `beat`."""
    lease_file: str = ""
    most_output: int = 0
    """Bytes that come home, in one file and in all, of a job that names no outputs; 0: no limit."""
    stay: int = 0
    """Names that are listed of files that do not come home; 0: what stays is not told."""
    software_path: str = ""
    """Path of `software.sh` there, for those who ask for software."""
    mpi_path: str = ""
    """Path of `mpi_start.sh` there, for parallel jobs."""
    mpi_folders: Callable[[str], tuple[str, ...]] = lambda _: ()
    """Installations of a kind of MPI that the site may have beside those in PATH."""
    use_path: str = ""
    """Path of `use.sh` there; empty: what a job uses is not sampled, nor what it ran out of found out."""
    publish_path: str = ""
    """Folder there of what programs publish with; empty: they publish with their own means."""
    box: tuple[str, ...] = ()
    """The words of `box.sh` there, up to those that the starter knows; empty: the program is in no box."""
    stamp: Callable[[CachedProgram], str] = lambda _: ""
    """Inode, size and times of a program there while it is what it was; empty: its hash alone says so."""
    held: Callable[[InputFile], str] = lambda _: ""
    """Address (file://) of an input file that the site has and the starter copies; empty: it is in place."""
    environments: str = ""
    """Folder of the Python environments that jobs there share; empty: in the account's own cache."""


def starter_variables(order: LaunchOrder, at: StarterSettings) -> dict[str, str]:
    """Name to encoded value; empty values are left out. Raises SiteRefused for what no program can get."""
    try:
        found = _of_order(order, at) | _of_site(order, at)
    except ValueError as error:
        raise SiteRefused(str(error), place=order.attempt.job, remedy="Correct the description.") from error
    for name, value in found.items():
        if len(value) > _MOST_VALUE:
            raise SiteRefused(
                f"The variable {name} is too long: {len(value):,} bytes when encoded.",
                place=order.attempt.job,
                remedy="Put long values into a file of the input sandbox.",
            )
    return {name: value for name, value in found.items() if value}


def local_settings(directory: str, notice: Path, settings: LocalSettings, *, beat: bool) -> StarterSettings:
    """How the starter is run on this machine; `beat`: it looks for its cancellation itself."""
    return StarterSettings(
        directory=directory,
        file_limit=settings.file_limit,
        kill_grace=max(1, round(settings.kill_grace)),
        notice=str(notice),
        beat=_BEAT if beat else 0,
        software_path=str(software_path()),
        mpi_path=str(mpi_start_path()),
        mpi_folders=lambda kind: mpi_here(notice.parent, kind),
        use_path=str(use_path()),
        publish_path=str(publish_path()),
        environments=f"{notice.parent}/environments",
    )


def spawn(given: dict[str, str], directory: str, shell: str, nice: int = 0) -> int:
    """Start a starter in a session of its own, `nice` nicer than this; returns its pid. Raises OSError."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, f"{directory}/starter.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
    ]
    pid = os.posix_spawn(
        shell,
        [shell, _script()],
        _base() | given,
        file_actions=actions,
        setsid=True,
        setsigmask=[],
        setsigdef=_RESET,
    )
    if nice:
        group_gives_way(pid, min(os.nice(0) + nice, NICEST))
    return pid


def job_environment(order: LaunchOrder, job: str) -> dict[str, str]:
    """Environment of the program of a plain job, as the starter makes it; `job`: its directory."""
    base, publish = _base(), str(publish_path())
    own = {
        "CROSSDESK_SERVICES": f"{job}/.crossdesk-services",
        "CROSSDESK_PARAMETERS": f"{job}/.crossdesk-parameters",
        "CROSSDESK_DATA": f"{job}/.crossdesk-data",
        "CROSSDESK_PUBLISH": publish,
        "PATH": f"{base['PATH']}:{publish}",
        "PWD": job,
    }
    found = base | own | dict(order.environment) | {MARK: order.attempt.tag}
    modules = found.get("PYTHONPATH")
    return found | {"PYTHONPATH": f"{modules}:{publish}" if modules else publish}


def spawn_agent(order: LaunchOrder, job: str, settings: str) -> int:
    """Start an agent beside the running program of `order`, in its directory `job` and with its variables.

    It carries the mark of the attempt, and so ends with it. Returns its pid; raises OSError.
    """
    known = _base() | dict(order.environment) | {MARK: order.attempt.tag, VARIABLE: settings}
    words = [sys.executable, "-I", "-m", "broker_core.worker.start", IDLE]
    nothing = subprocess.DEVNULL
    child = subprocess.Popen(
        words, stdin=nothing, stdout=nothing, stderr=nothing, env=known, cwd=job, start_new_session=True
    )
    child.returncode = 0  # who watches its pid takes its status
    return child.pid


def _of_order(order: LaunchOrder, at: StarterSettings) -> dict[str, str]:
    """What the order says; raises ValueError for a zero byte, or a quote in Arguments that is not closed."""
    agents = [(order.agent, "", "")] if order.agent else []
    if at.program is not None:
        agents += [(at.program(one), one.sha256, at.stamp(one)) for one in order.agents]
    limit = order.wall_limit
    sources = [_source(at.held(file), executable=file.executable) for file in order.inputs]
    sources += [_source(file.url, executable=file.executable) for file in order.fetched]
    # The value of a sweep may have made it what was not checked.
    if wrong := next(filter(None, (wrong_address(file.url) for file in order.fetched)), ""):
        raise ValueError(wrong)
    return {
        "__jobid": order.attempt.job,
        "__attempt": order.attempt.tag,
        "__environment": encode_list(f"{name}={value}" for name, value in order.environment),
        "__input_file": encode_list(order.input_names),
        "__most_input": str(MOST_FETCHED // BLOCK) if order.fetched else "",
        "__input_source": encode_list(sources) if any(sources) else "",
        "__job": encode(order.executable),
        "__arguments": encode_list(split_words(order.arguments)),
        "__standard_input": encode(order.stdin),
        "__standard_output": encode(order.stdout),
        "__standard_error": encode(order.stderr),
        "__interactive": "1" if order.interactive else "0",
        "__interactive_agent": encode_list(path for path, _, _ in agents),
        "__agent_sums": encode_list(sha256 for _, sha256, _ in agents),
        "__agent_stamps": encode_list(stamp for _, _, stamp in agents),
        "__interactive_agent_args": encode_list(order.agent_arguments),
        "__nodes": "1",
        "__subjob_index": str(order.attempt.index),
        "__output_file": encode_list(order.outputs),
        "__wall_limit": f"{limit:.3f}".rstrip("0").rstrip(".") if limit is not None else "",
        MARK: order.attempt.tag,
    }


def _source(address: str, *, executable: bool) -> str:
    """Mode and address of an input file; empty for one that is in place."""
    return f"{700 if executable else 600} {address}" if address else ""


def _of_site(order: LaunchOrder, at: StarterSettings) -> dict[str, str]:
    """What the site says."""
    file_limit = order.file_limit or at.file_limit
    return {
        "__directory": encode(at.directory),
        "__kill_grace": str(at.kill_grace),
        "__file_limit": str(max(1, file_limit // BLOCK)) if file_limit else "",
        "__notice": at.notice,
        "__news": encode(at.news),
        "__beat": str(at.beat) if at.beat else "",
        "__lease": str(at.lease) if at.lease else "",
        "__lease_file": encode(at.lease_file) if at.lease else "",
        "__most_output": str(at.most_output) if at.most_output else "",
        "__stay": str(at.stay) if at.stay else "",
        "__software": _software(order, at),
        "__mpi": _mpi(order, at),
        "__box": encode_list(at.box),
        "__use": encode(at.use_path),
        "__publish": encode(at.publish_path),
    }


def _software(order: LaunchOrder, at: StarterSettings) -> str:
    """The words of `software.sh` up to those that the starter knows; empty where nothing is asked for."""
    return encode_list((at.software_path, at.environments, *order.software, "--")) if order.software else ""


def mpi_here(root: Path, kind: str) -> tuple[str, ...]:
    """Where this machine may have MPI beside PATH: below the site's directory, and beside this Python, where
    the extra `mpi` brings MPICH."""
    return f"{root}/mpi/{kind}", sys.prefix


def mpi_launchers(root: Path) -> list[str]:
    """The launchers of those installations that are there."""
    found = {f"{one}/bin/mpiexec" for kind in ("openmpi", "mpich") for one in mpi_here(root, kind)}
    return sorted(path for path in found if os.access(path, os.X_OK))


def _mpi(order: LaunchOrder, at: StarterSettings) -> str:
    """The words of `mpi_start.sh` up to those that the starter knows; empty for what is started once."""
    if not order.mpi:
        return ""
    names = " ".join(name for name, _ in order.environment if _PLAIN_NAME.fullmatch(name))
    folders = ":".join(at.mpi_folders(order.mpi))
    return encode_list((at.mpi_path, order.mpi, str(order.cpus), folders, names))


@cache
def _script() -> str:
    return str(starter_path())


@cache
def _base() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {"PATH": os.defpath, "LANG": "C.UTF-8"} | kept
