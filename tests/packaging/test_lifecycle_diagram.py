from __future__ import annotations

import subprocess
import sys

from broker_core.jobs.transitions import TRANSITIONS
from tests.packaging.sources import ROOT


def test_the_diagram_in_the_architecture_page_is_current() -> None:
    words = [sys.executable, str(ROOT / "packaging" / "lifecycle_diagram.py"), "--check"]
    told = subprocess.run(words, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, check=False)
    assert told.returncode == 0, "run python packaging/lifecycle_diagram.py"


def test_every_state_of_the_table_is_in_the_diagram() -> None:
    page = (ROOT / "broker_core" / "ARCHITECTURE.md").read_text()
    assert all(f"--> {new.value}" in page for new in set(TRANSITIONS.values()) if new.value != "Canceled")
    assert "to Canceled" in page
