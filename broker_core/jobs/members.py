"""The members of an enumeration where several are named in every step of a job."""

from __future__ import annotations

from enum import StrEnum
from types import SimpleNamespace
from typing import TypeVar, cast

E = TypeVar("E", bound=StrEnum)


def members(of: type[E]) -> type[E]:
    """The members as plain attributes of one object; nothing else of the enumeration is there.

    Python 3.11 finds `JobState.WAITING` by way of the class of the class, which takes ten times as long as
    an attribute; forty such names in the life of a job were a tenth of what the scheduler does for it.
    """
    return cast(type[E], SimpleNamespace(**of.__members__))
