"""Fail points: places where a test can have the broker killed (reliability cases 1 to 3).

`CROSSDESK_FAIL_AT=point:n` kills the process with SIGKILL when it passes the named point for the n-th
time. Without the variable a pass costs one comparison. `CROSSDESK_FAIL_LOG` names a file to which every
passed point is appended, so that a test can learn all the points of a run.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

FAIL_VARIABLE = "CROSSDESK_FAIL_AT"
LOG_VARIABLE = "CROSSDESK_FAIL_LOG"


class FailPoints:
    """Counts the passes of named points, and kills the process at the chosen one."""

    def __init__(self, plan: str = "", log: str = "") -> None:
        point, _, count = plan.rpartition(":")
        self._point = point
        self._count = int(count) if point else 0
        self._log = log
        self._passed: Counter[str] = Counter()
        self.active = bool(point or log)
        """False: nothing is counted."""

    def __call__(self, point: str) -> None:
        """Pass `point`; does not return if the process is to die here."""
        if not self.active:
            return
        self._passed[point] += 1
        if self._log:
            with open(self._log, "a", encoding="utf-8") as log:
                log.write(point + "\n")
        if point == self._point and self._passed[point] == self._count:
            os.kill(os.getpid(), signal.SIGKILL)


def from_environment() -> FailPoints:
    """The fail points that the environment asks for; inactive in every normal run."""
    return FailPoints(os.environ.get(FAIL_VARIABLE, ""), os.environ.get(LOG_VARIABLE, ""))
