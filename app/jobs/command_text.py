"""The command line that does what the window would do. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from broker_core.jobs.states import JobState


def command_text(rows: Sequence[Mapping[str, Any]], state_dir: Path | None = None) -> str:
    """Return the command for the jobs: follow one that goes on, fetch what is done, else show status."""
    states = {JobState(row["state"]) for row in rows}
    if states <= {JobState.DONE}:
        verb = ["job", "get-output"]
    elif len(rows) == 1 and JobState(rows[0]["state"]).active:
        verb = ["job", "log", "--follow"]
    else:
        verb = ["job", "status"]
    words = ["crossdesk", *verb, *(row["id"] for row in rows)]
    if state_dir is not None:
        return f"CROSSDESK_STATE_DIR={shlex.quote(str(state_dir))} " + shlex.join(_guarded(words))
    return shlex.join(_guarded(words))


def _guarded(words: list[str]) -> list[str]:
    """An id may begin with a dash: what follows `--` is no option."""
    if any(word.startswith("-") for word in words[4 if "--follow" in words else 3 :]):
        place = 4 if "--follow" in words else 3
        return [*words[:place], "--", *words[place:]]
    return words
