"""The tags that a description gives its jobs."""

from __future__ import annotations

from collections.abc import Iterator

from broker_core.errors import BadRequest
from broker_core.jdl.evaluation.constants import constant
from broker_core.jdl.reading import Reading
from broker_core.jdl.syntax.tree import Ad, Expression
from broker_core.jdl.user_tags import MOST, tag_of, tags_of


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
