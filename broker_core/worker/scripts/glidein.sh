#!/bin/sh
# A glidein: holds what its batch job was given, and runs payloads in its two slots as the broker says (CB-GLI-02).
# Plain POSIX sh; a Job Starter runs it in the directory of an attempt at a site.
#
#   glidein.sh NAME LEASE FIRST BOX BOXING BOXES
#
# LEASE: seconds after the last change of `lease` at which it ends; FIRST: those that it waits for the first one.
# BOX, BOXING: names of box.sh and of its archive among the programs; BOXES: `possible`, `always` or `never`.
# All files are in `glideins/NAME` of the broker's directory at the site. The broker writes `lease`, and for each
# claim the file `claims/CLAIM` with `TAG NICE MODE`: the attempt to run, its nice value, and `run`, `stop` (the Job
# Starter has the program stand still while there is `pause` beside it) or `end`.
# The glidein makes `begun`, so that it runs once, for each claim the directory `taken/CLAIM`, so that it is taken
# once, and `state`. What it took, and whose end the broker heard, as a file in `heard` says, is in `past` then. `state`
# is whole only if its last line is a single dot:
#
#   node NAME, box KIND|not boxed: WORDS, priorities both|down, fault WORDS, beat NUMBER, runs CLAIM, over CLAIM STATUS, refused CLAIM
#
# Payloads hold leases that the glidein renews: they end by themselves soon after it has died, or has let them go.

set -f
umask 077
name=$1 lease=$2 first=$3 box=programs/$4 boxing=programs/$5 boxes=$6
cd ../../.. || exit 1
own=glideins/$name
mkdir -p "$own/claims" "$own/taken" "$own/heard" "$own/past" && mkdir "$own/begun" || exit 1
leaving=
trap 'leaving=told' TERM

# Set now to the seconds since the machine started, and moment to the hundredths of them.
clock() {
    read -r now rest </proc/uptime
    moment=${now%.*}${now#*.}
    now=${now%%.*}
}

# Set processes to those of the session that process $1 leads.
of_session() {
    processes=
    set +f
    for file in /proc/[0-9]*/stat; do
        read -r line <"$file" || continue
        line=${line##*) }
        line=${line#* * * }
        [ "${line%% *}" != "$1" ] || { file=${file%/stat} && processes="$processes ${file#/proc/}"; }
    done 2>/dev/null
    set -f
}

# Give all processes of the payload in session $1 the nice value $2. Those that begin meanwhile are found in the second
# pass. Where the kernel shares processors between sessions, that of the whole session counts.
give_way() {
    for pass in 1 2; do
        of_session "$1"
        [ -z "$processes" ] || renice "$2" -p $processes
    done >/dev/null 2>&1
    { printf '%s\n' "$2" >"/proc/$1/autogroup"; } 2>/dev/null
}

# Run attempt $tag for $claim, in a session of its own.
begin() {
    clock
    printf '0 %s\n' "$moment" >"$mine/lease"
    printf '%s\n' "$tag" >"$mine/tag"
    printf '%s run\n' "$nice" >"$mine/as"
    (
        trap - TERM
        nice -n "$nice" setsid /bin/sh -c 'echo "$$" >"$1" && . "$2"; exit 227' \
            sh "$mine/pid" "./attempts/$tag/order" </dev/null >/dev/null 2>&1
        status=$?
        read -r leader <"$mine/pid" && of_session "$leader"
        [ -z "$processes" ] || kill -s KILL $processes 2>/dev/null
        printf '%s\n' "$status" >"$mine/exit.new" && mv -f "$mine/exit.new" "$mine/exit"
    ) &
}

# Have the payload of $mine end.
release() {
    read -r tag <"$mine/tag" && true >"attempts/$tag/cancel"
}

# Put claims away whose end the broker has heard. It may ask once more, when it has forgotten that.
put_away() {
    set +f
    for file in "$own"/heard/*; do
        set -f
        claim=${file##*/}
        [ -f "$file" ] || continue
        rm -f "$own/claims/$claim"
        [ ! -f "$own/taken/$claim/exit" ] || mv "$own/taken/$claim" "$own/past/"
        rm -f "$file"
    done
    set -f
}

# Bring claim $claim to what the broker wants.
obey() {
    mine=$own/taken/$claim
    if [ -d "$own/past/$claim" ]; then
        mv "$own/past/$claim" "$mine"
        fresh=1
        return
    fi
    [ -d "$mine" ] || mind_lease
    [ -z "$leaving" ] || return 0
    if mkdir "$mine" 2>/dev/null; then
        if [ "$mode" = end ]; then printf 'refused\n' >"$mine/exit"; else begin; fi
        fresh=20
        return
    fi
    as=
    [ ! -r "$mine/as" ] || read -r as <"$mine/as"
    [ "$as" != "$nice $mode" ] && [ ! -f "$mine/exit" ] && read -r leader 2>/dev/null <"$mine/pid" || return 0
    case $mode in
    end) release ;;
    stop) true >"attempts/$tag/pause" ;;
    *)
        rm -f "attempts/$tag/pause"
        give_way "$leader" "$nice"
        ;;
    esac
    printf '%s %s\n' "$nice" "$mode" >"$mine/as"
}

