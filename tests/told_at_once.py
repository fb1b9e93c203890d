"""Failures and slow tests, told as they end: a run that is cut off says what it found until then."""

from __future__ import annotations

import os

import pytest

_SLOW = 60.0
"""Seconds from which a test is told."""
_terminal: pytest.TerminalReporter | None = None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Find where the run is told of; the workers tell nothing themselves."""
    global _terminal
    if not os.environ.get("PYTEST_XDIST_WORKER"):
        _terminal = session.config.pluginmanager.getplugin("terminalreporter")


@pytest.hookimpl(trylast=True)  # behind pytest's own letter
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Tell of this test, if there is something to tell."""
    if _terminal is None:
        return
    if report.failed:
        crash = getattr(report.longrepr, "reprcrash", None)
        why = " ".join(str(crash or report.longrepr).split())
        _terminal.write_line(f"\n{report.outcome} in {report.when}: {report.nodeid}: {why[:500]}")
    elif report.duration >= _SLOW:
        _terminal.write_line(f"\n{report.duration:.0f} s in {report.when}: {report.nodeid}")
