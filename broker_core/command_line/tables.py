"""Aligned tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from broker_core.command_line import words
from broker_core.command_line.job.folding import BatchLine, failure_of
from broker_core.command_line.output import cell, line, results
from broker_core.jobs.annotations import counted_tags
from broker_core.jobs.components import CoallocationStory, ComponentStanding
from broker_core.jobs.site_names import site_name
from broker_core.wire.outside import OutsideJob


def table(heads: Sequence[str], rows: Iterable[Sequence[str | Text]], *, right: Iterable[str] = ()) -> None:
    """Print rows under heads; columns named in `right` hold numbers. The first column is never cut."""
    shown = Table(box=None, pad_edge=False, header_style="bold", show_edge=False, padding=(0, 2, 0, 0))
    numbers = set(right)
    for index, head in enumerate(heads):
        shown.add_column(
            Text(head),
            justify="right" if head in numbers else "left",
            no_wrap=True,
            overflow="ellipsis",
            min_width=22 if index == 0 and head == "ID" else None,
        )
    for row in rows:
        shown.add_row(*map(cell, row))
    results().print(shown)


def jobs(rows: Sequence[dict[str, Any] | BatchLine]) -> None:
    """The jobs table; a batch is one line."""
    heads: Sequence[str] = (
        "ID",
        "NAME",
        "STATE",
        "CPUS",
        "SUBMITTED",
        "RUN TIME",
        "EXIT",
        "SITE",
        "TAGS",
        "WHY",
    )
    lines: list[Sequence[str | Text]] = [
        _batch(row) if isinstance(row, BatchLine) else _job(row) for row in rows
    ]
    # Without tags that column goes; so does the last where none failed, or says more than its exit code.
    idle = {at for at in (len(heads) - 2, len(heads) - 1) if not any(str(line[at]) for line in lines)}
    heads = [head for at, head in enumerate(heads) if at not in idle]
    lines = [[cell for at, cell in enumerate(line) if at not in idle] for line in lines]
    table(heads, lines, right=("CPUS", "RUN TIME", "EXIT"))


def outside_jobs(found: Sequence[OutsideJob]) -> None:
    """The table of jobs that were submitted outside CrossDesk."""
    heads = ("SITE/ID", "NAME", "STATE", "CPUS", "SUBMITTED", "RUN TIME", "EXIT", "QUEUE", "WHY")
    rows = [
        (
            job.key,
            job.name,
            words.state(job.state, job.exit_code) + Text(f" ({job.word})" if job.word else ""),
            str(job.cpus),
            words.ago(job.submitted),
            words.run_time(job.model_dump()),
            "" if job.exit_code is None else str(job.exit_code),
            job.queue,
            job.reason,
        )
        for job in found
    ]
    table(heads, rows, right=("CPUS", "RUN TIME", "EXIT"))


def _batch(batch: BatchLine) -> tuple[str | Text, ...]:
    cpus = sum(row["cpus"] for row in batch.rows)
    submitted = words.ago(min(row["submitted"] for row in batch.rows))
    return (
        batch.id,
        batch.name,
        batch.standing,
        str(cpus),
        submitted,
        "",
        "",
        site_name(batch.site),
        _tags(batch.rows),
        batch.failure,
    )


def _job(row: dict[str, Any]) -> tuple[str | Text, ...]:
    held = row.get("held")
    state = words.standing(row)
    return (
        row["id"],
        words.name(row),
        state + Text(" (held)", style="yellow") if held else state,
        str(row["cpus"]),
        words.ago(row["submitted"]),
        words.run_time(row),
        words.exit_code_or_signal(row),
        site_name(row["site"]),
        _tags([row]),
        _why(row),
    )


def _tags(rows: Sequence[dict[str, Any]]) -> str:
    """The tags that some of the jobs bear."""
    return ", ".join(tag for tag, _ in counted_tags(row.get("tags", "") for row in rows))


def _why(row: dict[str, Any]) -> str:
    """Why a job failed, where the columns before do not say it: the last words of its standard error."""
    failed = failure_of(row)
    plain = failed == words.exit_code_or_signal(row) or failed == f"exit {row['exit_code']}"
    return failed and (row.get("error_line") or ("" if plain else failed))


def components(story: CoallocationStory) -> None:
    """What each site of one job does, and how the barrier stands."""
    heads = ("COMPONENT", "CPUS", "RANKS", "SUBMITTED", "STARTED", "MPI_INIT", "RELEASED", "NOW")
    rows: list[Sequence[str | Text]] = [
        (
            one.site,
            str(one.cpus),
            one.ranks,
            *(
                words.clock(time) if time is not None else ""
                for time in (one.submitted, one.started, one.gathered, one.released)
            ),
            Text(one.words, style="red" if one.standing is ComponentStanding.FAILED else ""),
        )
        for one in story.components
    ]
    line("")
    table(heads, rows, right=("CPUS",))
    line(f"Barrier: {story.barrier}")
    line(f"Between sites: {_between_sites(story)}")
    for one in story.reactions:
        plan = f" {one.plan}." if one.plan else ""
        line(f"{words.clock(one.time)}  Attempt {one.attempt} was given up: {one.reason}.{plan}")


def _between_sites(story: CoallocationStory) -> str:
    """Which way what the components say to each other takes, and how much that was."""
    if story.carried is None:
        return f"{story.between}; what they carry is not counted."
    each = (
        f"{one.site} sent {words.size(one.sent)}, was sent {words.size(one.received or 0)}"
        for one in story.components
        if one.sent is not None
    )
    return f"{story.between}; {words.size(story.carried)} so far ({'; '.join(each)})."


def facts(pairs: Iterable[tuple[str, str | Text]]) -> None:
    """Names and values below each other; empty values are left out."""
    shown = Table(box=None, pad_edge=False, show_header=False, show_edge=False, padding=(0, 2, 0, 0))
    shown.add_column(style="dim", no_wrap=True)
    shown.add_column(overflow="fold")
    for name, value in pairs:
        if value:
            shown.add_row(cell(name), cell(value))
    results().print(shown)
