#!/bin/sh
# Stands for an agent that a glidein keeps warm (warm_agent.py): has that one run a program with the words, the
# environment, the files and the limits of this process, and ends as it does. Plain POSIX sh.
#
#   warm_start.sh FOLDER AGENT [WORD]...
#
# Where no warm agent answers it becomes a fresh one, `AGENT [WORD]...`. Leaves the processor's time that the agent and
# its program took, which no parent of this process gets to know, in `spent` beside the job's directory.

folder=$1
shift
agent= came=
forward() {
    came=$1
    [ -z "$agent" ] || kill -s "$1" "$agent" 2>/dev/null
}
for name in HUP INT TERM; do trap "forward $name" "$name"; done
call=$folder/$$
{ mkfifo "$call" && exec 3<>"$call"; } 2>/dev/null || exec "$@"
# A shell that reads of another file has that for its standard input meanwhile.
exec 5<&0
printf '%s\n' "$$" 1<>"$folder/bell"
(
    trap - HUP INT
    trap 'kill "$nap"; exit' TERM
    sleep 3 &
    nap=$!
    wait "$nap"
    mv "$call" "$call.late" && echo late >&3
) >/dev/null 2>&1 &
patience=$!
until read -r word agent <&3; do :; done
kill "$patience" 2>/dev/null
if [ "$word" != taken ]; then
    rm -f "$call" "$call.late" "$call.taken"
    [ -z "$came" ] || { trap - "$came" && kill -s "$came" "$$"; }
    exec "$@" 3>&- 5<&-
fi
# Once nobody else has it open for writing, its end tells of the agent's.
exec 4<"$call.taken" 3>&-
rm -f "$call.taken"
[ -z "$came" ] || kill -s "$came" "$agent" 2>/dev/null
came=
until read -r word number spent <&4; do
    [ -n "$came" ] || { word=signal number=9 && break; }
    came=
done
[ -z "$spent" ] || printf '%s\n' "$spent" >../spent
[ "$word" != exit ] || exit "$number"
ulimit -c 0 2>/dev/null
trap - HUP INT TERM
kill -"$number" "$$"
exit "$((128 + number))"
