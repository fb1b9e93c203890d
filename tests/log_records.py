"""Warnings and errors that the product logs in the test's own process: expected, or they fail it."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

LOGGERS = ("app", "broker_core", "crossdesk")


class _Records(logging.Handler):
    """Keeps what is logged at WARNING or above."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.name}: {record.getMessage()}")


@contextmanager
def only_expected(patterns: Sequence[str]) -> Iterator[None]:
    """Fail if a line `LEVEL logger: message` is logged in the block that none of the expressions finds."""
    records = _Records()
    for name in LOGGERS:
        logging.getLogger(name).addHandler(records)
    try:
        yield
    finally:
        for name in LOGGERS:
            logging.getLogger(name).removeHandler(records)
    unexpected = [line for line in records.lines if not any(re.search(one, line) for one in patterns)]
    assert not unexpected, "logged, and no expected_log mark says so: " + "; ".join(unexpected)
