"""The top-level statements of a description, as slices of its text: what the form reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from app.description.lexical import CLOSING, OPENING, LexicalToken, words


@dataclass(frozen=True, slots=True)
class Statement:
    """`name = value;` at the top level; `start` and `end` are the offsets of the value, in characters."""

    name: str
    value: str
    start: int
    end: int


@lru_cache(maxsize=2)
def statements(text: str) -> Mapping[str, Statement]:
    """The top-level statements by lower-case name (names do not differ by case); the last of a name wins.

    Those of the last texts are remembered: at each key the form, the title and the completion ask for them.
    """
    return MappingProxyType({found.name.lower(): found for found in _statements(text)})


def _statements(text: str) -> Iterator[Statement]:
    name: LexicalToken | None = None
    value: list[LexicalToken] = []
    depth = 0
    level = _outer_level(text)
    for word in _significant(text):
        depth += (word.text in OPENING) - (word.text in CLOSING) if word.kind == "bracket" else 0
        at_level = depth == level and (word.kind != "bracket" or word.text in CLOSING)
        if name is None:
            name = word if word.kind == "attribute" and depth == level else None
        elif (word.kind == "end" and at_level) or depth < level:
            yield _slice(text, name, value)
            name, value = None, []
        else:
            value.append(word)
    if name is not None:
        yield _slice(text, name, value)


def _significant(text: str) -> Iterator[LexicalToken]:
    return (word for word in words(text) if word.kind != "comment")


def _outer_level(text: str) -> int:
    first = next(_significant(text), None)
    return 1 if first is not None and first.text == "[" else 0


def _slice(text: str, name: LexicalToken, value: list[LexicalToken]) -> Statement:
    rest = value[1:]
    if not rest:
        return Statement(name.text, "", name.end, name.end)
    return Statement(name.text, text[rest[0].start : rest[-1].end], rest[0].start, rest[-1].end)
