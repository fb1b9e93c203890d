"""The smallest change that would make a description match, and the whole in one sentence."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Protocol

import numpy as np
import numpy.typing as npt

from broker_core.jdl.description import JobDescription
from broker_core.matching.columnar.view import View
from broker_core.matching.condition import Condition
from broker_core.matching.context import Context
from broker_core.matching.findings import ClauseCount, Findings, Test
from broker_core.matching.grouping import Grouping
from broker_core.matching.rejected import Rejections

_NOT_OURS = 10
"""Effort of what the owner of the job cannot change."""
_EFFORT = {"requirements": 1, "policy": 2, "cpus": 2}
_PATTERNS_MAX = 1000
"""Different sets of obstacles that are looked at, the most frequent ones."""
_VERBS = frozenset({"accepts", "carries", "gives", "offers"})
"""With which texts of tests begin; all others name what a site has."""


class Advised(Protocol):
    """What advice needs of the answer for a description; see `match.Matches`."""

    @property
    def description(self) -> JobDescription:
        """What was asked for."""
        ...

    @property
    def context(self) -> Context:
        """Settings and users."""
        ...

    @property
    def view(self) -> View:
        """The resources as they were matched."""
        ...

    @property
    def candidates(self) -> Sized:
        """Those that match."""
        ...

    @property
    def groups(self) -> Sized:
        """Sets of them that match together."""
        ...

    @property
    def known(self) -> int:
        """Resources there are."""
        ...

    @property
    def several(self) -> bool:
        """The job may use several computing elements."""
        ...

    @property
    def findings(self) -> Findings:
        """The value of every condition and clause everywhere."""
        ...

    @property
    def rejected(self) -> Rejections:
        """Those that do not match."""
        ...

    @property
    def grouping(self) -> Grouping:
        """The search for sets."""
        ...

    @property
    def counts(self) -> Sequence[ClauseCount]:
        """How many satisfy each condition and clause."""
        ...


def advise(matches: Advised) -> str:
    """One sentence: what to change, and how many resources that gives."""
    if not matches.known:
        return "No resource is known yet."
    if matches.several and matches.candidates:
        return _too_few_together(matches)
    if matches.rejected.now_only:
        waiting = matches.rejected.now_only
        return f"{waiting:,} of {matches.known:,} would match when idle; the job waits for that."
    findings = matches.findings
    best = min(
        _patterns(matches), key=lambda one: (_effort(findings.tests, one[0]), -one[1], one[0]), default=None
    )
    if best is None:
        return f"None of the {matches.known:,} known resources can be used by this broker."
    tests = [findings.tests[place] for place in best[0]]
    needed = [_having(_text(test)) for test in tests if _EFFORT.get(_origin(test), _NOT_OURS) >= _NOT_OURS]
    if needed:
        return f"A site is needed that {_joined(needed)}; none of the {matches.known:,} known does."
    done = _joined(_in_words(matches, best[0]))
    return f"{done[:1].upper()}{done[1:]} gives {_given(matches, *best)}."


def analyze(matches: Advised) -> str:
    """How many match, which condition lets fewest through, and which one stands in the way alone."""
    known, matching = matches.known, len(matches.candidates)
    if not known:
        return "No resource is known yet."
    head = f"{format(matching, ',') if matching else 'None'} of {known:,} known resources "
    head += "matches" if matching == 1 else "match"
    if matches.several and matching:
        head += _in_sets(len(matches.groups))
    told = _hardest(matches)
    return f"{head}: {'; '.join(told)}." if told else f"{head}."


def _in_sets(count: int) -> str:
    if not count:
        return ", but no set of them is enough now"
    return f", in {count:,} set{'' if count == 1 else 's'}"


def _hardest(matches: Advised) -> list[str]:
    told = []
    findings, counts, known = matches.findings, matches.counts, matches.known
    places = range(findings.barring, len(counts))
    fewest = min(places, key=lambda place: counts[place].satisfied, default=None)
    if fewest is not None and counts[fewest].satisfied < known:
        told.append(f"{counts[fewest].satisfied:,} of {known:,} satisfy {_named(findings, fewest)}")
    most = max(places, key=lambda place: counts[place].alone, default=None)
    if most is not None and counts[most].alone:
        more = " more" if matches.candidates else ""
        told.append(f"dropping {_named(findings, most)} gives {counts[most].alone:,}{more}")
    barred = int(np.count_nonzero(findings.bars.down))
    if barred:
        told.append(f"{barred:,} cannot be used now")
    return told


def _named(findings: Findings, place: int) -> str:
    test = findings.tests[place]
    if isinstance(test, Condition):
        return f"'{test.text}'"
    first = len(findings.tests) - len(findings.plan.wish.requirements)
    return f"clause {place - first + 1} ({test.wording.text})"


def _too_few_together(matches: Advised) -> str:
    grouping = matches.grouping
    if grouping.lacking:
        return f"{len(matches.candidates):,} of {matches.known:,} match, but {grouping.lacking}."
    all_ = "all together have" if grouping.sites is None else "with one queue of each site, all together have"
    return (
        f"{len(matches.candidates):,} of {matches.known:,} match, but no set of at most"
        f" {matches.context.max_ces_per_set} has {matches.description.cpus} free CPUs;"
        f" {all_} {grouping.together}."
    )


def _patterns(matches: Advised) -> list[tuple[tuple[int, ...], int]]:
    """Sets of obstacles that stay when idle, each with the number of resources that match without them."""
    findings = matches.findings
    rows = matches.rejected.rows
    rows = rows[~findings.bars.for_good[rows]]
    if not len(rows):
        return []
    packed = np.packbits(findings.when_idle[:, rows], axis=0).T
    sets, counts = np.unique(packed, axis=0, return_counts=True)
    common = np.argsort(-counts, kind="stable")[:_PATTERNS_MAX]
    return [
        (
            tuple(_places(sets[one], len(findings.tests))),
            int(counts[(sets & ~sets[one] == 0).all(axis=1)].sum()),
        )
        for one in common
    ]


def _places(packed: npt.NDArray[np.uint8], count: int) -> list[int]:
    return [int(place) for place in np.flatnonzero(np.unpackbits(packed, count=count))]


def _effort(tests: Sequence[Test], places: tuple[int, ...]) -> int:
    """Dropping a clause is easy; another kind of job or another program is not."""
    return sum(_EFFORT.get(_origin(tests[place]), _NOT_OURS) for place in places)


def _origin(test: Test) -> str:
    return test.origin if isinstance(test, Condition) else "requirements"


def _text(test: Test) -> str:
    return test.text if isinstance(test, Condition) else test.wording.text


def _having(text: str) -> str:
    """The text of a test as what a site does: `offers OPENMPI`, `has a node with 3 GPUs`."""
    return text if text.partition(" ")[0] in _VERBS else f"has {text}"


def _given(matches: Advised, places: tuple[int, ...], when_idle: int) -> str:
    """How many match now without the tests at some places, and how many once they are idle."""
    rows = matches.rejected.rows
    others = np.delete(matches.findings.failed, places, axis=0)
    now = int(np.count_nonzero(~others[:, rows].any(axis=0)))
    if now == when_idle:
        return f"{now:,} of {matches.known:,}"
    if not now:
        return f"{when_idle:,} of {matches.known:,} when idle"
    return f"{now:,} of {matches.known:,} ({when_idle:,} when idle)"


def _in_words(matches: Advised, places: tuple[int, ...]) -> list[str]:
    """What to do, each kind of it once."""
    tests = matches.findings.tests
    given_up = [_named(matches.findings, place) for place in places if _origin(tests[place]) == "policy"]
    dropped = [_named(matches.findings, place) for place in places if _origin(tests[place]) == "requirements"]
    kind = "conditions" if len(given_up) > 1 else "condition"
    told = [f"giving up the {kind} {_joined(given_up)}"] if given_up else []
    if any(_origin(tests[place]) == "cpus" for place in places):
        told.append(_fewer(matches))
    return [*told, f"dropping {_joined(dropped)}"] if dropped else told


def _fewer(matches: Advised) -> str:
    most = int(matches.view.pool.total[: matches.view.size].max())
    return f"asking for fewer CPUs (at most {most} instead of {matches.description.cpus})"


def _joined(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
