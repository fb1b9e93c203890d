"""The glideins at a site that has a shell: their files there, written and read in one exchange."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from broker_core.launching.cached_program import CachedProgram
from broker_core.sites.adapter import SiteFailed
from broker_core.sites.glideins import GlideinMessages, GlideinStatus, SlotClaim, claim_lines
from broker_core.sites.shell.content_cache import ContentDelivery
from broker_core.sites.shell.exchanges import ShellExchanges
from broker_core.sites.shell.workspace import Workspace, words_of

LATEST = 10.0
"""Seconds after which nothing is written any more: leases are counted from a moment before."""
IN_SLOT = "in a slot"
"""What hand_over.sh prints in place of a batch system's id."""
_MOST = 40_000
"""Bytes that are read of what one glidein says."""
_CLAIM = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NODE = re.compile(r"[A-Za-z0-9_.-]{1,255}")
_SCRIPT = """
set --
while read -r what name claim rest; do
    own=glideins/$name
    case $what in
    r) [ ! -d "$own/begun" ] || printf '%s\\n' "$claim" 1<>"$own/lease" ;;
    c)
        [ ! -d "$own/begun" ] || {
            printf '%s\\n' "$rest" >"$own/claims/.$claim" && mv -f "$own/claims/.$claim" "$own/claims/$claim"
        }
        ;;
    h) [ ! -d "$own/heard" ] || true >"$own/heard/$claim" ;;
    x) rm -rf "$own" ;;
    s) [ ! -r "$own/state" ] || set -- "$@" "$own/state" ;;
    esac
done <<'END-OF-LINES'
"""
# With two files at least each has a heading. One that has just gone says nothing.
_ANSWERS = '[ $# -eq 0 ] || head -c {most} -- /dev/null "$@" 2>/dev/null || :\n'
_HEADING = re.compile(r"^==> glideins/([^/\n]+)/state <==\n", re.MULTILINE)


def claim_line(slot: SlotClaim, tag: str) -> str:
    """What hands an attempt over to its slot in place of a batch system's command (hand_over.sh)."""
    return f"{slot.glidein} {slot.claim} {tag} {slot.nice} run {slot.after}"


def lease_file(home: Workspace, slot: SlotClaim) -> str:
    """Path of the lease that a glidein renews for a payload."""
    return f"{home.path}/glideins/{slot.glidein}/taken/{slot.claim}/lease"


def box_words(home: Workspace, slot: SlotClaim, programs: tuple[str, str], more: str) -> tuple[str, ...]:
    """The words of `box.sh` for a payload. `programs`: the paths of that and of its archive; `more`: a folder
    that it may write too, or nothing."""
    script, archive = programs
    found = f"{home.path}/glideins/{slot.glidein}/box"
    reads = [f"read={one}" for one in (f"{home.path}/programs", *slot.reads)]
    writes = [f"write={one}" for one in (*slot.writes, more) if one]
    return (script, "run", found, archive, *reads, *writes, "--")


class ShellGlideins:
    """See `GlideinAccess`."""

    def __init__(self, site: str, exchanges: ShellExchanges, delivery: ContentDelivery) -> None:
        self._site, self._exchanges, self._delivery = site, exchanges, delivery
        self._renewals = 0

    async def provide(self, program: CachedProgram) -> None:
        """See `GlideinAccess.provide`."""
        await self._delivery.keep(program)

    async def exchange(self, messages: Callable[[], GlideinMessages]) -> Mapping[str, GlideinStatus]:
        """See `GlideinAccess.exchange`."""

        def script(_: Workspace) -> str:
            return _SCRIPT + self._lines(messages()) + "END-OF-LINES\n" + _ANSWERS.format(most=_MOST)

        reply = await self._exchanges.run(script, deadline=LATEST)
        if reply.status:
            raise SiteFailed(
                f"The files of glideins cannot be used: {words_of(reply.err)}.", place=self._site
            )
        found = {}
        _, *parts = _HEADING.split(reply.out.decode("utf-8", "replace"))
        for name, text in zip(parts[::2], parts[1::2], strict=True):
            # There is an empty line before each heading.
            whole = text.removesuffix("\n") if text.endswith(".\n\n") else text
            if (status := read_status(whole)) is not None:
                found[name] = status
        return found

    def _lines(self, messages: GlideinMessages) -> str:
        self._renewals += 1
        lines = [f"r {name} {self._renewals:012}" for name in messages.renew]
        lines += claim_lines(messages.controls)
        lines += [f"h {glidein} {claim}" for glidein, claim in messages.settled]
        lines += [f"x {name}" for name in messages.remove]
        lines += [f"s {name}" for name in messages.ask]
        return "".join(f"{line}\n" for line in lines)


def read_status(text: str) -> GlideinStatus | None:
    """What a glidein wrote of itself; None where it is not whole, or no such text."""
    lines = text.split("\n")
    if lines[-2:] != [".", ""]:
        return None
    node, beat, both, box, faults = "", 0, False, "", list[str]()
    runs, over, refused = set[str](), dict[str, int](), set[str]()
    for line in lines[:-2]:
        match line.split(" "):
            case ["node", name] if _NODE.fullmatch(name):
                node = name
            case ["priorities", word]:
                both = word == "both"
            case ["beat", number] if number.isdecimal() and len(number) < 16:
                beat = int(number)
            case ["box", *words]:
                box = " ".join(words)[:200]
            case ["fault", *words]:
                faults.append(" ".join(words)[:200])
            case ["runs", claim] if _CLAIM.fullmatch(claim):
                runs.add(claim)
            case ["refused", claim] if _CLAIM.fullmatch(claim):
                refused.add(claim)
            case ["over", claim, status] if _CLAIM.fullmatch(claim) and status.isdecimal():
                over[claim] = min(int(status), 255)
            case _:
                return None
    if not beat:
        return None
    return GlideinStatus(node, both, beat, tuple(faults), box, frozenset(runs), over, frozenset(refused))
