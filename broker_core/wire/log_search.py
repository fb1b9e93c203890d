"""Searching in the logs of many jobs: what is asked, and what was found."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from broker_core.wire.submission import Wire

JOBS_MOST = 50
"""Jobs of one request."""


class LogSearch(Wire):
    """What to look for, and in which logs."""

    ids: list[str] = Field(min_length=1, max_length=JOBS_MOST)
    text: str = Field(min_length=1, max_length=500)
    """A text, or a regular expression of Python; case does not matter."""
    regex: bool = False
    roles: list[Literal["stdout", "stderr"]] = ["stdout", "stderr"]
    context: int = Field(default=1, ge=0, le=5)
    """Lines before and after each hit."""
    most: int = Field(default=20, ge=1, le=1000)
    """Hits of one file."""


class LogHit(Wire):
    """One line that has what was looked for."""

    line: int
    """From 1."""
    offset: int
    """Of the first byte of the line in the file."""
    text: str
    """The line; of a long one the part around the hit. Control characters are as they were written."""
    start: int
    """Characters of `text` before the hit."""
    length: int
    """Characters of the hit."""
    before: list[str] = []
    after: list[str] = []


class SearchedLog(Wire):
    """A file in which something was found, or which could not be searched as a whole."""

    job: str
    path: str
    role: str
    hits: list[LogHit] = []
    more: bool = False
    """True if there are more hits than are told."""
    remark: str = ""
    """What of the file was not searched, and why; empty if all of it was."""


class LogSearchAnswer(Wire):
    """What one request found."""

    searched: list[str]
    """Jobs that were searched, or have no logs; the others were not reached in the time: ask again."""
    logs: list[SearchedLog]
    """Only those with hits or remarks, in the order of the jobs."""
    problem: str = ""
    """Why the search was given up for good, such as an expression that is none; empty if it was not."""
