#!/bin/sh
# The plain agent of an interactive job: `line_agent.sh PROGRAM ARGUMENTS`, run by the Job Starter (CB-IA-03).
# Used where our agent proper cannot run. Plain POSIX sh (dash, bash, busybox) with the usual commands; it
# connects to nobody: the broker carries the lines, in files beside the job's directory (CB-BYP).
#
# Of CROSSDESK_SESSION (worker.agent_settings) it takes when to give up; CROSSDESK_AGENT_LACKING says why the
# Job Starter did not take another agent.
#
# What it makes: `lines` beside the job's directory, with
#   input    what was typed, written there at its place; it only grows
#   control  a line each: `end PLACE` (no input follows that place), or the name of a signal; it only grows
#   heard    changes as long as a desk is there
#   pid      the program, which leads a process group where the node has `setsid`
# and .crossdesk-agent in the job's directory, which tells the broker that it is there. Output goes where the
# Job Starter let it go, so that it is kept in the job's files whatever happens to the network.
#
# Exit status: the program's own. A file `agent-failure` beside the job's directory says why it was killed,
# and in a second line `no-desk` where that was because no desk came back.

__lines=../lines
__contact=.crossdesk-agent
__signals=' INT TERM KILL HUP QUIT USR1 USR2 STOP CONT '

# Set __now to the seconds that the node has been up.
__clock() {
    if read -r __now __rest 2>/dev/null </proc/uptime; then __now=${__now%.*}; else __now=$(date +%s); fi
}

# Send signal $1 to the program and what it started.
__send() {
    __pid=
    read -r __pid 2>/dev/null <"$__lines/pid" || return 0
    kill -s "$1" -- "-$__pid" 2>/dev/null || kill -s "$1" "$__pid" 2>/dev/null
}

# Obey what is new in `control`; a line that is not whole yet comes later.
__obey() {
    __line=0
    while read -r __word __value; do
        __line=$((__line + 1))
        [ "$__line" -gt "$__obeyed" ] || continue
        __obeyed=$__line __idle=0
        case $__word in
        end) __end=$__value ;;
        *) case $__signals in *" $__word "*) __send "$__word" ;; esac ;;
        esac
    done <"$__lines/control"
}

# Pass on what was typed, or that nothing follows, unless the program has not read the last of it yet.
__pass() {
    if [ -n "$__feeding" ]; then
        kill -0 "$__feeding" 2>/dev/null && return
        wait "$__feeding"
        __feeding=
    fi
    # No pipeline: a signal that comes while bash makes one leaves it with half of it.
    tail -c "+$((__place + 1))" "$__lines/input" >"$__lines/part" 2>/dev/null
    if [ -s "$__lines/part" ]; then
        __size=$(wc -c <"$__lines/part")
        __place=$((__place + __size)) __idle=0
        cat "$__lines/part" >&6 2>/dev/null &
        __feeding=$!
    elif [ -n "$__end" ] && [ "$__place" -ge "$__end" ]; then
        exec 6>&-
        __open=
    fi
}

# Give up after too many intervals without a desk (CB-BYP-05).
__count() {
    [ "$__most" -gt 0 ] || return 0
    __heard=
    read -r __heard <"$__lines/heard"
    __clock
    # As at the other agent one interval is over at a time: where everything stood still, or the machine slept,
    # the desk did too.
    __passed=$((__now - __looked)) __looked=$__now
    [ "$__passed" -le "$__interval" ] || __passed=$__interval
    __waited=$((__waited + __passed))
    [ "$__heard" = "$__last" ] || __last=$__heard __waited=0
    [ "$__waited" -lt "$__patience" ] && return
    printf '%s\n' "No desk came back after $__most attempts, so the program was ended." no-desk >../agent-failure
    __send KILL
    exit 0
}

