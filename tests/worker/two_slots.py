"""A node with two slots in boxes, and what runs commands in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from broker_core.worker.script import box_path, boxing_archive

NOBODY = 65534
PATH = "/usr/bin:/bin"
ACCOUNT = (
    ["/usr/bin/setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    if os.getuid() == 0
    else []
)
"""What comes before the words of a command that is to run as an ordinary account."""


@dataclass(frozen=True)
class NodeOfTwoSlots:
    """A directory with the programs, that of the agent, and those of slots a and b, all of one account."""

    root: Path

    def find(self, *kinds: str, path: str = PATH, **more: str) -> str:
        """What box can be made, and is made from now on. `more`: variables of the glidein."""
        programs = self.root / "programs"
        file = programs / "found"
        words = ["/bin/sh", str(programs / "box.sh"), "find", str(file), str(programs / "boxing"), *kinds]
        known = {"PATH": path, **more}
        ran = subprocess.run([*ACCOUNT, *words], cwd=self.root, env=known, capture_output=True, text=True)
        assert (ran.returncode, ran.stderr) == (0, "")
        return file.read_text(encoding="utf-8")

    def words(self, slot: str, *command: str) -> list[str]:
        """What runs a command in a slot."""
        programs = self.root / "programs"
        start = ["/bin/sh", str(programs / "box.sh"), "run", str(programs / "found")]
        paths = [f"read={programs}", "read=/no/such/folder", f"write={self.root / 'for all'}"]
        return [*ACCOUNT, *start, str(programs / "boxing"), *paths, "--", str(self.root / slot), *command]

    def run(self, *command: str, slot: str = "a") -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        return subprocess.run(
            self.words(slot, *command),
            cwd=self.root / slot / "job",
            env={"PATH": PATH},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@contextmanager
def two_slots(*others: Path) -> Iterator[NodeOfTwoSlots]:
    """Make one. `others`: programs that are to be there too."""
    with tempfile.TemporaryDirectory(prefix="boxes-") as made:
        root = Path(made).resolve()
        for name in ("programs", "a/job", "b/job", "agent", "for all"):
            (root / name).mkdir(parents=True)
        shutil.copy(box_path(), root / "programs")
        (root / "programs" / "boxing").write_bytes(boxing_archive())
        for program in others:
            shutil.copy(program, root / "programs")
        for name in ("a/job/own", "b/job/secret", "agent/key", "b/order"):
            (root / name).write_text("of the other", encoding="utf-8")
        root.chmod(0o755)
        if os.getuid() == 0:
            for path in (root, *root.rglob("*")):
                os.chown(path, NOBODY, NOBODY)
        yield NodeOfTwoSlots(root)
