"""Submission helpers (CB-UAM-05): what turns one submitted item into jobs.

Installed packages name helpers in the entry point group `crossdesk.submission_helpers`: functions that
get a `SubmissionItem` and its checked description, and return the items that it stands for, or None
where they have nothing to do with it. What they return is checked like anything that is submitted.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Protocol

from broker_core.errors import BadRequest
from broker_core.jdl.description import JobDescription
from broker_core.jdl.diagnostics import DiagnosticList
from broker_core.jdl.names import base_name, scheme
from broker_core.jdl.parametric import MARK, is_parametric
from broker_core.jdl.reading import Reading
from broker_core.jdl.syntax.parse import parse
from broker_core.jdl.syntax.tree import Literal
from broker_core.wire.submission import SandboxFile, SubmissionItem

log = logging.getLogger("crossdesk.submission")
GROUP = "crossdesk.submission_helpers"
"""Entry point group of installed helpers."""
ITEMS_MAX = 10_000
"""Items that an installed helper may make of one."""
Helper = Callable[[SubmissionItem, JobDescription], list[SubmissionItem] | None]
_IN_NAMES = str.maketrans("./$", "___")
"""Characters of a value that a job's name cannot have."""


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
        named = item.name or _name_with_mark(item.description)
        for value in item.values or ():
            yield JobSeed(named.replace(MARK, value) or _name_of_value(description, value), value)


def _name_of_value(description: JobDescription, value: str) -> str:
    """The name of a job that is given none: in a parametric description `Node_` and the value."""
    ad = description.ad
    if ad is None or "jobname" in ad.entries or not is_parametric(ad):
        return description.name
    return f"Node_{value.translate(_IN_NAMES)}"


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


@cache
def installed() -> tuple[tuple[str, Helper], ...]:
    """Helpers of installed packages by name; one that does not load is named in the log, and left out."""
    found = []
    for point in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        try:
            found.append((point.name, point.load()))
        except Exception:
            log.exception("The submission helper %s cannot be loaded", point.name)
    return tuple(found)


def helped(item: SubmissionItem, description: JobDescription) -> list[SubmissionItem] | None:
    """What the first installed helper that takes an item makes of it; None where none does.

    Raises BadRequest for a helper that fails, or makes what cannot be submitted.
    """
    for name, helper in installed():
        try:
            made = helper(item, description)
        except Exception as error:
            log.exception("The submission helper %s fails", name)
            raise _unusable(name, f"it fails: {type(error).__name__}: {error}") from error
        if made is None:
            continue
        if not isinstance(made, list) or not all(isinstance(one, SubmissionItem) for one in made):
            raise _unusable(name, "what it makes is no list of items")
        if not 1 <= len(made) <= ITEMS_MAX:
            raise _unusable(name, f"it makes {len(made):,} items of one, not 1 to {ITEMS_MAX:,}")
        return made
    return None


def _unusable(name: str, why: str) -> BadRequest:
    return BadRequest(
        f"The submission helper {name} cannot be used: {why}.",
        code="helper_failed",
        place=name,
        remedy="Correct or remove the package that brings it, then submit again.",
    )


def files_of(item: SubmissionItem) -> Callable[[str], tuple[SandboxFile, ...]]:
    """Which files of the item a job gets, by its value: those that its own InputSandbox names.

    The function raises BadRequest for a value whose file was not sent.
    """
    every = tuple(item.files)
    marked = [] if MARK not in item.description else [one for one in _inputs(item.description) if MARK in one]
    if not marked or item.values is None:
        return lambda value: every
    of_values = {name.replace(MARK, value) for value in item.values for name in marked}
    shared = tuple(file for file in every if file.name not in of_values)
    known = {file.name: file for file in every}

    def named(value: str) -> tuple[SandboxFile, ...]:
        names = dict.fromkeys(name.replace(MARK, value) for name in marked)
        if missing := [name for name in names if name not in known]:
            raise BadRequest(
                f"The value {value!r} needs the file {missing[0]!r}, but it was not sent.",
                code="sandbox_file_not_sent",
                remedy="Submit it with the file, or leave out the value.",
            )
        return shared + tuple(known[name] for name in names)

    return named


def _inputs(text: str) -> list[str]:
    """Base names of the local entries of InputSandbox."""
    ad = parse(text).ad
    entries = Reading(ad, DiagnosticList(text)).strings("inputsandbox") if ad is not None else []
    return [base_name(entry) for entry, _ in entries if scheme(entry) in ("", "file")]


def helper_for(item: SubmissionItem, description: JobDescription) -> SubmissionHelper:
    """The helper that expands an item."""
    return next(helper for helper in HELPERS if helper.takes(item, description))