# Look at the files again and again, often while something is typed, until the program has ended.
__mind() {
    trap '' PIPE INT QUIT
    trap '__send TERM' TERM
    trap '__send HUP' HUP
    __nap=
    trap 'kill $__nap $__feeding 2>/dev/null; exit 0' USR1
    __place=0 __obeyed=0 __idle=0 __end='' __feeding='' __open=1 __last='' __beat=0
    __clock
    __looked=$__now __waited=0
    # From here on signals are passed on, and the program may begin.
    echo >&6
    while :; do
        __obey
        [ -z "$__open" ] || __pass
        [ "$((__beat += 1))" -lt 5 ] || { __beat=0; __count; }
        __idle=$((__idle + 1))
        __pause=1
        [ "$__idle" -ge 400 ] || __pause=$__slow
        [ "$__idle" -ge 50 ] || __pause=$__quick
        sleep "$__pause" &
        __nap=$!
        wait "$__nap"
    done
}

# Tell the broker that this agent is there, all or nothing.
__tell() {
    __node=$(uname -n | tr -cd 'A-Za-z0-9._-')
    __why=$(printf %s "$__why" | tr -d '\\"' | tr -s '[:cntrl:]' ' ')
    printf '{"key":"","fingerprint":"","node":"%s","lines":"%s"}\n' "$__node" "$__why" >"$__contact.part" &&
        mv -f "$__contact.part" "$__contact"
}

# Set __value to setting $1, or to $2.
__setting() {
    case $CROSSDESK_SESSION in
    *"\"$1\":"*) ;;
    *)
        __value=$2
        return
        ;;
    esac
    __value=${CROSSDESK_SESSION#*"\"$1\":"}
    __value=${__value%%[,\}]*}
}

# Say why the program was not started, and leave.
__fail() {
    echo "$1" >../agent-failure
    exit 126
}

umask 077
trap '' PIPE
# The shell's own remarks do not belong to the program's output.
exec 8>&2 2>/dev/null
__quick=0.1 __slow=0.3
sleep 0.01 || __quick=1 __slow=1
__setting retry_interval 10
__interval=$__value
__setting max_retries 0
__most=$__value
__setting mode ''
[ "$__value" = '"lines"' ] || __most=0
# Whole seconds, rounded up.
case $__interval in *.*) __interval=$((${__interval%.*} + 1)) ;; esac
__patience=$((__interval * __most))
__why=$CROSSDESK_AGENT_LACKING
unset CROSSDESK_SESSION CROSSDESK_AGENT_LACKING

{ mkdir "$__lines" && mkfifo "$__lines/fifo"; } || __fail "The plain agent cannot make its files."
: >"$__lines/input"
: >"$__lines/control"
: >"$__lines/heard"
# Opened both ways first, because opening one way waits for the other side.
# shellcheck disable=SC2094 # a FIFO
exec 5<>"$__lines/fifo" 6>"$__lines/fifo" 7<"$__lines/fifo" 5>&-
rm -f "$__lines/fifo"
(__mind) </dev/null >/dev/null 2>&1 7<&- 8>&- &
__minder=$!
exec 6>&-
read -r __rest <&7 || __fail "The plain agent cannot mind its program."
__tell || __fail "The plain agent cannot tell that it is there."

# A shell that waits for a program acts on signals afterwards, so these do not end it before.
trap : TERM HUP INT
if command -v stdbuf >/dev/null 2>&1; then set -- stdbuf -oL "$@"; fi
set -- /bin/sh -c 'echo "$$" >"../lines/pid" && exec "$@"' sh "$@"
if command -v setsid >/dev/null 2>&1; then set -- setsid "$@"; fi
export PYTHONUNBUFFERED="${PYTHONUNBUFFERED-1}"
(
    trap - TERM HUP INT PIPE
    exec "$@" <&7 2>&8 7<&- 8>&-
)
__status=$?
kill -s USR1 "$__minder"
wait "$__minder"
rm -f "$__contact"
exit "$__status"
