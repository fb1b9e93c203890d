"""A condition on one attribute that resources publish."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_core.matching.columnar.by_value import ByValue
from broker_core.matching.columnar.view import View
from broker_core.matching.condition import Condition

SYSTEM = "glueceinfolrmstype"
"""The attribute that names the batch system."""
Words = Callable[[str, Any], str]
"""The reason at a site of this name, for the value that it publishes."""


def published(text: str, attribute: str, test: Callable[[Any], bool], refusal: Words) -> Condition:
    """A condition on one attribute, whose reason names the site."""
    values = ByValue(attribute, test)

    def words(view: View, row: int, held: bool) -> str:
        return "" if held else refusal(view.pool.columns.sites[row], view.pool.value(row, attribute))

    return Condition(text, "nodes", values.rows, words)


def text_of(value: Any) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""
