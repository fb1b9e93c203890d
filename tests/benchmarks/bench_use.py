"""What looking at a job's use costs the node: the CPU time of looks against the pauses between them."""

from __future__ import annotations

import itertools
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

from broker_core.worker.script import use_path
from tests.benchmarks.figure import Figure

LOOKS = 200
_SCRIPT = """
. "$USE"
__clock() { read -r __uptime __rest </proc/uptime; }
__sample_use
__group=
left=$LOOKS
while [ "$left" -gt 0 ]; do
    left=$((left - 1))
    __due=0 __disk_due=100000000
    __sample_use
done
echo "$((__due - __moment)) $__looked_through"
"""


def measure() -> list[Figure]:
    """The share of a CPU that a job's looks take, by the processes of its session: the dearer way, which is
    taken where there is no control group, and the dearest without pgrep."""
    found = []
    for shell, tools in itertools.product(("/bin/dash", "/bin/bash"), (("du", "pgrep"), ("du",))):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with tempfile.TemporaryDirectory(prefix="cd-use-") as folder:
            programs = Path(folder) / "programs"
            programs.mkdir()
            for tool in tools:
                (programs / tool).symlink_to(shutil.which(tool) or "")
            given = {"PATH": str(programs), "USE": str(use_path()), "LOOKS": str(LOOKS)}
            done = subprocess.run(
                [shell, "-c", _SCRIPT], env=given, cwd=folder, check=True, capture_output=True, text=True
            )
            lines = (Path(folder) / ".crossdesk-use").read_text().count("\n")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        pause, processes = map(int, done.stdout.split())
        if lines != LOOKS + 1:
            raise AssertionError(f"{lines} looks were taken")
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        look = spent / (LOOKS + 1)
        # The starter looks at most every half minute, however few processes there are.
        share = 100 * look / max(30, pause)
        way = f"{Path(shell).name}{' with pgrep' if 'pgrep' in tools else ''}"
        found.append(Figure(f"look at {processes} processes by {way}", look * 1000, "ms"))
        found.append(Figure(f"share of a CPU by {way}", share, "%", at_most=0.1))
    return found
