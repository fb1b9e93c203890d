"""What expressions may learn of the world: given by the caller, never asked of the machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class EvaluationEnvironment:
    """Chance and users for one evaluation; with the defaults such functions are `error` or `undefined`."""

    chance: Callable[[], float] | None = None
    """The next random number, from 0 to below 1; for `random()`."""
    homes: Mapping[str, str] = field(default_factory=dict)
    """User to home folder, for `userHome`."""
    maps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Map to user to a list of names with commas, for `userMap`."""
    storage: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Storage element to its attributes by GLUE name, for `anyMatch` and its kin."""
    successes: Mapping[str, float] = field(default_factory=dict)
    """Computing element to the part of its jobs that ended well lately, 0 to 1, for `successFraction`."""


NOWHERE = EvaluationEnvironment()
