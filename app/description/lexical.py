"""The words of a description as the eye needs them: for colours, brackets, completion and slices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from broker_core.jdl.syntax.tokens import KEYWORDS, Token, tokenize

OPENING = "[{("
CLOSING = "]})"
SCOPES = frozenset({"other", "target", "self", "my", "parent"})
"""Words that say whose attribute follows, when a dot does."""
_END = Token("end", "", 0, 0)
_KINDS = {"open-comment": "comment", "open": "string", "curly": "string"}
_PARTNER = dict(zip(CLOSING, OPENING, strict=True))


@dataclass(frozen=True, slots=True)
class LexicalToken:
    """One word of the text and its place, `start` to `end` in characters.

    Its kind: attribute (a name that is given a value), name, function, scope, constant, string, number,
    comment, bracket, end (a semicolon) or operator.
    """

    kind: str
    text: str
    start: int
    end: int
    open: bool = False
    """A comment or string without its end."""


def words(text: str) -> Iterator[LexicalToken]:
    """Yield the words of `text` in order; never fails, whatever the text."""
    for token, after in pairwise([*tokenize(text), _END]):
        if token.kind not in ("bad", "end"):
            yield LexicalToken(
                _kind(token, after), token.text, token.start, token.end, token.kind.startswith("open")
            )


def _kind(token: Token, after: Token) -> str:
    if token.kind in ("name", "quoted"):
        return _kind_of_name(token.text.lower(), after.text)
    if token.kind != "operator":
        return _KINDS.get(token.kind, token.kind)
    if token.text == ";":
        return "end"
    return "bracket" if token.text in OPENING or token.text in CLOSING else "operator"


def _kind_of_name(name: str, after: str) -> str:
    if name in KEYWORDS:
        return "constant"
    if name in SCOPES and after == ".":
        return "scope"
    return {"=": "attribute", "(": "function"}.get(after, "name")


def bracket_pair(text: str, position: int) -> tuple[int, int | None] | None:
    """The bracket at the cursor and its partner, as offsets in characters.

    Looks at the character before `position` first, then at the one after. Returns None where there is no
    bracket, and (offset, None) for a bracket without a partner.
    """
    partners = _partners(text)
    for place in (position - 1, position):
        if place in partners:
            return place, partners[place]
    return None


def _partners(text: str) -> dict[int, int | None]:
    found: dict[int, int | None] = {}
    open_ones: list[LexicalToken] = []
    for word in words(text):
        if word.kind != "bracket":
            continue
        found[word.start] = None
        if word.text in OPENING:
            open_ones.append(word)
        elif open_ones and open_ones[-1].text == _PARTNER[word.text]:
            partner = open_ones.pop().start
            found[partner], found[word.start] = word.start, partner
    return found
