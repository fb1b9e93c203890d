"""Parsing and checking descriptions, one thread."""

from __future__ import annotations

import time
from collections.abc import Callable

from broker_core.jdl.check import check
from tests.benchmarks.figure import Figure
from tests.jdl.fixtures import FIXTURES
from tests.jdl.glite_manual import EXAMPLES

_SECONDS = 2.0
_HOSTILE = {
    "brackets": "a = " + "(" * 20_000,
    "quotes": 'a = "' * 8_000,
    "names": "Executabel = 1;\n" * 2_000,
    "constants": "A = 1; OutputSandbox = {" + "-A, " * 8_000 + "};",
    "patterns": 'Executable = regexp("[a-z]+[a-z]+[a-z]+b", "' + "a" * 200 + '") ? "x" : "y";',
    "comments": "/* " * 10_000,
    "semicolons": ";" * 40_000,
}
"""Texts that would be slow to read if something were not linear."""


def measure() -> list[Figure]:
    """Descriptions a second, and the slowest hostile text."""
    reference = [text for text, _ in FIXTURES.values()]
    manual = list(EXAMPLES.values())
    return [
        Figure("descriptions checked: reference and manual", _rate(reference + manual), "1/s", at_least=2000),
        Figure("descriptions checked: reference", _rate(reference), "1/s"),
        Figure("descriptions checked: manual", _rate(manual), "1/s"),
        Figure("slowest hostile text", max(map(_slowness, _HOSTILE.values())), "ms/KB", at_most=10),
    ]


def _rate(texts: list[str]) -> float:
    """Checks a second, the best of three parts of the time."""
    return max(_rate_once(lambda: [check(text) for text in texts], len(texts)) for _ in range(3))


def _rate_once(work: Callable[[], object], count: int) -> float:
    work()
    done, begin = 0, time.perf_counter()
    while (spent := time.perf_counter() - begin) < _SECONDS / 3:
        work()
        done += count
    return done / spent


def _slowness(text: str) -> float:
    """Milliseconds for each KB of a text."""
    begin = time.perf_counter()
    check(text)
    return (time.perf_counter() - begin) * 1000 / (len(text) / 1024)