# Go through the claims.
claims() {
    set +f
    for file in "$own"/claims/*; do
        set -f
        claim=${file##*/}
        [ -f "$file" ] && read -r tag nice mode <"$file" && obey
    done
    set -f
}

# Note whether the lease is over. What is another one now was renewed at some time since the look before.
mind_lease() {
    clock
    renewed=
    [ ! -r "$own/lease" ] || read -r renewed <"$own/lease"
    [ "$renewed" = "$known" ] || known=$renewed since=$looked most=$lease
    looked=$now
    [ "$((now - since))" -lt "$most" ] || leaving=lease
}

# Renew the leases of the payloads, and tell how all stands.
tell() {
    beat=$((beat + 1))
    running=
    clock
    {
        printf 'node %s\nbox %s\npriorities %s\nbeat %s\n' "$node" "$boxed" "$priorities" "$beat"
        [ -z "$fault" ] || printf 'fault %s\n' "$fault"
        set +f
        for mine in "$own"/taken/*; do
            [ -d "$mine" ] || continue
            claim=${mine##*/} status=
            [ ! -r "$mine/exit" ] || read -r status <"$mine/exit"
            case $status in
            '') printf 'runs %s\n' "$claim" ;;
            refused) printf 'refused %s\n' "$claim" ;;
            *) printf 'over %s %s\n' "$claim" "$status" ;;
            esac
            [ -n "$status" ] || running="$running $claim"
            [ -n "$status$leaving" ] || printf '%s %s\n' "$beat" "$moment" >"$mine/lease"
        done
        set -f
        printf '.\n'
    } >"$own/state.new" && mv -f "$own/state.new" "$own/state"
}

# End: payloads that are told so end at once, all others when their leases have ended.
leave() {
    true >"$own/over"
    left=30
    tell
    for claim in $running; do
        mine=$own/taken/$claim
        [ "$leaving" = lease ] || release
    done
    while [ -n "$running" ] && [ "$left" -gt 0 ]; do
        sleep 1
        left=$((left - 1))
        tell
    done
    for claim in $running; do
        read -r leader <"$own/taken/$claim/pid" && of_session "$leader"
        [ -z "$processes" ] || kill -s KILL $processes 2>/dev/null
    done
    exit 0
}

node=$(uname -n)
fault=
[ -r /proc/uptime ] && [ -r /proc/self/stat ] || fault="the node has no /proc"
for program in setsid renice nice; do
    command -v "$program" >/dev/null 2>&1 || fault="the node has no $program"
done
priorities=down
nice -n 1 /bin/sh -c 'renice 0 -p "$$"' >/dev/null 2>&1 && priorities=both
# Set boxed to what keeps payloads apart; only where that is no question is it not tried.
kinds=
[ "$boxes" != never ] || kinds=none
/bin/sh "$box" find "$own/box" "$boxing" $kinds || echo "not boxed: $box is missing" >"$own/box"
read -r boxed <"$own/box"
case $boxes:$boxed in always:not*) fault="no box can be made on the node: ${boxed#*: }" ;; esac
boxed=${boxed%% /*}
beat=0 known= most=$first running=
[ -z "$fault" ] || { tell && exit 1; }
clock
since=$now looked=$now turns=0 fresh=0
while :; do
    put_away
    [ -n "$leaving" ] || claims
    [ "$((turns % 5))" -ne 0 ] || mind_lease
    [ -z "$leaving" ] || leave
    # Every second; more often after a claim was taken, whose payload waits for a renewal of its lease; and what ended.
    for claim in $running; do
        [ ! -f "$own/taken/$claim/exit" ] || fresh=1
    done
    [ "$((turns % 5))" -ne 0 ] && [ "$fresh" -eq 0 ] || tell
    turns=$((turns + 1))
    [ "$fresh" -eq 0 ] || fresh=$((fresh - 1))
    sleep 0.2
done
