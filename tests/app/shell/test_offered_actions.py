"""Which actions are offered for the selected jobs."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from app.stores.alike import Alike
from tests.app.windows import Stage, play


@pytest.mark.parametrize("interactive", [True, False])
def test_a_console_is_offered_for_interactive_jobs_only(
    qapp: QApplication, state_dir: Path, interactive: bool
) -> None:
    async def scenario(on: Stage) -> None:
        row = {"state": "Running", "held": "", "interactive": interactive}
        on.context.actions.select([Alike(row, 1)])
        assert on.context.actions.qt("job.console").isEnabled() is interactive

    play(qapp, state_dir, scenario, connect=False)
