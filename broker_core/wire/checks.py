"""Checking and matching a description."""

from __future__ import annotations

from pydantic import Field

from broker_core.wire.submission import SandboxFile, Wire


class Fix(Wire):
    """A quick fix: replace the characters from `start` to `end` (offsets in the text) by `text`."""

    title: str
    start: int
    end: int
    text: str


class Diagnostic(Wire):
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
    fixes: list[Fix] = []


class CheckRequest(Wire):
    """A description to be checked; files are what the client found for its sandbox, if it looked."""

    description: str
    files: list[SandboxFile] | None = None


class CheckReport(Wire):
    """All that is wrong with a description, and what it asks for."""

    ok: bool
    diagnostics: list[Diagnostic]
    structure: str = ""
    interactive: bool = False
    cpus: int = 1
    name: str = ""


class Clause(Wire):
    """One clause of Requirements (or one of the broker's own conditions) at one resource."""

    text: str
    value: str
    """true, false, undefined or error."""
    origin: str = "requirements"
    """requirements, cpus, status, authorisation, software, policy, kind, lock or stale."""
    explanation: str = ""
    """In words, with the values met there."""


class MatchedResource(Wire):
    """One resource as the scheduler sees it for this description."""

    ce: str
    """Computing element id."""
    site: str
    matches: bool
    rank: float | None = None
    total_cpus: int = 0
    free_cpus: int = 0
    waiting: int = 0
    reason: str = ""
    """Why not, in one sentence; empty if it matches."""
    clauses: list[Clause] = []


class MatchReport(Wire):
    """Where a description could run, in the scheduler's order, then why not elsewhere."""

    resources: list[MatchedResource]
    advice: str = ""
    """The smallest change that would make it match, in words; empty if it does."""
