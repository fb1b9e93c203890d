"""Handing attempts over to a batch system: staged, submitted and noted at the site in one exchange.

An attempt belongs to the exchange that first moves its directory into place; that is one rename, which only
one exchange can do. The exchange holds a lock as long as any of its processes lives, so that another one
finds out whether it still works on the attempt or was cut off; what was cut off is finished by the next.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.worker.script import hand_over_text

NO_ROOM = 91
"""Exit status where the parcel could not be unpacked; nothing was handed over then."""


@dataclass(slots=True)
class Answer:
    """What an exchange told."""

    ids: dict[str, str] = field(default_factory=dict)
    """Group to what the batch system printed when it took it."""
    there: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Tag that had been handed over before to its group and what was printed then."""
    refused: dict[str, str] = field(default_factory=dict)
    """Group to the batch system's words."""
    orphans: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Tag of an exchange that was cut off to its group and that exchange."""
    busy: set[str] = field(default_factory=set)
    """Tags on which another exchange still works, or that could not be put in place."""
    listing: str | None = None
    """The batch system's list, if there are orphans."""


def submit_script(exchange: str, status: str) -> str:
    """Takes a parcel (`parcel.packed`) on stdin; goes behind `Home.guarded`."""
    return f"exchange={exchange}\nstatus() {{\n{status}\n}}\n{hand_over_text()}take_parcel\n"


def finish_script(exchange: str) -> str:
    """Takes lines `group exchange [id]` on stdin; goes behind `Home.guarded`."""
    return f"exchange={exchange}\n{hand_over_text()}finish_cut_off\n"


def read_answer(out: bytes) -> Answer:
    """What one of the scripts printed."""
    answer = Answer()
    for part in out.decode("utf-8", "surrogateescape").split("\x1e")[1:]:
        head, _, body = part.partition("\n")
        match head.split():
            case ["id", group]:
                answer.ids[group] = body
            case ["there", tag, group]:
                answer.there[tag] = (group, body)
            case ["refused", group]:
                answer.refused[group] = " ".join(body.split()) or "no reason was given"
            case ["orphan", tag, group, exchange]:
                answer.orphans[tag] = (group, exchange)
            case ["busy" | "failed", tag]:
                answer.busy.add(tag)
            case ["list"]:
                answer.listing = body
    return answer
