"""What lies in the broker's directory at a site and has not changed for a while, some attempts at a time."""

from __future__ import annotations

import math

from broker_core.sites.adapter import Leftover, SiteFailed
from broker_core.sites.remote.settings import RemoteSettings, ResultLimits
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
# Of the input files that no attempt holds by a link those go that nobody used for long and, beyond what all
# may take, the one that was used longest ago. Its status changed when the last attempt let go of it.
_CLEAR_FILES = r"""
total=0 now=$(date +%s)
find files -mindepth 1 -maxdepth 1 -type f -printf '%n %C@ %s %f\n' 2>/dev/null |
    LC_ALL=C sort -k 1,1rn -k 2,2rn | while read -r links used size name; do
        idle=$((now - ${used%%.*})) total=$((total + size))
        [ "$links" -eq 1 ] && [ "$idle" -gt "$age" ] || continue
        if [ "$idle" -gt "$files_age" ] || [ "$total" -gt "$files_max" ]; then
            rm -f "files/$name"
            total=$((total - size))
        fi
    done
"""
# Python environments that no job has begun with for as long as software.sh keeps them, which looks at them
# whenever it builds one: where nobody builds any more, they go all the same.
_CLEAR_ENVIRONMENTS = r"""
find environments -mindepth 2 -maxdepth 2 -name .used -mtime +30 2>/dev/null | while read -r used; do
    rm -f "${used%/.used}/.complete" && rm -rf "${used%/.used}" "${used%/.used}.lock"
done
"""
_NO_LIMIT = 1 << 62


def leftovers_script(after: str, age: float, beat: float, limits: ResultLimits) -> str:
    """Goes behind `Home.guarded`; `after`: tag behind which to go on; empty: from the beginning."""
    pattern = after.replace(".", r"\.")
    values = f"age={math.ceil(age)} beat={math.ceil(beat) + _LATE} most={AT_ONCE}"
    values += (
        f" files_age={math.ceil(limits.inputs_age) or _NO_LIMIT} files_max={limits.inputs_max or _NO_LIMIT}"
    )
    files = "" if after else _CLEAR_FILES + _CLEAR_ENVIRONMENTS
    return f"after='{after}'\n{values}\n{files}{_SCRIPT}".replace("/^$after\\$/", f"/^{pattern}\\$/")


async def leftovers(
    exchanges: ShellExchanges, site: str, after: str, age: float, settings: RemoteSettings
) -> list[Leftover]:
    """See `Adapter.leftovers`; input files go too that nobody needs. Raises SiteFailed, LinkLost."""
    reply = await exchanges.run(lambda _: leftovers_script(after, age, settings.beat, settings.results))
    lines = reply.out.decode("ascii", "replace").split("\n")
    if reply.status or lines[-2:] != [".", ""]:
        raise SiteFailed(f"What lies there cannot be listed: {words_of(reply.err)}.", place=site)
    parts = (line.split(" ") for line in lines[:-2])
    return [Leftover(tag, begun=state != "idle", alive=state == "alive") for tag, state in parts]
