"""Where a worker of the tests died, in a fatal error or at the time limit: its stacks, at the end of the run.

pytest writes them where the worker's errors go, thousands of lines before the summary that somebody reads.
"""

from __future__ import annotations

import faulthandler
import os
from collections.abc import Generator
from io import TextIOWrapper
from pathlib import Path

import pytest

_FOLDER = Path(__file__).parent.parent / "build" / "fatal-errors"
_BEFORE_LIMIT = 10.0
"""Seconds before the time limit, which ends the whole worker, at which the stacks are written."""
_file: TextIOWrapper | None = None


@pytest.hookimpl(trylast=True)  # behind pytest's own
def pytest_configure(config: pytest.Config) -> None:
    """Have each worker write into a file of its own."""
    global _file
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker:
        _FOLDER.mkdir(parents=True, exist_ok=True)
        _file = (_FOLDER / f"{worker}-{os.getpid()}.txt").open("w")
        faulthandler.enable(_file)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Write the stacks of a test that hangs."""
    if _file is None:
        return (yield)
    mark = item.get_closest_marker("timeout")
    limit = float(mark.args[0]) if mark is not None else float(item.config.getini("timeout"))
    faulthandler.dump_traceback_later(limit - _BEFORE_LIMIT, file=_file)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what was written, and take it away."""
    if _file is not None:
        return  # a worker
    for file in sorted(_FOLDER.glob("*.txt")):
        if text := file.read_text():
            terminalreporter.section(f"of the worker {file.stem}, which died or hung")
            terminalreporter.write(text)
        file.unlink()
