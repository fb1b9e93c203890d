"""Carrying the lines of an interactive job: what one exchange with its site brings both ways (CB-BYP)."""

from __future__ import annotations

from dataclasses import dataclass

MOST_TYPED = 32 * 1024
"""Bytes of input that one exchange takes along."""


@dataclass(frozen=True, slots=True)
class LineBytes:
    """Bytes of a file that only grows, with their place in it: written twice they are there once."""

    place: int
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class LineCall:
    """What is brought there, and from where on output is wanted."""

    typed: LineBytes
    control: LineBytes
    outputs: tuple[str, ...]
    """Names of the job's files that hold its output: standard output, then standard error."""
    places: tuple[int, ...]
    """For each of them, the first byte that is wanted."""
    most: int
    """Bytes of each that are wanted at most; 0: only how long they are."""
    sign: str
    """Changes from call to call, so that the agent sees that a desk is there; letters and digits."""


@dataclass(frozen=True, slots=True)
class LineAnswer:
    """What is there now."""

    typed: int
    """Bytes of input that the site has."""
    control: int
    sizes: tuple[int, ...]
    """How long each output is."""
    outputs: tuple[bytes, ...]
