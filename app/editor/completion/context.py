"""What may be written at the cursor: attributes, values, functions, each with its documentation."""

from __future__ import annotations

from dataclasses import dataclass

from app.description.lexical import CLOSING, OPENING, LexicalToken, words


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One thing that may be written here."""

    text: str
    """As shown in the list and matched against what was typed."""
    insert: str
    """What replaces the typed part."""
    kind: str
    """attribute, value, function or resource."""
    documentation: str


@dataclass(frozen=True, slots=True)
class CompletionContext:
    """Where the cursor stands: what is typed already, and what the place calls for."""

    prefix: str
    start: int
    """Offset of the first character of `prefix`."""
    attribute: str
    """Name of the attribute whose value is written here; empty at the start of a statement."""
    in_string: bool
    after_scope: bool
    """True after `other.`: attributes of a resource are meant."""
    inside: str = ""
    """Name of the attribute in whose value the brackets around stand; empty at the outer level."""
    beside: frozenset[str] = frozenset()
    """Lower-case names that the ad in these brackets has before the cursor."""


def place_at(text: str, position: int) -> CompletionContext | None:
    """The place at `position` (characters), or None where nothing can be completed (in a comment)."""
    seen = [word for word in words(text) if word.start < position]
    last = seen[-1] if seen else None
    if last is not None and _inside_comment(last, position):
        return None
    inside = last is not None and position <= last.end and last.kind != "bracket"
    typed = last if inside and last is not None and _is_text(last) else None
    before = seen[:-1] if typed is not None else seen
    start = position if typed is None else typed.start + (typed.kind == "string")
    scoped = len(before) >= 2 and before[-1].text == "." and before[-2].text.lower() in ("other", "target")
    in_string = typed is not None and typed.kind == "string"
    attribute, ad = _attribute_of(before), _ad_of(before)
    return CompletionContext(text[start:position], start, attribute, in_string, scoped, *ad)


def _inside_comment(word: LexicalToken, position: int) -> bool:
    return word.kind == "comment" and position <= word.end and not word.text.endswith("*/")


def _is_text(word: LexicalToken) -> bool:
    return word.kind in ("name", "attribute", "function", "constant", "scope", "string")


def _attribute_of(before: list[LexicalToken]) -> str:
    """The attribute being given a value after these words; empty at the start of a statement."""
    depth = 0
    for word in reversed(before):
        if word.kind == "bracket":
            depth += (word.text in CLOSING) - (word.text in OPENING)
            if word.text == "[" and depth < 0:
                return ""
        elif depth > 0:
            continue
        elif word.kind == "end":
            return ""
        elif word.kind == "attribute":
            return word.text
    return ""


def _ad_of(before: list[LexicalToken]) -> tuple[str, frozenset[str]]:
    """The attribute whose value holds the ad that is open behind these words, and the names in that ad."""
    depth, names = 0, set[str]()
    for number in range(len(before) - 1, -1, -1):
        word = before[number]
        if word.kind == "bracket":
            depth += (word.text in CLOSING) - (word.text in OPENING)
            if word.text == "[" and depth < 0:
                return _attribute_of(before[:number]), frozenset(names)
        elif word.kind == "attribute" and not depth:
            names.add(word.text.lower())
    return "", frozenset()
