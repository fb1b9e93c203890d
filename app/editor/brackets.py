"""Which bracket belongs to which; brackets inside strings and comments do not count."""

from __future__ import annotations

from app.editor.lexical import CLOSING, OPENING, Word, words

_PARTNER = dict(zip(CLOSING, OPENING, strict=True))


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
    open_ones: list[Word] = []
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
