"""Print every measure of the sources: `python -m tests.architecture [--list MEASURE | --record]`."""

from __future__ import annotations

import argparse

from tests.architecture import glossary, ratchet
from tests.architecture.every import MEASURES
from tests.architecture.modules import product


def main() -> int:
    """Run the command; 1 if a figure grew."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.architecture", description="Measures of the sources."
    )
    names = [measure.name for measure in MEASURES]
    parser.add_argument(
        "--list", choices=names, metavar="MEASURE", help=f"list what is counted: {', '.join(names)}"
    )
    parser.add_argument(
        "--record", action="store_true", help="write down the figures that fell, and names that came"
    )
    options = parser.parse_args()
    modules = product()
    if options.list:
        measure = next(measure for measure in MEASURES if measure.name == options.list)
        print("\n".join(measure.offenders(modules)))
        return 0
    figures = {measure.name: measure.take(modules) for measure in MEASURES}
    for measure in MEASURES:
        figure = figures[measure.name]
        mark = "" if figure <= measure.limit else f", limit {measure.limit}"
        print(f"{measure.name:24} {figure:5}{mark:11}  {measure.counts}")
    grown = ratchet.worse(figures, ratchet.recorded())
    print("".join(f"{line}\n" for line in grown), end="")
    if options.record:
        ratchet.record(figures)
        glossary.renew(modules)
    return 1 if grown else 0


if __name__ == "__main__":
    raise SystemExit(main())
