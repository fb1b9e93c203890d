"""Values that nobody changes, checked where it costs nothing: by the type checker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def immutable(cls: type[T]) -> type[T]:
    """Make a class a dataclass with slots that the type checker treats as frozen.

    For what is made several times for every step of a job: the check that `dataclass(frozen=True)` makes
    at run time takes five times as long as all the rest of making the object.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)


def copier(cls: type[T]) -> Callable[[T], T]:
    """Return a function that copies a value of such a class field by field.

    Made as dataclasses make their methods, from text: a call of the class, or `dataclasses.replace`, takes
    two to ten times as long, and a row is copied with every step of its job.
    """
    lines = [f" after.{field.name} = before.{field.name}" for field in fields(cls)]  # type: ignore[arg-type]
    text = "\n".join(["def copied(before):", " after = new(cls)", *lines, " return after"])
    scope: dict[str, Any] = {"new": object.__new__, "cls": cls}
    exec(text, scope)  # noqa: S102 - the names of fields are the only input
    made: Callable[[T], T] = scope["copied"]
    return made
