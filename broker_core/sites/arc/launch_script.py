"""The script that A-REX runs in the session directory: it unpacks, and starts the Job Starter."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from broker_core.sites.arc.description import BUNDLE, GO

STARTER = "job_starter.sh"
_SCRIPT = """\
# Runs one attempt below a session directory of ARC; what it leaves behind ends with it.
umask 077
tar -xf {bundle} && rm -f {bundle} || exit 227

# Print the processes of this attempt; this script does not bear the mark itself.
marked() {{
    if printf 'a\\0b\\0' | grep -qzx b 2>/dev/null; then
        grep -lsFxz {mark} /proc/[0-9]*/environ
        return
    fi
    for file in /proc/[0-9]*/environ; do
        if tr '\\0' '\\n' 2>/dev/null <"$file" | grep -qxF {mark}; then printf '%s\\n' "$file"; fi
    done 2>/dev/null
}}

# Send them signal $1; false if there were none.
signal() {{
    found=1
    for process in $(marked); do
        process=${{process#/proc/}}
        kill -s "$1" "${{process%/environ}}" 2>/dev/null && found=0
    done
    return "$found"
}}

trap 'signal TERM' TERM
trap '' INT HUP
(
    trap - TERM INT HUP
    export __directory="$PWD" __news="$PWD"
    {exports}
    exec /bin/sh ./{starter}
) </dev/null &
starter=$!

# A-REX may kill this script alone and take the session away; then nobody waits for an end.
(
    trap '' TERM
    while kill -0 "$starter" 2>/dev/null; do
        [ -e {go} ] || signal KILL
        sleep 1
    done
) </dev/null >/dev/null 2>&1 &

while kill -0 "$starter" 2>/dev/null; do wait "$starter"; done
wait "$starter"
status=$?
while signal KILL; do sleep 0.1; done
{end}"""
_END = 'exit "$status"\n'


def launch_script(given: Mapping[str, str], mark: str) -> bytes:
    """The script for one attempt.

    `given`: variables for the Job Starter; `mark`: `NAME=VALUE` that all processes of the attempt have.
    """
    exports = "\n    ".join(f"export {name}={shlex.quote(value)}" for name, value in given.items())
    text = _SCRIPT.format(
        bundle=BUNDLE,
        go=GO,
        exports=exports,
        starter=STARTER,
        mark=shlex.quote(mark),
        end=_END,
    )
    return text.encode()


def is_whole(script: bytes) -> bool:
    """False for a launch script of which the end was lost on its way."""
    return script.endswith(_END.encode())
