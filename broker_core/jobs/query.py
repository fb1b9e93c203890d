"""The query language of the jobs table: `state:running cpu:>4 name:ann* exit:≠0 failed:today`. Pure.

Terms are joined by "and"; a comma inside a value means "or"; a minus before a term negates it; a word without
a colon is looked for in name, id, site, parameter and tags. Quotes keep spaces together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from broker_core.errors import BadRequest
from broker_core.jdl.user_tags import tag_of
from broker_core.jobs.query_fields import FIELDS, QueryRefused, Test

_TERM = re.compile(r'\s*(-?)(?:([A-Za-z]+):)?((?:"[^"]*"?|[^\s"])*)')
_ALIASES = {
    "cpus": "cpu",
    "parameter": "param",
    "host": "site",
    "ce": "site",
    "run": "runtime",
    "mem": "memory",
    "tags": "tag",
    "notes": "note",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a part of a query; places in characters."""

    start: int
    end: int
    message: str


class UnclearQuery(BadRequest):
    """Parts of a query mean nothing; the message says for each what would."""

    code = "unclear_query"

    def __init__(self, query: JobQuery) -> None:
        wrong = query.problems
        parts = ", ".join(query.text[one.start : one.end] for one in wrong)
        super().__init__(" ".join(dict.fromkeys(one.message for one in wrong)), place=parts)
        self.text = query.text
        self.problems = wrong

    @property
    def marks(self) -> str:
        """A line to stand below the text, with a mark below each character of a part that is wrong."""
        return "".join(
            "^" if any(one.start <= at < one.end for one in self.problems) else " "
            for at in range(len(self.text))
        ).rstrip()


@dataclass(frozen=True, slots=True)
class JobQuery:
    """A parsed query; what could not be understood is in `problems` and left out of the tests."""

    text: str
    tests: tuple[Test, ...]
    problems: tuple[Problem, ...]

    @property
    def outside(self) -> bool:
        """True if it asks for jobs that were submitted outside CrossDesk, by the term `outside:`."""
        terms = _TERM.findall(self.text)
        return any(not minus and field.lower() == "outside" for minus, field, _ in terms)

    def checked(self) -> JobQuery:
        """Return the query itself; raises UnclearQuery where a part was not understood."""
        if self.problems:
            raise UnclearQuery(self)
        return self

    def matches(self, columns: Mapping[str, Sequence[Any]], row: int, now: float) -> bool:
        """True if the row of that number is wanted."""
        return all(test(columns, row, now) for test in self.tests)

    def select(self, columns: Mapping[str, Sequence[Any]], rows: Iterable[int], now: float) -> list[int]:
        """Return those of the rows that are wanted, in their order."""
        chosen = list(rows)
        for test in self.tests:
            chosen = [row for row in chosen if test(columns, row, now)]
        return chosen


def parse(text: str) -> JobQuery:
    """Parse a query; never raises."""
    tests: list[Test] = []
    problems: list[Problem] = []
    place = 0
    while place < len(text):
        found = _TERM.match(text, place)
        if found is None or found.end() == place:
            break
        place = found.end()
        start = found.start(1)
        if start == place:
            continue
        try:
            tests.append(_term(found[1], found[2], found[3]))
        except QueryRefused as refused:
            problems.append(Problem(start, place, str(refused)))
    return JobQuery(text, tuple(tests), tuple(problems))


def _term(minus: str, field: str | None, value: str) -> Test:
    test = _word(value.replace('"', "").lower()) if field is None else _field(field.lower(), value)
    return (lambda columns, row, now: not test(columns, row, now)) if minus else test


def _field(name: str, value: str) -> Test:
    known = FIELDS.get(_ALIASES.get(name, name))
    if known is None:
        raise QueryRefused(f"There is no field {name!r}. Fields are {', '.join(FIELDS)}.")
    parts = [part.replace('"', "").lower() for part in _alternatives(value)]
    if not parts and known.alone:
        parts = [known.alone]
    if not parts:
        raise QueryRefused(
            f"Write a value after {name}:, for example {name}:{(known.values or ('text',))[0]}."
        )
    tests = [known.make(part) for part in parts]
    if len(tests) == 1:
        return tests[0]
    return lambda columns, row, now: any(test(columns, row, now) for test in tests)


def _alternatives(value: str) -> list[str]:
    return [part for part in re.findall(r'(?:"[^"]*"?|[^,"])+', value) if part.strip('"')]


def _word(word: str) -> Test:
    def test(columns: Mapping[str, Sequence[Any]], row: int, now: float) -> bool:
        return (
            word in columns["name"][row].lower()
            or word in columns["parameter"][row].lower()
            or word in columns["site"][row].lower()
            or word in columns["tags"][row].lower()
            or columns["id"][row].lower().startswith(word)
        )

    return test


@dataclass(frozen=True, slots=True)
class QuerySuggestion:
    """A completion: replaces the characters from `start` to the cursor by `text`."""

    start: int
    text: str
    about: str


def complete(text: str, cursor: int, tags: Sequence[str] = ()) -> list[QuerySuggestion]:
    """Return what may stand at the cursor: fields, or the values of the field before it.

    `tags`: those in use, offered behind `tag:`.
    """
    before = text[:cursor]
    start = max(before.rfind(" "), -1) + 1
    word = before[start:].lstrip("-")
    start = cursor - len(word)
    name, colon, value = word.partition(":")
    if not colon:
        return [QuerySuggestion(start, f"{field}:", known.about) for field, known in FIELDS.items()
                if field.startswith(name.lower())]  # fmt: skip
    known = FIELDS.get(_ALIASES.get(name.lower(), name.lower()))
    part = value.rpartition(",")[2]
    if known is None:
        return []
    values = (*tags, *known.values) if known is FIELDS["tag"] else known.values
    return [QuerySuggestion(cursor - len(part), f"{one} ", known.about) for one in values
            if one.lower().startswith(part.lower()) and one != part]  # fmt: skip


def common_tag(text: str) -> str:
    """The tag that all jobs of a query bear, as a term of it asks for just this one; empty without one."""
    for minus, field, value in _TERM.findall(text):
        if (
            not minus
            and _ALIASES.get(field.lower(), field.lower()) == "tag"
            and not set(value) & set('*?[,"')
        ):
            try:
                return tag_of(value)
            except BadRequest:
                continue
    return ""
