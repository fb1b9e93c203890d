"""Tags: short words by which users find their jobs again. Pure, and imports nothing of the language: the
desktop reads it before its first painting."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from broker_core.errors import BadRequest

MOST = 16
"""Tags of one job at most."""
LONGEST = 64
"""Characters of a tag at most."""
_SIGNS = frozenset("-_.:")
_REMEDY = "Write letters, digits and - _ . : without spaces, a letter or digit first."


def tag_of(text: str) -> str:
    """The tag that a text is, in one spelling of its accents; raises BadRequest if it can be none."""
    tag = unicodedata.normalize("NFC", text.strip())
    if not tag:
        raise BadRequest("A tag needs at least one character.", code="bad_tag", remedy=_REMEDY)
    if len(tag) > LONGEST:
        message = f"A tag has at most {LONGEST} characters, this one has {len(tag):,}."
        raise BadRequest(message, code="bad_tag", place=tag[:LONGEST], remedy="Choose a shorter word.")
    wrong = next((char for char in tag if char not in _SIGNS and not _of_word(char)), "")
    if wrong or tag[0] in _SIGNS:
        message = f"A tag cannot {'have' if wrong else 'begin with'} {(wrong or tag[0])!r}."
        raise BadRequest(message, code="bad_tag", place=tag, remedy=_REMEDY)
    return tag


def tags_of(texts: Iterable[str]) -> tuple[str, ...]:
    """The tags that texts are, those that differ in case alone once; raises BadRequest."""
    found: dict[str, str] = {}
    for text in texts:
        tag = tag_of(text)
        found.setdefault(tag.casefold(), tag)
    return tuple(found.values())


def _of_word(char: str) -> bool:
    """True for letters and digits of any script, with the marks that are written above or below them."""
    return unicodedata.category(char)[0] in "LMN"
