"""Whatever the bytes: no crash, no hang, no exhausted memory (reliability case 16)."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.jdl.expressions_made import INFIX
from tests.jdl.fixtures import FIXTURES
from tests.jdl.refusals import REFUSALS, WARNINGS
from tests.jdl.slips import ACCEPTED, REFUSED

ROOT = Path(__file__).parents[2]
TEXTS = [
    *(text for text, _ in FIXTURES.values()),
    *REFUSALS,
    *WARNINGS,
    *ACCEPTED.values(),
    *REFUSED.values(),
]


def sown(folder: Path) -> Path:
    """A folder of descriptions to begin with."""
    for number, text in enumerate([*TEXTS, *(f"1 {sign} 2" for sign in INFIX)]):
        (folder / f"{number}.jdl").write_bytes(text.encode())
    return folder


@pytest.mark.parametrize("seed", [1, 2])
def test_no_bytes_crash_or_hang_the_language(seed: int, soak: bool, tmp_path: Path) -> None:
    runs = 300_000 if soak else 3_000
    command = [sys.executable, "-m", "tests.jdl.fuzz_check", str(runs), str(seed), str(sown(tmp_path))]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    kept = [path.read_bytes() for path in tmp_path.glob("crash-*")]
    assert told.returncode == 0, (kept, told.stderr[-3000:])
    done = re.search(r"number_of_executed_units: (\d+)", told.stderr)
    assert done is not None
    assert int(done[1]) >= runs
