"""After a syntax error: where the next statement begins."""

from __future__ import annotations

from broker_core.jdl.tokens import Token

_OPENING = frozenset("[({")
_CLOSING = frozenset("])}")


def next_statement(tokens: list[Token], first: int, at: int, text: str) -> int:
    """Index of the token to go on with, given a statement from token `first` that failed at token `at`.

    That is behind the `;` that ends the statement, at the `]` that ends its ad, or at a name with `=` that
    begins a line. It lies behind `first`, so that parsing always comes forward.
    """
    open_brackets = _depth(tokens, first, at)
    index = max(at, first)
    while tokens[index].kind != "end":
        word = tokens[index].text
        if open_brackets <= 0 and word == "]":
            break
        if open_brackets <= 0 and word == ";":
            return index + 1
        if index > first and _begins_statement(tokens, index, text) and open_brackets <= 0:
            break
        if word in _OPENING:
            open_brackets += 1
        elif word in _CLOSING:
            open_brackets -= 1
        index += 1
    if tokens[index].kind == "end" and (again := _line_start(tokens, first, text)):
        return again
    return index


def _depth(tokens: list[Token], first: int, at: int) -> int:
    words = [token.text for token in tokens[first:at]]
    return sum(word in _OPENING for word in words) - sum(word in _CLOSING for word in words)


def _begins_statement(tokens: list[Token], index: int, text: str) -> bool:
    token = tokens[index]
    if token.kind != "name" or tokens[index + 1].text not in ("=", "=="):
        return False
    return "\n" in text[tokens[index - 1].end : token.start]


def _line_start(tokens: list[Token], first: int, text: str) -> int | None:
    """A bracket was never closed: the next line behind `first` that begins like a statement."""
    for index in range(first + 1, len(tokens) - 1):
        if _begins_statement(tokens, index, text):
            return index
    return None
