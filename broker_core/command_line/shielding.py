"""Words that begin with a dash and are no options: ids, terms of queries, expressions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

WHOLE_ID = re.compile(r"[A-Za-z0-9_-]{22}")
"""The id of a job."""
_SHIELD = "typed:"
_NEGATED = re.compile(r"-[A-Za-z]+:.")
_QUERIES = frozenset({("job", "list"), ("job", "top"), ("job", "tag")})
"""Commands that take a query."""
_WITH_VALUE = ("--self", "--other", "--from", "--state-dir")
"""Options of `jdl eval`: what follows is theirs."""


def shielded(words: Sequence[str]) -> list[str]:
    """The words with those marked that are not to be taken for options: ids; in front of a query also terms
    with a minus, such as `-state:done`; expressions of `jdl eval`."""
    pairs = list(pairwise(words))
    if ("jdl", "eval") in pairs:
        behind = pairs.index(("jdl", "eval")) + 2
        return [*words[:behind], *(_expression(words, at) for at in range(behind, len(words)))]
    listing = any(pair in _QUERIES for pair in pairs)
    return [_SHIELD + word if _is_no_option(word, listing) else word for word in words]


def unshielded(word: str) -> str:
    """The word as it was typed."""
    return word.removeprefix(_SHIELD)


def _is_no_option(word: str, listing: bool) -> bool:
    return word[:1] == "-" and bool(WHOLE_ID.fullmatch(word) or (listing and _NEGATED.match(word)))


def _expression(words: Sequence[str], at: int) -> str:
    word = words[at]
    minus = word[:1] == "-" and word[1:2] not in ("", "-") and word != "-h"
    return _SHIELD + word if minus and words[at - 1] not in _WITH_VALUE else word
