"""Names and texts of unknown origin, and what is none of them."""

from __future__ import annotations

from typing import Any

from broker_core.errors import CrossDeskError

MOST_NAME = 80
"""Characters of a name."""


class NotARecord(CrossDeskError):
    """What a program wrote is no record; the reason is for people."""

    code = "not_a_record"


def shown(text: Any, most: int = MOST_NAME) -> str:
    """A name or text of unknown origin, fit to be shown; raises NotARecord for what is no text."""
    if not isinstance(text, str):
        raise NotARecord("A name is no text.")
    return "".join(one if one.isprintable() else " " for one in text[:most])
