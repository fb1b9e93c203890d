"""The program `crossdesk`: the desktop, or the command line if the words are its."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from broker_core.command_line.nouns import NOUNS
from broker_core.system.gc_tuning import loading

_COMMAND_LINE_OPTIONS = frozenset({"--help", "-h", "--install-completion", "--show-completion", "--version"})
_WITH_VALUE = frozenset({"--state-dir", "--screenshot", "--job", "--theme", "--size", "--view", "--scale"})


def wants_command_line(words: Sequence[str]) -> bool:
    """True if `words` (without the program's name) are a command, False if they open the desktop."""
    rest = iter(words)
    for word in rest:
        if word in _COMMAND_LINE_OPTIONS:
            return True
        if word in _WITH_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            return word in NOUNS or not _names_a_file(word)
    return "_CROSSDESK_COMPLETE" in os.environ


def _names_a_file(word: str) -> bool:
    return word.endswith(".jdl") or os.path.exists(word)


def main() -> int:
    """Run the program; returns its exit code."""
    words = sys.argv[1:]
    if words == ["--version"]:
        from broker_core.version import VERSION

        sys.stdout.write(f"crossdesk {VERSION}\n")
        return 0
    if wants_command_line(words):
        with loading():
            from broker_core.command_line.program import run

        return run(words)
    from app.main import main as desktop

    return desktop(words)


if __name__ == "__main__":
    sys.exit(main())
