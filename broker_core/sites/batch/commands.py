"""Shell text that several batch systems have in common."""

from __future__ import annotations

import shlex

MISSING = 127
"""Exit status of a `detect` where the batch system's commands are not installed."""


def forgiving(command: str, harmless: str) -> str:
    """`command`, whose failure counts only if it says something else than what `harmless` matches.

    For commands that take several jobs and complain of those that have ended meanwhile.

    Args:
        command: shell text.
        harmless: extended regular expression for whole lines that are no error.
    """
    return (
        f"( said=$({command} 2>&1) || ! printf '%s\\n' \"$said\" | grep -Evq {shlex.quote(harmless)} || "
        "{ printf '%s\\n' \"$said\" >&2; exit 1; } )"
    )


def present(*programs: str) -> str:
    """Text that ends the (sub)shell with MISSING unless all these commands can be run."""
    return "; ".join(f"command -v {name} >/dev/null 2>&1 || exit {MISSING}" for name in programs)


def task_of(id: str) -> tuple[str, str]:
    """Job and array task in an id like `123_4`; the task is empty where there is none."""
    job, _, task = id.partition("_")
    return job, task


def count_in(text: str) -> int:
    """The number that a text is; 0 where it is none, as batch systems write what they do not know."""
    return int(text) if text.isascii() and text.isdigit() else 0
