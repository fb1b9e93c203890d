"""What an interactive agent left in its job's directory for the broker (`worker.agent_settings.CONTACT`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from broker_core.bookkeeping.sqlite.codec import clean
from broker_core.errors import BadRequest

MOST = 10_000
TERMINAL, PLAIN = "terminal", "plain"
"""Kinds of agents for desks: one that speaks SSH, and one whose lines the broker carries."""


@dataclass(frozen=True, slots=True)
class AgentReport:
    """The word of one agent; it may be written anew while the agent runs."""

    key: str
    """Its public key; empty where it is the plain one."""
    fingerprint: str
    node: str
    kind: str = TERMINAL
    missing: str = ""
    """Why it is not the better kind, in words; empty where it is."""
    unfit: str = ""
    """Why none can run there that was to be brought beside a program."""
    trouble: str = ""
    """Why it has not reached any place to meet so far; empty where it has."""

    @property
    def story(self) -> str:
        """What the job's story says of it."""
        words = [f"The agent's key is {self.fingerprint}."] if self.fingerprint else []
        if self.kind == PLAIN:
            words.append("The plain agent carries lines, without a terminal" + _because(self.missing))
        if self.trouble:
            words.append(f"It reaches no place to meet a desk: {self.trouble}")
        return " ".join(words)


def read_word(path: Path) -> AgentReport:
    """The last word in a file; raises BadRequest for anything else in its place."""
    try:
        with open(path, "rb") as file:
            file.seek(max(0, path.stat().st_size - MOST))
            lines = file.read(MOST).rpartition(b"\n")[0]
        return _word(orjson.loads(lines.rpartition(b"\n")[2]))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadRequest(f"What the agent says cannot be read: {error}.", place=str(path)) from error


def _word(said: dict[str, Any]) -> AgentReport:
    plain = "lines" in said
    return AgentReport(
        key=_text(said["key"]),
        fingerprint=_text(said["fingerprint"]),
        node=_text(said["node"]),
        kind=PLAIN if plain else TERMINAL,
        missing=_text(said.get("lines", "")),
        unfit=_text(said.get("unfit", "")),
        trouble=_text(said.get("trouble", "")),
    )


def _because(missing: str) -> str:
    return f": {missing.rstrip('.')}." if missing else "."


def _text(value: object) -> str:
    return clean(str(value)[:1000])
