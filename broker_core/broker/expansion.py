"""Submission helpers (CB-UAM-05): what turns one submitted item into jobs. Later kinds plug in here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from broker_core.errors import BadRequest
from broker_core.jdl.description import JobDescription
from broker_core.jdl.parametric import MARK
from broker_core.jdl.parse import parse
from broker_core.jdl.tree import Literal
from broker_core.wire.submission import SubmissionItem


@dataclass(frozen=True, slots=True)
class JobSeed:
    """A job to be: what tells it from the others of its item."""

    name: str
    parameter: str = ""
    """Value for `_PARAM_`; empty for a plain job."""


class SubmissionHelper(Protocol):
    """Pre-processes one kind of request; may turn it into many jobs."""

    def takes(self, item: SubmissionItem, description: JobDescription) -> bool:
        """True if this helper is the one for the item."""
        ...

    def inspect(self, item: SubmissionItem) -> None:
        """Raise BadRequest if the item cannot be expanded."""
        ...

    def expand(self, item: SubmissionItem, description: JobDescription) -> Iterator[JobSeed]:
        """The jobs of the item, in order."""
        ...


class PlainJob:
    """One job for one description."""

    def takes(self, item: SubmissionItem, description: JobDescription) -> bool:
        """Every item without values."""
        return item.values is None

    def inspect(self, item: SubmissionItem) -> None:
        """Nothing can be wrong."""

    def expand(self, item: SubmissionItem, description: JobDescription) -> Iterator[JobSeed]:
        """The one job."""
        yield JobSeed(item.name or description.name)


class ParameterValues:
    """One job for each value, which replaces `_PARAM_`."""

    MOST = 100_000
    """Values of one item at most."""

    def takes(self, item: SubmissionItem, description: JobDescription) -> bool:
        """Every item with values."""
        return item.values is not None

    def inspect(self, item: SubmissionItem) -> None:
        """Raise BadRequest for a list that is empty or too long, or holds a blank."""
        values = item.values or []
        if not values or len(values) > self.MOST:
            raise BadRequest(
                f"A list of {len(values)} parameter values was sent; 1 to {self.MOST:,} are accepted.",
                code="bad_values",
            )
        blank = next((number for number, value in enumerate(values, 1) if not value or "\0" in value), 0)
        if blank:
            raise BadRequest(
                f"Parameter value {blank} is empty or holds a zero byte.",
                code="bad_values",
                remedy="Give each job a value of at least one character.",
            )

    def expand(self, item: SubmissionItem, description: JobDescription) -> Iterator[JobSeed]:
        """One job for each value."""
        base = item.name or _name_with_mark(item.description) or description.name
        for value in item.values or ():
            yield JobSeed(base.replace(MARK, value), value)


def _name_with_mark(text: str) -> str:
    """JobName with `_PARAM_` still in it; empty if it has none."""
    if MARK not in text:
        return ""
    ad = parse(text).ad
    node = ad.get("jobname") if ad is not None else None
    name = node.value if isinstance(node, Literal) else None
    return name if isinstance(name, str) and MARK in name else ""


HELPERS: list[SubmissionHelper] = [ParameterValues(), PlainJob()]
"""Asked in order; the first that takes an item expands it."""


def helper_for(item: SubmissionItem, description: JobDescription) -> SubmissionHelper:
    """The helper that expands an item."""
    return next(helper for helper in HELPERS if helper.takes(item, description))
