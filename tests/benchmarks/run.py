"""Runs benchmarks: every file bench_NAME.py here has a function `measure() -> list[Figure]`.

Each figure becomes one JSON line, with the rates of posix_spawn and fsync measured just before. Each
benchmark has a process of its own, so that none carries what another one left in memory.
"""

from __future__ import annotations

import compileall
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from itertools import takewhile
from pathlib import Path

from tests.benchmarks.rates import rates


def names() -> list[str]:
    """The benchmarks there are."""
    return sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))


def main(words: list[str]) -> int:
    """Run the wanted benchmarks, or all; returns 1 if a figure misses its bound or a benchmark fails.

    From the first word with dashes on, words are for the benchmarks: `simulation --trace FILE`.
    """
    if {"-h", "--help"} & set(words):
        print("benchmarks:", *names(), sep="\n  ")
        return 0
    wanted = list(takewhile(lambda word: not word.startswith("--"), words))
    unknown = [name for name in wanted if name not in names()]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; there are {', '.join(names())}", file=sys.stderr)
        return 2
    if len(wanted) == 1:
        return min(_run(wanted[0]), 1)
    more = words[len(wanted) :]
    one = [sys.executable, "-m", "tests.benchmarks.run"]
    return max(subprocess.run([*one, name, *more], check=False).returncode for name in wanted or names())


def _run(name: str) -> int:
    with tempfile.TemporaryDirectory(prefix="cd-bench-") as base:
        _compile()
        _isolate(Path(base))
        now = rates(Path(base))
        print(f"{name} ...", file=sys.stderr, flush=True)
        begin = time.monotonic()
        try:
            figures = importlib.import_module(f"tests.benchmarks.bench_{name}").measure()
        except Exception as problem:  # noqa: BLE001 - the other benchmarks still run
            print(json.dumps({"benchmark": name, "error": repr(problem), **now}), flush=True)
            return 1
        spent = round(time.monotonic() - begin, 1)
    for figure in figures:
        line = {"benchmark": name, **asdict(figure), "good": figure.good, **now, "spent_s": spent}
        print(json.dumps(line), flush=True)
    return sum(figure.good is False for figure in figures)


def _compile() -> None:
    """Compile the program's modules, as installing it does: a first start is not what is measured."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for package in ("broker_core", "app"):
        compileall.compile_dir(package, quiet=1)


def _isolate(base: Path) -> None:
    """Give the benchmark a home, a runtime folder and a state directory of its own."""
    for variable, folder in (("HOME", "home"), ("XDG_RUNTIME_DIR", "run"), ("XDG_DATA_HOME", "home/data")):
        (base / folder).mkdir(mode=0o700, parents=True, exist_ok=True)
        os.environ[variable] = str(base / folder)
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        os.environ[variable] = str(base / "home" / variable.lower())
    os.environ["CROSSDESK_STATE_DIR"] = str(base / "state")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
