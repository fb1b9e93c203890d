"""What lies in the broker's directory at a site and has not changed for a while, some attempts at a time."""

from __future__ import annotations

import math

from broker_core.sites.adapter import Leftover, SiteFailed
from broker_core.sites.shell.exchanges import ShellExchanges
from broker_core.sites.shell.workspace import words_of

AT_ONCE = 500
"""Attempts of which one exchange tells."""
_LATE = 10
"""Seconds by which a Job Starter's sign of life may be late."""
# By the time of the last change to a directory itself, which no program sets back. Names only, in the order
# of bytes, so that the next exchange goes on behind the last one. What still gives signs of life is left out.
# An array whose attempts are all gone goes here, as whoever removed the last of them may have been cut off.
_SCRIPT = r"""
LC_ALL=C
export LC_ALL
set +f
old() { find "$1" -mindepth 1 -maxdepth 1 ! -newerct "$age seconds ago" -printf '%f\n'; }
old groups | while read -r group; do
    [ ! -d "attempts/$group" ] && [ -r "groups/$group/list" ] || continue
    left=
    while read -r tag; do
        if [ -d "attempts/$tag" ]; then left=1; break; fi
    done <"groups/$group/list"
    [ -n "$left" ] || rm -rf "groups/$group"
done
# What exchanges left that were cut off; nothing takes a day.
find incoming/* locks/* -prune -mtime +0 -exec rm -rf {} + 2>/dev/null
alive=$(find attempts -mindepth 2 -maxdepth 2 -name beat -newerct "$beat seconds ago" -printf ' %h ')
{
    printf '%s\n' "$after"
    old attempts
    old news | sed 's/\.[soe]$//'
} | sort -u | sed -n "/^$after\$/,\$p" | tail -n +2 | head -n "$most" | while read -r tag; do
    case $alive in (*" attempts/$tag "*)
        if [ ! -f "attempts/$tag/ended" ]; then echo "$tag alive"; continue; fi
        ;;
    esac
    if [ -d "attempts/$tag/claim" ]; then echo "$tag begun"; else echo "$tag idle"; fi
done
echo .
"""


def leftovers_script(after: str, age: float, beat: float) -> str:
    """Goes behind `Home.guarded`; `after`: tag behind which to go on; empty: from the beginning."""
    pattern = after.replace(".", r"\.")
    values = f"age={math.ceil(age)} beat={math.ceil(beat) + _LATE} most={AT_ONCE}"
    return f"after='{after}'\n{values}\n{_SCRIPT}".replace("/^$after\\$/", f"/^{pattern}\\$/")


async def leftovers(
    exchanges: ShellExchanges, site: str, after: str, age: float, beat: float
) -> list[Leftover]:
    """See `Adapter.leftovers`; `beat`: seconds between two signs of life. Raises SiteFailed, LinkLost."""
    reply = await exchanges.run(lambda _: leftovers_script(after, age, beat))
    lines = reply.out.decode("ascii", "replace").split("\n")
    if reply.status or lines[-2:] != [".", ""]:
        raise SiteFailed(f"What lies there cannot be listed: {words_of(reply.err)}.", place=site)
    parts = (line.split(" ") for line in lines[:-2])
    return [Leftover(tag, begun=state != "idle", alive=state == "alive") for tag, state in parts]
