"""Handing attempts over to a batch system: staged, submitted and noted at the site in one exchange.

An attempt belongs to the exchange that first moves its directory into place; that is one rename, which only
one exchange can do. The exchange holds a lock as long as any of its processes lives, so that another one
finds out whether it still works on the attempt or was cut off; what was cut off is finished by the next.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from broker_core.sites.batch.names import JobNames
from broker_core.sites.batch.system import BatchSystem, Listed
from broker_core.sites.contract import SiteRefused
from broker_core.sites.shell.exchanges import ShellExchanges
from broker_core.sites.shell.glideins import IN_SLOT
from broker_core.worker.script import hand_over_text

NO_ROOM = 91
"""Exit status where the parcel could not be unpacked; nothing was handed over then."""
NO_CONTENT = 92
"""Exit status where an input file that the site was to have is not there; nothing was handed over then."""


@dataclass(slots=True)
class SubmissionReply:
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


async def finish_cut_off(
    answer: SubmissionReply,
    listed: Sequence[Listed],
    names: JobNames,
    exchanges: ShellExchanges,
    deadline: float,
) -> None:
    """Finish what exchanges left that were cut off: adopt what the batch system has, submit the rest.

    `answer` is completed by what became of its orphans. Raises LinkLost.
    """
    ids = {names.group_of(one.name): one.id for one in listed if names.is_mine(one.name)}
    lines = {
        f"{group} {owner} {names.job_id(ids.get(group, ''))}\n" for group, owner in answer.orphans.values()
    }
    script = f"exchange={secrets.token_hex(6)}\n{hand_over_text()}finish_cut_off\n"
    reply = await exchanges.run(lambda _: script, "".join(sorted(lines)).encode(), deadline)
    more = read_answer(reply.out)
    for tag, (group, _) in answer.orphans.items():
        if group in more.ids:
            answer.there[tag] = (group, more.ids[group])
        elif group in more.refused:
            answer.refused[group] = more.refused[group]


async def group_lists(exchanges: ShellExchanges, groups: Sequence[str]) -> dict[str, list[str]]:
    """The tags of groups, in the order of their tasks, as they are kept at the site; raises LinkLost."""
    script = 'while read -r group; do printf \'\\036%s\\n\' "$group"; cat "groups/$group/list"; done'
    reply = await exchanges.run(lambda _: script, "".join(f"{name}\n" for name in groups).encode())
    parts = [part.split("\n") for part in reply.out.decode("ascii", "replace").split("\x1e")[1:]]
    return {name: [tag for tag in tags if tag] for name, *tags in parts}


def read_answer(out: bytes) -> SubmissionReply:
    """What one of the scripts printed."""
    answer = SubmissionReply()
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


def begun(reply: SubmissionReply, members: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Group to the tags that the batch system took with this exchange for the first time."""
    before = {*reply.there, *reply.busy, *reply.orphans}
    return {group: [tag for tag in members.get(group, ()) if tag not in before] for group in reply.ids}


def results(
    reply: SubmissionReply,
    members: Mapping[str, Sequence[str]],
    began: Mapping[str, Sequence[str]],
    names: JobNames,
    system: BatchSystem,
    site: str,
) -> dict[str, str | SiteRefused]:
    """Tag to the batch system's id of its job, or to its refusal; what is not known is left out."""

    def id_of(printed: str) -> str:
        if printed.strip() == IN_SLOT:
            return ""
        try:
            return system.submitted(printed)
        except ValueError:
            return ""  # the list will tell it by the job's name

    found: dict[str, str | SiteRefused] = {}
    for tag, (group, printed) in reply.there.items():
        found[tag] = names.took(group, id_of(printed), [tag])
    for group, tags in began.items():
        for tag in tags:
            found[tag] = names.took(group, id_of(reply.ids[group]), [tag])
    for group, reason in reply.refused.items():
        for tag in members.get(group, ()) or names.members(group):
            if tag not in reply.there and tag not in reply.busy:
                found[tag] = SiteRefused(f"{system.title} refused the job: {reason}", place=site)
    return found
