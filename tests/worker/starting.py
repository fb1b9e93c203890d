"""Starts of the job starter in several shells."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from broker_core.worker.markers import EndedMark, read_ended
from broker_core.worker.script import starter_path
from broker_core.worker.variables import StarterOrder, variables
from tests.running import processes_of

# The starter ends what wears the name of its attempt; tests beside this one have others.
ATTEMPT = f"j{os.getpid()}.1"


SHELLS = [[path] for name in ("dash", "bash") if (path := shutil.which(name))]


def run(
    shell: list[str], directory: Path, program: str, *arguments: str, **more: object
) -> tuple[int, EndedMark]:
    """One run of the starter; its exit status and the marker."""
    directory.mkdir(exist_ok=True)
    fields: dict[str, object] = {
        "environment": (),
        "inputs": (),
        "outputs": (),
        "stdin": "",
        "stdout": "out",
        "stderr": "err",
    }
    order = StarterOrder("j", ATTEMPT, directory, program, arguments, **(fields | more))  # type: ignore[arg-type]
    given_ = variables(order) | {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    done = subprocess.run(
        [*shell, str(starter_path())], env=given_, check=False, start_new_session=True, timeout=120
    )
    mark = read_ended(directory)
    assert mark is not None
    assert not processes_of(directory)
    return done.returncode, mark
