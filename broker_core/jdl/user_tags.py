"""Tags: short words by which users find their jobs again; what UserTags of a description says. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

from broker_core.errors import BadRequest
from broker_core.jdl.evaluation.constants import constant
from broker_core.jdl.reading import Reading
from broker_core.jdl.syntax.tree import Ad, Expression

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


def described_tags(reading: Reading) -> tuple[str, ...]:
    """The tags that UserTags names: `[study = "A-17"; pilot = true]` is study:A-17 and pilot, a list is its
    texts; JobGroup "x" is JobGroup:x. What can be no tag is complained about."""
    node, group = reading.node("usertags"), reading.string("jobgroup")
    written = [("usertags", text, at) for text, at in (_written(reading, node) if node is not None else ())]
    if group and (at := reading.node("jobgroup")) is not None:
        written.append(("jobgroup", f"JobGroup:{group}", at))
    found: list[str] = []
    for key, text, at in written:
        try:
            found.append(tag_of(text))
        except BadRequest as refused:
            message = f"{refused.message} {refused.remedy} The job goes without this tag."
            reading.warning("tag-form", message, key, at)
    tags = tags_of(found)
    if len(tags) > MOST:
        message = f"A job has at most {MOST} tags, these are {len(tags)}; it goes without the last ones."
        reading.warning("tag-form", message, "usertags")
    return tags[:MOST]


def _written(reading: Reading, node: Expression) -> Iterator[tuple[str, Expression]]:
    if not isinstance(node, Ad):
        yield from reading.strings("usertags")
        return
    for entry in node:
        value = constant(entry.value, reading.ad, reading.findings.budget)
        if isinstance(value, str | int | float):
            yield (entry.name if value is True else f"{entry.name}:{_plain(value)}"), entry.value
        else:
            message = f"{entry.name} of UserTags is no text and no number; the job goes without this tag."
            reading.warning("tag-form", message, "usertags", entry.value)


def _plain(value: str | float) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
