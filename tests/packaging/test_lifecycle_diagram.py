from __future__ import annotations

import subprocess
import sys

from broker_core.jobs.transition_table import label
from tests.jobs.tables import TABLES
from tests.packaging.sources import ROOT


def test_the_diagrams_in_the_architecture_page_are_current() -> None:
    words = [sys.executable, str(ROOT / "packaging" / "lifecycle_diagram.py"), "--check"]
    told = subprocess.run(words, cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, check=False)
    assert told.returncode == 0, "run python packaging/lifecycle_diagram.py"


def test_every_state_of_every_table_is_in_the_page() -> None:
    page = (ROOT / "broker_core" / "ARCHITECTURE.md").read_text()
    states = {label(state) for table in TABLES.values() for state in table.states}
    missing = {name for name in states if f"--> {name}" not in page and f" to {name}" not in page}
    assert missing == set()
