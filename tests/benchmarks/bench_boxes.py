"""What a box costs the program of a slot (CB-SEC-05): a start, a computation, and work on small files."""

from __future__ import annotations

import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median

from broker_core.worker.script import box_path, boxing_archive
from tests.benchmarks.figure import Figure

_TURNS = 3
_STARTS = 9
_COMPUTES = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done"
_FILES = (
    "mkdir d; i=0; while [ $i -lt 600 ]; do echo $i >d/$i; [ -r d/$i ]; i=$((i + 1)); done;"
    " for turn in 1 2 3 4 5; do find d -newer d >found; done; rm -r d"
)


def measure() -> list[Figure]:
    """Medians, in a box and in none by turns."""
    figures = []
    with tempfile.TemporaryDirectory(prefix="cd-boxes-") as made:
        root = Path(made).resolve()
        (root / "attempt" / "job").mkdir(parents=True)
        (root / "boxing").write_bytes(boxing_archive())
        for kind in ("bubblewrap", "landlock"):
            words = ["/bin/sh", str(box_path())]
            subprocess.run([*words, "find", str(root / "found"), str(root / "boxing"), kind], check=True)
            if not (root / "found").read_text(encoding="utf-8").startswith(kind):
                raise RuntimeError((root / "found").read_text(encoding="utf-8"))
            inside = [*words, "run", str(root / "found"), str(root / "boxing"), "--", str(root / "attempt")]
            figures += _of_kind(kind, inside, root / "attempt" / "job")
    return figures


def _of_kind(kind: str, inside: list[str], job: Path) -> list[Figure]:
    bare, boxed = _medians(inside, "true", job, _STARTS)
    figures = [Figure(f"{kind}: start of a program", round(1000 * (boxed - bare), 1), "ms", at_most=100.0)]
    start = boxed - bare
    for what, script, most in (
        ("computation", _COMPUTES, 1.065),
        ("work on small files", _FILES, 1.35),
    ):
        bare, boxed = _medians(inside, script, job, _TURNS)
        slower = round((boxed - start) / bare, 3)
        figures.append(Figure(f"{kind}: {what}, ratio to that in no box", slower, "", at_most=most))
    return figures


def _medians(inside: list[str], script: str, job: Path, turns: int) -> tuple[float, float]:
    """Seconds of the script without a box, and in one."""
    bare, boxed = [], []
    for _ in range(turns):
        bare.append(_seconds(["/bin/sh", "-c", script], job))
        boxed.append(_seconds([*inside, "/bin/sh", "-c", script], job))
    return median(bare), median(boxed)


def _seconds(words: list[str], job: Path) -> float:
    begin = time.perf_counter()
    subprocess.run(words, cwd=job, check=True)
    return time.perf_counter() - begin
