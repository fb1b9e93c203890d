"""What a description that stands for many jobs is matched by: its jobs, those of equal demand as one part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from broker_core.broker.submission.compound import Collection, items_of
from broker_core.broker.submission.expansion import helper_for
from broker_core.broker.submission.items import refused
from broker_core.errors import BadRequest
from broker_core.jdl.check import check
from broker_core.jdl.description import JobDescription
from broker_core.jdl.limits import Limits
from broker_core.jdl.parametric import is_parametric
from broker_core.matching.match import Matches
from broker_core.scheduling.demand import PARAMETER, demand_of, significant
from broker_core.wire.matches import MatchPart, MatchReport
from broker_core.wire.submission import SubmissionItem

SHOWN = 200
"""Parts that are matched for one answer; each other one is matched when it is asked for by its name."""
_NAMED = 8
"""Parts that a message names."""
_VALUE = "value "


@dataclass(slots=True)
class DescriptionPart:
    """Jobs of a description that every resource treats alike."""

    name: str
    """The node of the first of them, or `value` and its value."""
    members: tuple[str, ...]
    """Nodes, or values; as often as there are jobs."""
    text: str
    limits: Limits
    parameter: str = ""
    """Value for `_PARAM_`; empty for a node."""
    needs: tuple[str, ...] = ()
    """What the whole needs besides, and so each of its jobs, as in `JobDescription.needs`."""
    _made: JobDescription | None = None

    @property
    def description(self) -> JobDescription:
        """As submitting makes it, always the same one. Raises DescriptionRefused."""
        if self._made is None:
            made = _checked(self.text, self.limits, self.parameter, self.name)
            self._made = replace(made, needs=made.needs + self.needs)
        return self._made

    @property
    def node(self) -> bool:
        """It has a text of its own, so that places in it are none of the whole description."""
        return not self.parameter


def many(description: JobDescription) -> bool:
    """True for a description that stands for more than itself: it is matched by its parts."""
    return description.structure == "Workflow" or (
        description.ad is not None and is_parametric(description.ad)
    )


@lru_cache(maxsize=4)
def parts_of(text: str, limits: Limits) -> tuple[DescriptionPart, ...]:
    """The parts of a description, in its order; none if it stands for one job alone.

    From the same expansion as submitting (CB-UAM-05); a graph has a part for each node. Raises BadRequest
    and DescriptionRefused as submitting does. May take long: those last asked for are kept.
    """
    whole = _checked(text, limits)
    if not many(whole):
        return ()
    item = SubmissionItem(description=text)
    if whole.structure != "Workflow":
        return tuple(part for one in items_of(item, whole) for part in _of_values(one, limits))
    nodes = Collection().items(item, whole)
    if Collection().takes(whole):
        return tuple(_of_nodes(nodes, limits))
    # The scheduler matches a graph as a whole: its jobs run where graphs do.
    return tuple(
        DescriptionPart(one.name, (one.name,), one.description, limits, needs=whole.needs) for one in nodes
    )


def _of_values(item: SubmissionItem, limits: Limits) -> Iterator[DescriptionPart]:
    """One part for each value that matching reads, else one for all."""
    values = item.values or [""]
    first = _checked(item.description, limits, values[0], f"{_VALUE}{values[0]}")
    helper_for(item, first).inspect(item)
    if PARAMETER not in significant(first.ad, item.description):
        yield DescriptionPart(f"{_VALUE}{values[0]}", tuple(values), item.description, limits, values[0])
        return
    for value, count in Counter(values).items():
        yield DescriptionPart(f"{_VALUE}{value}", (value,) * count, item.description, limits, value)


def _of_nodes(items: Sequence[SubmissionItem], limits: Limits) -> Iterator[DescriptionPart]:
    """One part for each demand."""
    alike: dict[str, list[SubmissionItem]] = {}
    for item in items:
        alike.setdefault(_demand(item, limits), []).append(item)
    for those in alike.values():
        first = those[0]
        yield DescriptionPart(first.name, tuple(one.name for one in those), first.description, limits)


def _demand(item: SubmissionItem, limits: Limits) -> str:
    return demand_of(_checked(item.description, limits, place=item.name), item.description).key


def _checked(text: str, limits: Limits, parameter: str = "", place: str = "") -> JobDescription:
    checked = check(text, limits=limits, parameter=parameter)
    if checked.description is None:
        raise refused(checked.diagnostics, place)
    return checked.description


def place_of(parts: Sequence[DescriptionPart], name: str) -> int:
    """The place of the part of this name, or with the job of this name or value; the first if it is empty.

    Raises BadRequest if there is none.
    """
    value = name.removeprefix(_VALUE)
    named = (place for place, part in enumerate(parts) if not name or part.name == name)
    holding = (place for place, part in enumerate(parts) if name in part.members or value in part.members)
    found = next(named, next(holding, None))
    if found is None:
        known = ", ".join(part.name for part in parts[:_NAMED]) + (", ..." if len(parts) > _NAMED else "")
        raise BadRequest(
            "The description has no part of this name.",
            code="no_such_part",
            place=name,
            remedy=f"Use one of {known}." if parts else "It stands for one job alone: name no part.",
        )
    return found


def tell(report: MatchReport, parts: Sequence[DescriptionPart], place: int) -> None:
    """Let the report on one part say which one it is, where there are several."""
    if not parts:
        return
    if parts[place].node:
        for clause in report.clauses:
            clause.start = clause.end = 0
    if len(parts) > 1:
        which = f"part {place + 1:,} of" if place else "the first of"
        plural = "" if place else " parts"
        report.analysis = f"For {parts[place].name}, {which} {len(parts):,}{plural}: {report.analysis}"


def row(part: DescriptionPart, found: Matches) -> MatchPart:
    """The line of one part in the table of all."""
    return MatchPart(
        name=part.name, jobs=len(part.members), matching=len(found.candidates), known=found.known
    )
