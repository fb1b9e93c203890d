"""The columns of the jobs table (CB-UI-02): what each shows, sorts by and tells in its tooltip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app import units
from app.widgets.csv_file import Written
from app.widgets.state_style import StateStyle, style_of
from broker_core.jobs.annotations import tags_in
from broker_core.jobs.outcome import ended_by, failure_line
from broker_core.jobs.placement import ids_in
from broker_core.jobs.site_names import queue_name, site_name

Held = Mapping[str, Sequence[Any]]
Cell = Callable[[Held, int, float], str]
Key = Callable[[Held, int, float], Any]
_FIELDS = (
    *("id", "name", "parameter", "structure", "interactive", "site", "cpus"),
    *("submitted", "started", "ended", "exit_code", "signal", "batch", "reason"),
    *("memory", "tags", "note"),
)
_TIMES = frozenset({"submitted", "started", "ended"})
Columns = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class JobColumn:
    """One column; `cell` gives its text and `key` what it sorts by, both from (columns, row, now)."""

    name: str
    title: str
    width: int
    cell: Cell
    key: Key
    tip: Cell | None = None
    right: bool = False
    """Right aligned, as numbers are."""
    shown: bool = True
    """Shown before the user chose."""
    live: bool = False
    """Changes as time passes."""


def _said(name: str) -> Cell:
    return lambda held, row, now: held[name][row] or ""


def _sorted_text(name: str) -> Key:
    return lambda held, row, now: (held[name][row] or "").lower()


def _tags(held: Held, row: int, now: float) -> str:
    return ", ".join(tags_in(held["tags"][row]))


def _first_line(held: Held, row: int, now: float) -> str:
    return (held["note"][row] or "").partition("\n")[0]


def _number(name: str) -> Cell:
    def cell(held: Held, row: int, now: float) -> str:
        value = held[name][row]
        return "" if value is None else str(value)

    return cell


def _sorted_number(name: str) -> Key:
    def key(held: Held, row: int, now: float) -> float:
        value = held[name][row]
        return -1e30 if value is None else value

    return key


def _moment(name: str) -> Cell:
    return lambda held, row, now: units.ago(held[name][row], now)


def _exact(name: str) -> Cell:
    return lambda held, row, now: units.exact(held[name][row])


def state_word(held: Held, row: int, now: float) -> str:
    """How the job stands in words, e.g. `Failed, exit 7`."""
    return style_of_number(held, row).word


def style_of_number(held: Held, row: int, unheard: float | None = None) -> StateStyle:
    """The style of the row of that number; `unheard` as for `style_of`."""
    return style_of(
        held["state"][row],
        held["exit_code"][row],
        held["held"][row],
        held["canceling"][row],
        unheard,
        signal=held["signal"][row],
        reason=held["reason"][row] or "",
    )


def _why(held: Held, row: int, now: float) -> str:
    """Why it failed, in one line; empty if it did not."""
    known = (held["state"][row], held["exit_code"][row], held["signal"][row], held["reason"][row] or "")
    return failure_line(*known, held["error_line"][row])


def _reason(held: Held, row: int, now: float) -> str:
    return _why(held, row, now) or held["reason"][row] or ""


def _named(held: Held, row: int, now: float) -> str:
    """The name, with why the job failed if it did: both are where one looks first."""
    return "\n".join(filter(None, (held["name"][row] or "", _why(held, row, now))))


def _waited(held: Held, row: int, now: float) -> float | None:
    begin = held["submitted"][row]
    end = held["started"][row] or held["ended"][row] or now
    return end - begin if begin else None


def _ran(held: Held, row: int, now: float) -> float | None:
    begin = held["started"][row]
    return (held["ended"][row] or now) - begin if begin else None


def _memory(held: Held, row: int, now: float) -> str:
    most = held["memory"][row]
    return units.binary_size(most) if most else ""


def _kind(held: Held, row: int, now: float) -> str:
    return f"{held['structure'][row]}{', interactive' if held['interactive'][row] else ''}"


def _site(held: Held, row: int, now: float) -> str:
    """Short names of the computing elements: the host, or the queue where the host is this machine."""
    return site_name(held["site"][row])


def _queue(held: Held, row: int, now: float) -> str:
    """What is behind the host in the ids of its computing elements."""
    return ", ".join(dict.fromkeys(map(queue_name, ids_in(held["site"][row] or ""))))


def _ended_by(held: Held, row: int) -> tuple[int | None, int | None]:
    known = held["state"][row], held["exit_code"][row], held["signal"][row]
    return ended_by(*known, held["reason"][row] or "")


def _ended(held: Held, row: int, now: float) -> str:
    code, signal = _ended_by(held, row)
    if signal is not None:
        return f"signal {signal}"
    return "" if code is None else str(code)


def _sorted_end(held: Held, row: int, now: float) -> float:
    code, _ = _ended_by(held, row)
    return -1e30 if code is None else code


COLUMNS: tuple[JobColumn, ...] = (
    JobColumn("state", "State", 132, state_word, state_word, _reason),
    JobColumn("name", "Name", 104, _said("name"), _sorted_text("name"), _named),
    JobColumn("parameter", "Parameter", 96, _said("parameter"), _sorted_text("parameter"), shown=False),
    JobColumn("kind", "Kind", 96, _kind, _kind, shown=False),
    JobColumn("tags", "Tags", 88, _tags, _sorted_text("tags"), _tags),
    JobColumn("site", "Site", 84, _site, _sorted_text("site"), _said("site")),
    JobColumn("queue", "Queue", 96, _queue, _queue, _said("site"), shown=False),
    JobColumn("cpus", "CPUs", 52, _number("cpus"), _sorted_number("cpus"), right=True),
    JobColumn("submitted", "Submitted", 92, _moment("submitted"), _sorted_number("submitted"),
           _exact("submitted"), live=True),
    JobColumn("wait", "Wait", 68, lambda held, row, now: units.duration(_waited(held, row, now)),
           lambda held, row, now: _waited(held, row, now) or 0.0, right=True, live=True),
    JobColumn("runtime", "Run time", 88, lambda held, row, now: units.duration(_ran(held, row, now)),
           lambda held, row, now: _ran(held, row, now) or 0.0, right=True, live=True),
    JobColumn("memory", "Memory", 80, _memory, _sorted_number("memory"), right=True, shown=False),
    JobColumn("exit", "Exit", 64, _ended, _sorted_end, right=True),
    JobColumn("ended", "Ended", 104, _moment("ended"), _sorted_number("ended"), _exact("ended"), shown=False,
           live=True),
    JobColumn("note", "Note", 160, _first_line, _sorted_text("note"), _said("note"), shown=False),
    JobColumn("error", "Last error line", 240, _said("error_line"), _sorted_text("error_line"),
           _said("error_line"), shown=False),
    JobColumn("reason", "Reason", 240, _said("reason"), _sorted_text("reason"), _said("reason"), shown=False),
    JobColumn("id", "Id", 190, _said("id"), _said("id"), shown=False),
)  # fmt: skip
BY_NAME = {column.name: place for place, column in enumerate(COLUMNS)}
"""Column name to its place."""


def jobs_table(columns: Columns, numbers: Sequence[int], now: float) -> Written:
    """Return the rows of these numbers."""
    return Written(("state", *_FIELDS), _rows(columns, numbers, now))


def _rows(columns: Columns, numbers: Sequence[int], now: float) -> Iterator[list[Any]]:
    for number in numbers:
        code, signal = _ended_by(columns, number)
        own = {"exit_code": code, "signal": signal}
        values = (own[name] if name in own else columns[name][number] for name in _FIELDS)
        texts = (_value(name, value) for name, value in zip(_FIELDS, values, strict=True))
        yield [state_word(columns, number, now), *texts]


def _value(name: str, value: Any) -> Any:
    return units.exact(value) if name in _TIMES else value
