"""The script that A-REX runs in the session directory: it unpacks, and starts the Job Starter."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from broker_core.sites.arc.description import BUNDLE, CANCEL, GO

STARTER = "job_starter.sh"
_SCRIPT = """\
# Runs one attempt below a session directory of ARC, and ends it when its user or the site says so.
umask 077
tar -xf {bundle} && rm -f {bundle} || exit 227
trap ': >{cancel}' TERM INT HUP
(
    trap - TERM INT HUP
    export __directory="$PWD" __news="$PWD"
    {exports}
    exec /bin/sh ./{starter}
) </dev/null &
starter=$!

# Print the processes of this attempt; the launch script and its guard do not bear the mark themselves.
marked() {{
    if printf 'a\0b\0' | grep -qzx b 2>/dev/null; then
        grep -lsFxz {mark} /proc/[0-9]*/environ
        return
    fi
    for file in /proc/[0-9]*/environ; do
        if tr '\0' '\n' 2>/dev/null <"$file" | grep -qxF {mark}; then printf '%s\n' "$file"; fi
    done 2>/dev/null
}}

# Kill them all but process $1; false if there were none.
purge() {{
    found=1
    for process in $(marked); do
        process=${{process#/proc/}}
        process=${{process%/environ}}
        [ "$process" = "$1" ] || ! kill -s KILL "$process" 2>/dev/null || found=0
    done
    return "$found"
}}

# The starter itself stays, to record the end; without a session directory it goes too.
(
    trap '' TERM INT HUP
    while kill -0 "$starter" 2>/dev/null; do
        if [ ! -e {go} ]; then purge; elif [ -e {cancel} ]; then purge "$starter"; fi
        sleep 1
    done
) </dev/null >/dev/null 2>&1 &

while kill -0 "$starter" 2>/dev/null; do wait "$starter"; done
wait "$starter"
status=$?
while purge; do sleep 0.1; done
exit "$status"
"""


def launch_script(given: Mapping[str, str], mark: str) -> bytes:
    """The script for one attempt.

    `given`: variables for the Job Starter; `mark`: `NAME=VALUE` that all processes of the attempt have.
    """
    exports = "\n    ".join(f"export {name}={shlex.quote(value)}" for name, value in given.items())
    text = _SCRIPT.format(
        bundle=BUNDLE,
        cancel=CANCEL,
        go=GO,
        exports=exports,
        starter=STARTER,
        mark=shlex.quote(mark),
    )
    return text.encode()
