"""What is known about one attribute of a description."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attribute:
    """A known attribute: for checking, for completion, and for the help pages."""

    name: str
    """In the usual spelling; any case is accepted."""
    types: tuple[str, ...]
    """Accepted forms: string, strings (a list of strings), integer, integers, real, boolean, ad, ads, list,
    expression (anything), word (a bare identifier or a string)."""
    default: str
    """What holds when it is absent, as JDL; empty: nothing."""
    doc: str
    allowed: tuple[str, ...] = ()
    """The values that are understood; empty: any of the type."""
    dialect: str = "gLite"
    """Where it comes from: CrossBroker, gLite, CREAM, DIRAC or CrossDesk."""
    place: str = "job"
    """Where it stands: job, nodes (the ad of a workflow's nodes), node, component (an ad of SubJobs),
    or system (set by brokers, not by users)."""


def table(dialect: str, place: str, rows: str) -> tuple[Attribute, ...]:
    """Attributes from lines `Name | types | default | allowed | doc`; types and allowed divided by commas."""
    return tuple(_row(dialect, place, line) for line in rows.strip().splitlines())


def _row(dialect: str, place: str, line: str) -> Attribute:
    name, types, default, allowed, doc = (part.strip() for part in line.split("|", 4))
    return Attribute(name, _words(types), default, doc, _words(allowed), dialect, place)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
