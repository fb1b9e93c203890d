"""How the answer of list-match is printed: groups by size, then the reasons (CB-CMD-06)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from broker_core.command_line import output, words
from broker_core.wire.matches import MatchedGroup, MatchedResource, MatchPart, MatchReport, StartForecast

_HEADS = ("TOTAL CPUS", "FREE CPUS")
_WIDTH = len(_HEADS[0]) + 2


def notes(report: MatchReport) -> None:
    """That the policy or the collective condition asked for failed, if one did."""
    if report.notes:
        output.say(report.notes, "yellow")


def parts(found: Sequence[MatchPart]) -> None:
    """The parts of a description that stands for several kinds of jobs, and an empty line."""
    if len(found) < 2:
        return
    rows = [("PART", "JOBS", "MATCHING")]
    rows += [(one.name, f"{one.jobs:,}", f"{one.matching:,}") for one in found]
    width = max(len(name) for name, _, _ in rows)
    for name, jobs, matching in rows:
        output.line(f"{name.ljust(width)}{jobs:>8}{matching:>10}")
    output.line("")


def groups(pages: Sequence[MatchReport]) -> None:
    """For each size that occurs: a heading, and below it the groups with their ranks and members."""
    found = [group for page in pages for group in page.groups]
    if not _over_several(pages[0]):
        found = [_alone(one) for page in pages for one in page.resources if one.matches]
    names = (len(member.ce) + 4 for group in found for member in group.members)
    width = max(len(_heading(10)), *names, 0) + 2
    foreseen = any(member.expected_wait is not None for group in found for member in group.members)
    heads = (*_HEADS, "START") if foreseen else _HEADS
    for size, same in groupby(found, key=lambda group: group.size):
        output.line(_heading(size).ljust(width) + "".join(head.rjust(_WIDTH) for head in heads))
        for group in same:
            _group(group, width)


def _over_several(report: MatchReport) -> bool:
    """The job may use several CEs; only then were sets searched for."""
    return bool(report.trace)


def _alone(one: MatchedResource) -> MatchedGroup:
    """One resource as a group of size 1."""
    return MatchedGroup.model_construct(
        size=1, rank=one.rank, total_cpus=one.total_cpus, free_cpus=one.free_cpus, members=[one]
    )


def _heading(size: int) -> str:
    return f"Groups with {size} CE{'' if size == 1 else 's'}"


def _group(group: MatchedGroup, width: int) -> None:
    rank = "rank n/a" if group.rank is None else f"rank {group.rank:.10g}"
    sums = _counts(group.total_cpus, group.free_cpus) if group.size > 1 else ""
    output.line(f"  {rank}".ljust(width) + sums if sums else f"  {rank}")
    for index, member in enumerate(group.members):
        counts = _counts(member.total_cpus, member.free_cpus)
        output.line(f"    {member.ce}".ljust(width) + counts + _start(member.expected_wait))
        for number, part in enumerate(group.components, 1):
            if part.member == index:
                output.line(f"      component {number}: {part.cpus} CPU{'' if part.cpus == 1 else 's'}")


def _start(wait: float | None) -> str:
    """When a job would start there, if somebody says so."""
    if wait is None:
        return ""
    return (f"in {words.duration(wait)}" if wait >= 1 else "at once").rjust(_WIDTH)


def _counts(total: int, free: int) -> str:
    return f"{total:>{_WIDTH}}{free:>{_WIDTH}}"


def forecasts(found: Iterable[StartForecast]) -> None:
    """What batch systems say of the start of the job, one line for each."""
    for one in found:
        if one.trouble or one.wait is None:
            output.say(f"{one.ce}: {one.trouble or 'nobody tells when it would start there'}", "yellow")
        else:
            begin = f"in about {words.duration(one.wait)}" if one.wait >= 1 else "at once"
            output.line(f"{one.ce}: sent now, it would start {begin}, says {one.source}")


def summary(report: MatchReport, explain: bool) -> None:
    """How many match, what keeps the rest out, and what would help."""
    if not report.matching:
        output.say("No resource matches now.", "bold yellow")
    elif _over_several(report) and not report.groups_total:
        output.say("No set of the resources that match has enough free CPUs now.", "bold yellow")
    for sentence in dict.fromkeys((report.analysis, report.advice)):
        if sentence and (sentence is report.analysis or sentence not in report.analysis):
            output.say(sentence, "cyan")
    others = report.known - report.matching
    if others and not explain:
        what = "1 other resource does" if others == 1 else f"{others:,} other resources do"
        output.say(f"{what} not match; --explain tells why.", "dim")
    if explain and report.clauses:
        output.line("")
        output.line("SATISFIED AT  CLAUSE")
        for clause in report.clauses:
            output.line(f"{clause.satisfied:>12}  {clause.text}")


def rejected(resources: Iterable[MatchedResource]) -> None:
    """Each resource with the reason, and below it every clause with its value there."""
    for one in resources:
        output.line("")
        output.line(f"{one.ce}: {one.reason}")
        width = max((len(clause.text) for clause in one.clauses), default=0)
        for clause in one.clauses:
            text = f"    {clause.value:<9}  {clause.text.ljust(min(width, 60))}  {clause.explanation}"
            output.line(text.rstrip())
