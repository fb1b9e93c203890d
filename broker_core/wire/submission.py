"""Submitting: what a client sends and gets back."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

WATCHED = 30.0
"""Seconds for which a job counts as looked at, unless that is said again."""
WATCHED_AT_ONCE = 100
"""Jobs that somebody can be said to look at: a batch is asked after as a whole."""


class Wire(BaseModel):
    """Base of all wire models: unknown fields are refused, so that a mistyped name is noticed."""

    model_config = ConfigDict(extra="forbid")


class SandboxFile(Wire):
    """One file of an input sandbox; its content is uploaded beforehand under its hash."""

    name: str = Field(min_length=1, max_length=255)
    """Base name in the job's directory."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    size: int = Field(ge=0, le=2**63 - 1)
    """Bytes."""
    executable: bool = False


class LeftNames(Wire):
    """Files of a job that stayed at its site."""

    names: list[str] = Field(default=[], max_length=10_000)
    """As they are listed; none: all."""


class SubmissionItem(Wire):
    """One description, and optionally the values that make many jobs of it."""

    description: str
    """JDL text, as the user wrote it."""
    name: str = ""
    """Short name; empty lets the broker choose (the executable's base name)."""
    files: list[SandboxFile] = []
    values: list[str] | None = None
    """One job for each value, which replaces `_PARAM_` in the description; None: one plain job."""


class Submission(Wire):
    """A submission. Sent again with the same key it returns the same receipt and starts nothing."""

    key: str = Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")
    items: list[SubmissionItem] = Field(min_length=1)
    site: str = ""
    """Send it to this site only; empty lets the scheduler choose."""
    hold: str = ""
    """If not empty, the jobs wait on hold for this reason."""
    tags: list[str] = Field(default=[], max_length=16)
    """Tags of all its jobs, besides those that their descriptions name."""


class Rerun(Wire):
    """Jobs that have ended, to be run once more: each becomes a new job in its place of the batch, with its
    value and files. Sent again with the same key it returns the same receipt and starts nothing."""

    key: str = Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")
    ids: list[str] = Field(min_length=1, max_length=200_000)
    changes: dict[str, str] = {}
    """Attribute to the value that it gets in the descriptions, as `{"WallTime": "3600"}`; an empty one takes
    it out. A text may come without its quotes. `Memory` is what each needs of it, as `4G`."""
    site: str = ""
    """Send them to this site only; empty: where each had to go before."""
    anywhere: bool = False
    """Send them wherever they fit, also those that had to go to one site before; `site` is empty then."""


class Caution(Wire):
    """A tolerated slip in a description: diagnostic code, message and line (1-based; 0 if none)."""

    code: str
    message: str
    line: int = 0


class Receipt(Wire):
    """The answer to a submission, given after it is durable."""

    ids: list[str]
    """Job ids in the order of items and values."""
    batch: str = ""
    """Id shared by the jobs, empty for a single one."""
    warnings: list[Caution] = []


class IdList(Wire):
    """Jobs that a bulk command is about."""

    ids: list[str] = Field(min_length=1, max_length=200_000)


class AnnotationRequest(Wire):
    """Tags to give jobs or take from them, and their note."""

    ids: list[str] = Field(min_length=1, max_length=200_000)
    add: list[str] = Field(default=[], max_length=100)
    remove: list[str] = Field(default=[], max_length=100)
    note: str | None = None
    """In place of the one before; None: it stays, empty: there is none any more."""


class Outcomes(Wire):
    """What became of a bulk command: per id None, or why not."""

    results: dict[str, str | None]


class Fetched(Wire):
    """A client's word that it has an output sandbox (CB-CMD-04)."""

    missing: list[str] = []
    """Listed files that did not exist."""
