"""Values that nobody changes, checked where it costs nothing: by the type checker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def immutable(cls: type[T]) -> type[T]:
    """Make a class a dataclass with slots that the type checker treats as frozen.

    For what is made several times for every step of a job: the check that `dataclass(frozen=True)` makes
    at run time takes five times as long as all the rest of making the object.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)
