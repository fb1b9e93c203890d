"""Text to tokens, by one compiled expression; for the parser and for highlighting."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

KEYWORDS = frozenset({"true", "false", "undefined", "error", "is", "isnt"})
"""Words with a fixed meaning, in lower case (any case is accepted)."""
# Possessive repeats, and tokens of their own for an open string or comment: what was looked at is consumed
# or fails once, so the time is linear in the length of the text.
_STRING = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+'
_DOUBLE, _SINGLE = "\u201c\u201d\u201e\u201f\uff02", "\u2018\u2019\u201a\u201b"
CURLY = _DOUBLE + _SINGLE + "\u00ab\u00bb`'\""
"""Quotes of printed text, and all that may close them."""
_PATTERN = re.compile(
    r"(?P<space>[\s\ufeff\u200b-\u200d\u2060]++)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*+)"
    rf'|(?P<string>{_STRING}")'
    r"|(?P<number>(?:[0-9]++(?:\.[0-9]++)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?)"
    r"|(?P<comment>//[^\n]*+|\#[^\n]*+|/\*.*?\*/)"
    r"|(?P<open_comment>/\*.*+)"
    r"|(?P<operator>=\?=|=!=|>>>|&&|\|\||[=!<>]=|<<|>>|\?:|[-+*/%<>!~&|^=?:;,.(){}\[\]])"
    rf"|(?P<curly>[{_DOUBLE}][^{_DOUBLE}\n\"]*+[{_DOUBLE}\"]|[{_SINGLE}][^{_SINGLE}\n']*+[{_SINGLE}'])"
    r"|(?P<printed>\u00ab[^\u00ab\u00bb\n]*+\u00bb|``[^`'\n]*+''|''[^'\n;=]++'')"
    r"|(?P<quoted>'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+')"
    rf"|(?P<open>{_STRING})"
    r"|(?P<bad>.)",
    re.DOTALL,
)
_KINDS = {"open_comment": "open-comment", "printed": "curly"}
_ESCAPE = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL)
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f]")
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class Token(NamedTuple):
    """One word of a description."""

    kind: str
    """name, quoted (a name in single quotes), string, curly (a string in typographic quotes), open (a string
    without its end), number, operator, comment, open-comment, bad or end."""
    text: str
    """As written, quotes included."""
    start: int
    """Offset in characters."""
    end: int


def tokenize(text: str) -> Iterator[Token]:
    """Yield every token of `text`, comments included, white space left out. Never fails."""
    make = Token._make
    for match in _PATTERN.finditer(text):
        kind = match.lastgroup or "bad"
        if kind != "space":
            yield make((_KINDS.get(kind, kind), match.group(), *match.span()))


def unquoted(text: str) -> str:
    """The value of a quoted token: quotes off, backslash escapes resolved (any other character: itself)."""
    inner = text[1:-1]
    return _ESCAPE.sub(_resolve, inner) if "\\" in inner else inner


def _resolve(match: re.Match[str]) -> str:
    escaped = match.group(1)
    if escaped[0] in "01234567":
        return chr(int(escaped, 8))
    return _CONTROL.get(escaped, escaped)


def quoted(value: str) -> str:
    """The string literal whose value is `value`."""
    body = value.replace("\\", "\\\\").replace('"', '\\"')
    for letter, character in _CONTROL.items():
        body = body.replace(character, f"\\{letter}")
    body = _UNPRINTABLE.sub(lambda found: f"\\{ord(found.group()):03o}", body)
    return f'"{body}"'
