"""A condition of the broker: one definition gives its value at all resources and the words for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from broker_core.matching.columnar.by_value import ByValue
from broker_core.matching.columnar.view import View

Holds = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """What the broker itself demands of a resource (CB-MM-02)."""

    text: str
    origin: str
    """The words of `wire.matches.Clause`."""
    holds: Callable[[View], Holds]
    """By row, or one for all."""
    words: Callable[[View, int, bool], str]
    """The reason at one row, given whether it holds there; empty: there is nothing to tell."""
    now_only: bool = False
    """Where it does not hold it would once the resource is idle and in production."""
    lasting: bool = True
    """It changes only with the attributes, not with counts."""
    name: str = ""
    """The only attribute that the words depend on, if it is one alone."""


def of_attribute(
    text: str,
    origin: str,
    name: str,
    holds: Callable[[Any], bool],
    words: Callable[[Any, bool], str],
    now_only: bool = False,
) -> Condition:
    """A condition on the value of one attribute; `undefined` where a resource does not publish it."""
    values = ByValue(name, holds)
    return Condition(
        text,
        origin,
        values.rows,
        lambda view, row, held: words(view.pool.value(row, name), held),
        now_only,
        name=name,
    )
