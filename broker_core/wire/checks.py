"""Checking and matching a description."""

from __future__ import annotations

from pydantic import Field

from broker_core.wire.submission import SandboxFile, Wire


class FixView(Wire):
    """A quick fix: replace the characters from `start` to `end` (offsets in the text) by `text`."""

    title: str
    start: int
    end: int
    text: str


class DiagnosticView(Wire):
    """One error, warning or hint about a description, with its place."""

    severity: str = Field(pattern="^(error|warning|hint)$")
    code: str
    """Stable, one per kind of refusal, e.g. `missing-executable`."""
    message: str
    attribute: str = ""
    line: int = 0
    """1-based; 0 if it concerns the whole description."""
    column: int = 0
    """1-based."""
    start: int = 0
    """Offsets in the text, in characters."""
    end: int = 0
    fixes: list[FixView] = []


class CheckRequest(Wire):
    """A description to be checked; files are what the client found for its sandbox, if it looked."""

    description: str
    files: list[SandboxFile] | None = None


class CheckReport(Wire):
    """All that is wrong with a description, and what it asks for."""

    ok: bool
    diagnostics: list[DiagnosticView]
    structure: str = ""
    interactive: bool = False
    cpus: int = 1
    name: str = ""
    jobs: int = 1
    """Jobs for which it stands: those of a sweep or collection."""
