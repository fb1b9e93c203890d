"""A test of a site ends with the first refusal. The desk is a stand-in: rows are told, cancels kept."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from app.sites.site_test import Trial


class Rows(QObject):
    """The live rows of jobs."""

    changed = Signal(set)

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, dict[str, Any]] = {}

    def row(self, job: str) -> dict[str, Any] | None:
        return self.known.get(job)

    def tell(self, **facts: Any) -> None:
        self.known["j"] = self.known.get("j", {"site": "", "exit_code": None}) | facts
        self.changed.emit({"j"})


class Desk(QObject):
    """As much of the desk as a trial uses."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs, self.canceled, self.owner = Rows(), list[str](), self
        self.sites = SimpleNamespace(unheard=lambda place: None)
        self.client = SimpleNamespace(test_site=self._test, cancel=self._cancel)

    async def _test(self, name: str, *, speed: bool) -> SimpleNamespace:
        return SimpleNamespace(job="j")

    async def _cancel(self, jobs: list[str]) -> None:
        self.canceled += jobs

    def run(self, work: Coroutine[Any, Any, None], doing: str) -> None:
        asyncio.run(work)


def test_the_first_refusal_ends_the_test_and_is_what_is_said(qapp: QApplication) -> None:
    context = Desk()
    trial = Trial(context, "cluster")  # type: ignore[arg-type]
    trial.begin()
    context.jobs.tell(state="Waiting", attempt=0, reason="Taken over")
    assert (context.canceled, trial.over) == ([], False)
    refusal = "cluster refused it: Slurm refused the job: Invalid account"
    context.jobs.tell(state="Waiting", attempt=1, reason=refusal)
    context.jobs.tell(state="Waiting", attempt=1, reason="Cancel was asked for")
    context.jobs.tell(state="Canceled", reason="Canceled by its owner")
    assert context.canceled == ["j"]
    assert (trial.over, trial.well) == (True, False)
    assert trial.sentence == f"The test job was refused: {refusal}"
