"""A machine on which the set-up scripts are tried."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.packaging.sources import ROOT

_PLAIN = (
    "sh",
    "id",
    "cut",
    "cksum",
    "dirname",
    "mkdir",
    "cat",
    "tail",
    "rm",
    "tr",
    "sort",
    "sed",
    "touch",
    "chmod",
)


class Machine:
    """A PATH that holds only what the test puts there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for name in _PLAIN:
            where = subprocess.run(
                ["sh", "-c", f"command -v {name}"], capture_output=True, text=True, check=True
            )
            (folder / name).symlink_to(where.stdout.strip())

    def put(self, name: str, script: str) -> None:
        path = self.folder / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def sh(self, commands: str, **environment: str) -> subprocess.CompletedProcess[str]:
        sources = "".join(f". '{ROOT}/packaging/{name}.sh'\n" for name in ("environment", "components"))
        text = f"ROOT='{ROOT}'\n{sources}{commands}\n"
        kept = {"HOME": os.environ["HOME"], "PATH": str(self.folder), **environment}
        return subprocess.run(["/bin/sh", "-c", text], capture_output=True, text=True, env=kept, check=False)
