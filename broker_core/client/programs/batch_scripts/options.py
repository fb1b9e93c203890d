"""Tables of options, and reading the options of one directive by them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

_HYPHEN = "Options begin with a hyphen; a value with blanks stands in quotes."
_WORD = re.compile(r"""(?:[^\s"'\\]+|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+""", re.DOTALL)
_QUOTED = re.compile(r"""\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'""", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BatchOption:
    """One option of a batch system."""

    name: str
    """The spelling that is written into `BatchOptions`."""
    argument: str
    """none, value, optional (only behind `=` or glued), or pair (two words)."""
    meaning: str
    """What is done with it: `keep`, `leave`, `refuse`, or the name of a meaning of the dialect."""
    note: str
    """For `leave` and `refuse`: why."""


@dataclass(frozen=True, slots=True)
class GivenOption:
    """One option as a line has it."""

    written: str
    """As far as it can be written down again, for people."""
    option: BatchOption | None
    value: str = ""
    fault: str = ""
    """Why it cannot be used, as a sentence; empty if it can."""


class OptionTable:
    """The options of one batch system by all their spellings."""

    def __init__(self, rows: str, glued: bool = True, parts: Collection[str] = ()) -> None:
        """Read lines `spellings | argument | meaning | note`; the first spelling is the name.

        `glued`: a value may stand behind a letter without a blank; `parts`: words behind which the options
        are those of a further part of the job.
        """
        self._glue = glued
        self.parts = frozenset(parts)
        self._known: dict[str, BatchOption] = {}
        for row in rows.strip().splitlines():
            spellings, argument, meaning, note = (part.strip() for part in row.split("|", 3))
            names = spellings.split()
            option = BatchOption(names[0], argument, meaning, note)
            self._known.update(dict.fromkeys(names, option))

    @property
    def known(self) -> Mapping[str, BatchOption]:
        """Spelling to option."""
        return self._known

    def read(self, words: list[str]) -> Iterator[GivenOption]:
        """The options of one line, whatever it has; each word is part of exactly one."""
        left = list(reversed(words))
        while left:
            word = left.pop()
            yield from self._next(word, left)

    def _next(self, word: str, left: list[str]) -> Iterator[GivenOption]:
        if not word.startswith("-") or word == "-":
            yield GivenOption(word, None, fault=f"“{word}” is no option. {_HYPHEN}")
            return
        head, equals, value = word.partition("=")
        option = self._known.get(head) or self._by_beginning(head)
        if option is not None and not (equals and _short(head)):
            yield _with_value(option, word, head, value if equals else None, left)
        elif self._glue and not word.startswith("--") and (glued := self._known.get(word[:2])) is not None:
            yield from self._glued(glued, word, left)
        else:
            yield GivenOption(word, None, fault=f"There is no option {head}.{self._likely(head)}")

    def _by_beginning(self, head: str) -> BatchOption | None:
        """The one long option that begins so, as getopt allows."""
        if not head.startswith("--") or len(head) < 4:
            return None
        found = {id(one): one for name, one in self._known.items() if name.startswith(head)}
        return next(iter(found.values())) if len(found) == 1 else None

    def _glued(self, option: BatchOption, word: str, left: list[str]) -> Iterator[GivenOption]:
        """`-N2`, or several letters that take no value behind one hyphen."""
        if option.argument != "none":
            yield _with_value(option, word, word[:2], word[2:], left)
            return
        yield GivenOption(word[:2], option)
        if word[2:]:
            yield from self._next(f"-{word[2:]}", left)

    def _likely(self, head: str) -> str:
        close = difflib.get_close_matches(head, self._known, 1, 0.75) if len(head) < 40 else []
        return f" {close[0]} is meant, perhaps." if close else ""


def _short(head: str) -> bool:
    return len(head) == 2


def _with_value(option: BatchOption, word: str, head: str, value: str | None, left: list[str]) -> GivenOption:
    wanted = {"value": 1, "pair": 2}.get(option.argument, 0)
    if value is None and option.argument == "optional":
        return GivenOption(word, option)
    if value is not None and option.argument == "none":
        return GivenOption(word, option, value, f"{head} takes no value.")
    taken = [] if value is None else [value]
    while len(taken) < wanted and left:
        taken.append(left.pop())
    written = " ".join([word, *taken[0 if value is None else 1 :]])
    if len(taken) < wanted or (wanted and not taken[0]):
        return GivenOption(written, option, " ".join(taken), f"{head} needs a value.")
    return GivenOption(written, option, " ".join(taken))


def words_of(line: str) -> list[str]:
    """Words of a line as a shell splits them, up to a comment; raises ValueError for an open quote."""
    words: list[str] = []
    at = 0
    while True:
        while at < len(line) and line[at].isspace():
            at += 1
        if at == len(line) or line[at] == "#":
            return words
        found = _WORD.match(line, at)
        if found is None or (found.end() < len(line) and not line[found.end()].isspace()):
            raise ValueError("A quote or backslash in this line is not closed.")
        words.append(_QUOTED.sub(_bare, found[0]))
        at = found.end()


def _bare(found: re.Match[str]) -> str:
    if found[1] is not None:
        return found[1]
    return found[3] if found[3] is not None else _ESCAPED.sub(r"\1", found[2])
