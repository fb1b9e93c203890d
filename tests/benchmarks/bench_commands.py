"""What a user waits for at a prompt: `crossdesk --version`, and the translation of a batch script."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from broker_core.client.programs.describe import translation
from broker_core.client.programs.file_kind import classify
from broker_core.client.programs.path_facts import facts_of
from tests.benchmarks.figure import Figure

_SCRIPTS = Path(__file__).parent.parent / "client" / "scripts"
_TIMES = 11


def measure() -> list[Figure]:
    """Medians; the slowest script of the corpus counts."""
    slowest = max(_translated(path) for path in sorted(_SCRIPTS.rglob("*")) if path.is_file())
    return [
        Figure("crossdesk --version", round(_version(), 3), "s", at_most=0.3),
        Figure("translation of a batch script, the slowest", round(slowest * 1e3, 3), "ms", at_most=5.0),
    ]


def _version() -> float:
    command = [str(Path(sys.executable).with_name("crossdesk")), "--version"]
    spent = []
    for _ in range(_TIMES):
        begin = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        spent.append(time.perf_counter() - begin)
    return statistics.median(spent)


def _translated(path: Path) -> float:
    item = classify(facts_of(path))
    spent = []
    for _ in range(_TIMES):
        begin = time.process_time()
        translation(item)
        spent.append(time.process_time() - begin)
    return statistics.median(spent)
