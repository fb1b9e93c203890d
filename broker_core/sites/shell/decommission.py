"""Taking away what the broker has at a site that is used through a shell."""

from __future__ import annotations

import math
from collections.abc import Iterable

from broker_core.sites.adapter import SiteFailed
from broker_core.sites.batch import host
from broker_core.sites.shell.exchanges import ShellExchanges
from broker_core.sites.shell.workspace import words_of

_TAKING = 60.0
"""Seconds that it may take."""
_LATE = 10
"""Seconds by which a Job Starter's sign of life may be late."""
# Input: tags that are believed to have ended. Prints those that keep all there: they live, though
# what runs jobs there does not know them any more.
_LEAVE = """
set +f
alive=$(
    ended=' '
    while read -r tag; do ended="$ended$tag "; done
    for attempt in attempts/*; do
        [ -d "$attempt/claim" ] && [ ! -f "$attempt/ended" ] || continue
        tag=${attempt#*/}
        case $ended in (*" $tag "*) continue ;; esac
        [ -z "$(find "$attempt/beat" -newermt "$beat seconds ago" 2>/dev/null)" ] || printf '%s\\n' "$tag"
    done
)
[ -z "$alive" ] || {
    printf '%s\\n' "$alive"
    exit 0
}
home=$(pwd -P)
cd .. && chmod -R u+rwx "$home" && rm -rf "$home" || exit
"""
_LEAVE_PARENT = """
case $(pwd -P) in */.crossdesk) cd .. && rmdir .crossdesk 2>/dev/null ;; esac
:
"""


async def take_away(
    exchanges: ShellExchanges, site: str, kind: str, ended: Iterable[str], beat: float
) -> list[str]:
    """Remove the broker's directory, and the one around it if that is ours and empty.

    `ended`: attempts that do not live, whatever it looks like; `beat`: seconds between two signs of life.
    Returns the tags of attempts that still live: then nothing was removed. Raises SiteFailed, LinkLost.
    """
    own = host.leave() if kind == "shell" else ":"
    script = f"beat={math.ceil(beat) + _LATE}\n{_LEAVE}{own} || exit\n{_LEAVE_PARENT}"
    reply = await exchanges.run(lambda _: script, "".join(f"{tag}\n" for tag in ended).encode(), _TAKING)
    if reply.status:
        raise SiteFailed(f"What is there cannot be removed: {words_of(reply.err)}.", place=site)
    return reply.out.decode("ascii", "replace").split()
