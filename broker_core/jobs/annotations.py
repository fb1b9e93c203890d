"""Annotations: the tags and the note that the owner of a job gave it, in whatever state it is. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from broker_core.errors import BadRequest
from broker_core.jdl.user_tags import MOST, tags_of
from broker_core.jobs.record import COLUMNS

ANNOTATION_COLUMNS = ("tags", "note")
"""Columns of a row of the jobs table that are no fields of its record; tags stand with spaces between."""
PAGE_COLUMNS: tuple[str, ...] = (*COLUMNS, *ANNOTATION_COLUMNS)
"""Names of the columns of a jobs page: the fields of JobRecord, then its tags and its note."""
LONGEST_NOTE = 4096
"""Bytes of a note at most, in UTF-8."""
NOTED_AT_ONCE = 1000
"""Jobs that get the same note in one request at most."""


@dataclass(frozen=True, slots=True)
class AnnotationChange:
    """What is to become different; see `change_of`."""

    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    note: str | None = None
    """None: it stays as it is; empty: there is none any more."""


def change_of(
    add: Iterable[str] = (), remove: Iterable[str] = (), note: str | None = None
) -> AnnotationChange:
    """A change in order; raises BadRequest for what is no tag, or a note that is too long."""
    if note is not None:
        note = note.strip().replace("\r\n", "\n").replace("\0", "")
        size = len(note.encode("utf-8", "replace"))
        if size > LONGEST_NOTE:
            raise BadRequest(
                f"The note has {size:,} bytes, at most {LONGEST_NOTE:,} are kept.",
                code="long_note",
                remedy="Shorten it, or put the text into a file beside the job.",
            )
        note = note.encode("utf-8", "replace").decode()
    return AnnotationChange(tags_of(add), tags_of(remove), note)


@dataclass(frozen=True, slots=True)
class Annotation:
    """Tags and note of one job."""

    tags: tuple[str, ...] = ()
    note: str = ""

    @property
    def text(self) -> str:
        """The tags with spaces between."""
        return " ".join(self.tags)

    def changed(self, change: AnnotationChange) -> Annotation:
        """The annotation after a change; raises BadRequest if that were too many tags.

        Tags that differ in case alone are the same: the spelling that was first stays.
        """
        gone = {tag.casefold() for tag in change.remove}
        tags = {tag.casefold(): tag for tag in self.tags if tag.casefold() not in gone}
        for tag in change.add:
            tags.setdefault(tag.casefold(), tag)
        if len(tags) > MOST:
            raise BadRequest(
                f"A job has at most {MOST} tags.", code="many_tags", remedy="Remove others first."
            )
        return Annotation(tuple(tags.values()), self.note if change.note is None else change.note)


def tags_in(text: str) -> list[str]:
    """The tags of a row's column."""
    return text.split()


def counted_tags(columns: Iterable[str] | Mapping[str, int]) -> list[tuple[str, int]]:
    """Tags of many rows with their numbers, in the order of the alphabet; of several spellings the most used.

    `columns`: the column of each row, or each content of the column with the number of its rows.
    """
    spellings: dict[str, Counter[str]] = {}
    for text, number in Counter(columns).items():
        for tag in tags_in(text):
            spellings.setdefault(tag.casefold(), Counter())[tag] += number
    found = [(count.most_common(1)[0][0], count.total()) for count in spellings.values()]
    return sorted(found, key=lambda one: one[0].casefold())
