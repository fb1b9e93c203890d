"""Runs a program in a box: `python -m broker_core.worker.boxing [options] DIRECTORY PROGRAM [WORD ...]`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from broker_core.worker.boxing import bubblewrap, landlock
from broker_core.worker.boxing.kinds import Box, BoxKind

FAILED = 125
"""Exit code where no box can be made, or the program cannot be started in it."""


def choose(box: Box, only: BoxKind | None = None) -> tuple[BoxKind, str]:
    """The best box that can be made here; of none, why not. `only`: no other kind is tried."""
    kinds = (BoxKind.BUBBLEWRAP, BoxKind.LANDLOCK) if only is None else (only,)
    troubles = []
    for kind in kinds:
        match kind:
            case BoxKind.BUBBLEWRAP:
                trouble = bubblewrap.trouble(box)
            case BoxKind.LANDLOCK:
                trouble = landlock.trouble()
            case BoxKind.NONE:
                trouble = "no box was wanted"
        if not trouble:
            return kind, ""
        troubles.append(trouble)
    return BoxKind.NONE, "; ".join(troubles)


def run(box: Box, kind: BoxKind, command: Sequence[str]) -> None:
    """Become the program, in its box; raises OSError. Returns never."""
    os.chdir(box.directory)
    if kind is BoxKind.BUBBLEWRAP:
        words = bubblewrap.command_in_box(box, command)
        os.execvp(words[0], words)  # noqa: S606 - no shell is meant
    if kind is BoxKind.LANDLOCK:
        # It has no /tmp of its own, and the common one is not its directory.
        own = box.directory / ".tmp"
        own.mkdir(mode=0o700, exist_ok=True)
        os.environ["TMPDIR"] = str(own)
        landlock.enter(box)
    os.execvp(command[0], list(command))  # noqa: S606 - no shell is meant


def main(words: Sequence[str]) -> int:
    """Run the program; returns only where it cannot, with `FAILED`."""
    parser = argparse.ArgumentParser("boxing", description="Run a program in a box.")
    parser.add_argument("--read", action="append", default=[], type=Path, metavar="PATH")
    parser.add_argument("--only", type=BoxKind, choices=list(BoxKind), help="try no other kind of box")
    parser.add_argument("--report", type=Path, help="file into which the kind of the box is written")
    parser.add_argument("--allow-unboxed", action="store_true", help="run also where no box can be made")
    parser.add_argument("directory", type=Path)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args(words)
    if not given.command or not given.directory.is_dir():
        print("boxing: a directory that is there and a program are needed.", file=sys.stderr)
        return FAILED
    box = Box(given.directory.resolve(), tuple(path.resolve() for path in given.read))
    kind, reason = choose(box, given.only)
    report = f"{kind}: {reason}" if reason else str(kind)
    if given.report is not None:
        given.report.write_text(report + "\n", encoding="utf-8")
    if kind is BoxKind.NONE:
        print(f"boxing: {report}", file=sys.stderr)
        if not given.allow_unboxed:
            return FAILED
    try:
        run(box, kind, given.command)
    except OSError as error:
        print(f"boxing: {given.command[0]} cannot be started in {box.directory}: {error}", file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
