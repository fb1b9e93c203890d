"""What the command line says where no further process or thread can be had.

The child runs under a limit of one process. Root is exempt from that limit, so it becomes another user then.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command_line.calling import command
from tests.packaging.sources import ROOT

NOBODY = 65534
_OTHER_USER = f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups"
_MAY_READ = "--inh-caps=+dac_read_search --ambient-caps=+dac_read_search"
_AS_OTHER = f"{_OTHER_USER} {_MAY_READ}".split() if os.getuid() == 0 else []
"""Root becomes a user who may read everything (the interpreter may lie in root's folder), but do no more."""


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that the child may use whoever it is; those of pytest are closed to others."""
    made = Path(tempfile.mkdtemp(prefix="cd-"))
    if os.getuid() == 0:
        os.chown(made, NOBODY, NOBODY)
    yield made
    shutil.rmtree(made)


def _alone(words: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    """Run the program where it may have one process with one thread."""
    return subprocess.run(
        ["prlimit", "--nproc=1", *_AS_OTHER, *command(*words, "--state-dir", str(home / "state"))],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("words", [["job", "list"], ["broker", "start"]])
def test_a_full_process_table_is_told_in_words(words: list[str], home: Path) -> None:
    said = _alone(words, home)
    assert said.returncode == 1, said.stderr
    assert "no further process" in said.stderr
    assert "ulimit -u" in said.stderr
    assert "Traceback" not in said.stderr


def test_a_full_process_table_is_told_to_programs(home: Path) -> None:
    said = _alone(["site", "list", "--json"], home)
    assert (said.returncode, json.loads(said.stdout)["error"]["code"]) == (1, "no_process_left")
