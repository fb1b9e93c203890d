"""A `sbatch` that is killed together with the exchange that runs it, for exactly one submission."""

from __future__ import annotations

import shutil
from pathlib import Path

_SCRIPT = """#!/bin/sh
# Whoever gets the order to cut cuts once.
if mv {folder}/cut {folder}/done 2>/dev/null; then
    read -r line </proc/$PPID/stat
    set_parent() {{ parent=$4; }}
    set_parent $line
    [ {moment} = before ] || [ {moment} = late ] || {sbatch} "$@"
    kill -s KILL "$parent" "$PPID"
    [ {moment} = late ] || exit 1
    until [ -e {folder}/go ]; do sleep 0.02; done
fi
exec {sbatch} "$@"
"""


def cutting_path(folder: Path, moment: str) -> str:
    """A PATH with that sbatch. `moment`: the shell dies `before` or `after` the real one runs.

    `late`: the shell dies before, but the real one still runs as soon as `folder/go` is there.
    """
    folder.mkdir()
    real = shutil.which("sbatch")
    program = folder / "sbatch"
    program.write_text(_SCRIPT.format(folder=folder, moment=moment, sbatch=real))
    program.chmod(0o755)
    (folder / "cut").touch()
    return f"{folder}:/usr/sbin:/usr/bin:/sbin:/bin"
