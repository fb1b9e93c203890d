"""Starts of the job starter in several shells."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from dataclasses import fields, replace
from pathlib import Path

from broker_core.jobs.placement import Component
from broker_core.sites.contract import LaunchOrder
from broker_core.sites.starting import StarterSettings, starter_variables
from broker_core.worker.markers import EndedMark, read_ended
from broker_core.worker.script import starter_path
from tests.running import processes_of

# The starter ends what wears the name of its attempt; tests beside this one have others.
JOB = (f"j{os.getpid()}", 1)
ATTEMPT = Component(*JOB).tag
SHELLS = [
    [path, *words]
    for name, words in (("dash", ()), ("bash", ()), ("busybox", ("sh",)))
    if (path := shutil.which(name))
]


def plain_order(program: str, *arguments: str) -> LaunchOrder:
    """An order with nothing but a program and its words."""
    return LaunchOrder(
        *(Component(*JOB), 1, program, shlex.join(arguments), (), "", "out", "err"), inputs=(), outputs=()
    )


def run(
    shell: list[str], directory: Path, program: str, *arguments: str, **more: object
) -> tuple[int, EndedMark]:
    """One run of the starter; its exit status and the marker."""
    directory.mkdir(exist_ok=True)
    made = plain_order(program, *arguments)
    known = {one.name for one in fields(LaunchOrder)}
    order = replace(made, **{name: value for name, value in more.items() if name in known})  # type: ignore[arg-type]
    other = {name: value for name, value in more.items() if name not in known}
    path = other.pop("path", os.environ["PATH"])
    inherited: dict[str, str] = other.pop("inherited", {})  # type: ignore[assignment]
    at = StarterSettings(str(directory), lambda one: one.name, **other)  # type: ignore[arg-type]
    given_ = inherited | starter_variables(order, at) | {"PATH": str(path), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [*shell, str(starter_path())], env=given_, check=False, start_new_session=True, timeout=120
    )
    mark = read_ended(directory)
    assert mark is not None
    assert not processes_of(directory)
    return done.returncode, mark
