#!/bin/sh
# A glidein: holds what its batch job was given, and runs payloads in its two slots as the broker says (CB-GLI-02).
# Plain POSIX sh; a Job Starter runs it in the directory of an attempt at a site.
#
#   glidein.sh NAME LEASE FIRST BOX BOXING BOXES [AGENT WARM]
#
# LEASE: seconds after the last change of `lease` at which it ends; FIRST: those that it waits for the first one.
# BOX, BOXING: names of box.sh and of the archive for Python among the programs; BOXES: `possible`, `always` or `never`.
# AGENT, WARM: names of the agent of interactive jobs and of warm_start.sh among the programs. Once the agent is there a
# warm one waits for such jobs (warm_agent.py), and has the glidein look at its claims as soon as they have changed.
# All files are in `glideins/NAME` of the broker's directory at the site. The broker writes `lease`, and for each
# claim the file `claims/CLAIM` with `TAG NICE MODE [AHEAD]`: the attempt to run, its nice value, and `run`, `stop` (the
# Job Starter has the program stand still while there is `pause` beside it), `end` or `back` (an end for what has not
# begun, nothing for what has). It begins once the claim AHEAD is over.
# The glidein makes `begun`, so that it runs once, for each claim the directory `taken/CLAIM`, so that it is taken
# once, and `state`. What it took, and whose end the broker heard, as a file in `heard` says, is in `past` then. `state`
# is whole only if its last line is a single dot:
#
#   node NAME, box KIND|not boxed: WORDS, priorities both|down, fault WORDS, beat NUMBER, runs CLAIM, over CLAIM STATUS, refused CLAIM
#
# Payloads hold leases that the glidein renews: they end by themselves soon after it has died, or has let them go.

set -f
umask 077
name=$1 lease=$2 first=$3 box=programs/$4 boxing=programs/$5 boxes=$6 agent=$7 warm=$8
cd ../../.. || exit 1
own=glideins/$name
mkdir -p "$own/claims" "$own/taken" "$own/heard" "$own/past" && mkdir "$own/begun" || exit 1
leaving= nap= rung=
trap 'leaving=told' TERM
trap 'rung=1; [ -z "$nap" ] || kill "$nap" 2>/dev/null' USR1

# Set now to the seconds since the machine started, and moment to the hundredths of them.
clock() {
    read -r now rest </proc/uptime
    moment=${now%.*}${now#*.}
    now=${now%%.*}
}

# Set processes to those of the session that process $1 leads. The shell itself reads a byte at a time, of every process
# of the node: it does that only where nobody else can.
of_session() {
    if [ -n "$quick" ]; then
        processes=$(LC_ALL=C pgrep -s "$1")
        return 0
    fi
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

# Set groups to a control group in which each payload gets one of its own, where the batch system gave this job a group
# that it may divide: the kernel shares the processors between those by their weights, and no process gets out of its own.
find_groups() {
    groups=
    while IFS=: read -r number kinds path; do
        case $path:$number:,$kinds, in
        /:*) ;;
        *:0:,,) divide "/sys/fs/cgroup$path" cgroup.controllers && return ;;
        *,cpu,*)
            divide "/sys/fs/cgroup/$kinds$path" cpu.shares && return
            divide "/sys/fs/cgroup/cpu$path" cpu.shares && return
            ;;
        esac
    done </proc/self/cgroup
} 2>/dev/null

# Make the group for those of payloads in group $1, which has the file $2; false if that cannot be.
divide() {
    [ -f "$1/$2" ] && [ -w "$1/cgroup.procs" ] || return 1
    if [ "$2" = cgroup.controllers ]; then
        read -r controllers <"$1/$2"
        case " $controllers " in *' cpu '*) ;; *) return 1 ;; esac
        # One that is divided has no processes itself.
        mkdir "$1/$name.job" || return 1
        for pass in 1 2 3; do move_processes "$1" "$1/$name.job"; done
        mkdir "$1/$name" && echo +cpu >"$1/cgroup.subtree_control" && echo +cpu >"$1/$name/cgroup.subtree_control" || {
            move_processes "$1/$name.job" "$1"
            rmdir "$1/$name" "$1/$name.job"
            return 1
        }
    else
        mkdir "$1/$name" || return 1
    fi
    groups=$1/$name
} 2>/dev/null

# Move all processes of group $1 to group $2.
move_processes() {
    while read -r process; do printf '%s\n' "$process" >"$2/cgroup.procs"; done <"$1/cgroup.procs"
}

# Give group $1 the weight of nice value $2.
weigh() {
    [ ! -f "$1/cpu.weight.nice" ] || { printf '%s\n' "$2" >"$1/cpu.weight.nice" && return; }
    share=1024 steps=$2
    while [ "$steps" -gt 0 ]; do share=$((share * 4 / 5)) steps=$((steps - 1)); done
    while [ "$steps" -lt 0 ]; do share=$((share * 5 / 4)) steps=$((steps + 1)); done
    printf '%s\n' "$share" >"$1/cpu.shares"
} 2>/dev/null

# Set group to one for $claim; to nothing where there are none.
make_group() {
    group=
    [ -n "$groups" ] && mkdir "$groups/$claim" || return 0
    group=$groups/$claim
    weigh "$group" "$nice"
} 2>/dev/null

# Set group to that of $mine, which may be that of what minds it; false if it has none.
find_group() {
    [ -n "$groups" ] || return 1
    group=$groups/$claim
    [ -d "$group" ] || { read -r minder kind <"$mine/minder" && group=$groups/$minder && [ -d "$group" ]; }
} 2>/dev/null

# Take all groups away, which are empty by now or soon.
remove_groups() {
    [ -n "$groups" ] || return 0
    set +f
    for pass in 1 2 3 4 5; do
        rmdir "$groups"/*/ "$groups"
        [ -d "$groups" ] || break
        sleep 0.2
    done 2>/dev/null
    set -f
}

# Have the payload in session $1 give way as by the nice value $2: by the weight of its group, which can be raised again by
# everybody, else by the nice value of all its processes. Those that begin meanwhile are found in the second pass. Where
# the kernel shares processors between sessions, that of the whole session counts.
give_way() {
    ! find_group || { weigh "$group" "$2" && return; }
    for pass in 1 2; do
        of_session "$1"
        [ -z "$processes" ] || renice "$2" -p $processes
    done >/dev/null 2>&1
    { printf '%s\n' "$2" >"/proc/$1/autogroup"; } 2>/dev/null
}

# Note what $mine is, before it begins.
note() {
    clock
    printf '0 %s\n' "$moment" >"$mine/lease"
    printf '%s\n' "$tag" >"$mine/tag"
    printf '%s run\n' "$nice" >"$mine/as"
}

# Kill what is left of a payload. A box of bubblewrap ends with its program, and to look through all processes of a
# node takes longer than many jobs.
end_session() {
    case $boxed in bubblewrap*) [ ! -f "attempts/$tag/ended" ] || return 0 ;; esac
    read -r leader <"$mine/pid" || return 0
    of_session "$leader"
    [ -z "$processes" ] || kill -s KILL $processes 2>/dev/null
}

# Have what lasts run attempt $tag for $claim, and those in line behind it (broker_core/worker/scripts/payloads); false if it
# is not there. It keeps the nice value that it has. The first payload is not its: that may last for hours, which is
# nothing that it makes shorter; one that others are in line behind is short by what its job says.
hand() {
    [ "$nice" = 0 ] || return 1
    [ -n "$once" ] || is_followed || return 1
    read -r starter 2>/dev/null <"$own/starter" && kill -s 0 "$starter" 2>/dev/null || return 1
    printf '%s lasting\n' "$starter" >"$mine/minder"
    printf '%s %s %s %s %s %s\n' "$claim" "$tag" "${known:--}" "$since" "$looked" "$most" 1<>"$own/orders"
}

# True if others are in line behind $claim.
is_followed() {
    set +f
    for file in "$own"/claims/*; do
        set -f
        [ -f "$file" ] && read -r line <"$file" && [ "${line##* }" = "$claim" ] && return 0
    done
    set -f
    return 1
}

# Start that, so that it is there when the first payload has ended; it boxes by bubblewrap alone. Its bell is of use
# from the beginning.
keep_starter() {
    [ "$starters" -lt 3 ] && [ "$boxed" = bubblewrap ] || return 0
    [ -z "$lasting" ] || ! kill -s 0 "$lasting" 2>/dev/null || return 0
    starters=$((starters + 1))
    # What is called so elsewhere may be a script that takes longer to find a Python than that takes to start. One that
    # is too old ends at once.
    python=/usr/bin/python3
    [ "$starters" = 1 ] && [ -x "$python" ] || python=$(command -v python3) || return 0
    [ -p "$own/bell" ] || mkfifo "$own/orders" "$own/bell" || return 0
    # What makes boxes is a child of it, and has the mark of each attempt where it has this (box_maker.py).
    room=--------------------------------
    CROSSDESK_ROOM=$room$room$room$room$room$room$room$room$room \
        setsid "$python" -I -S -c "$serve" "$boxing" "$name" "$$" "$groups" </dev/null >/dev/null 2>&1 3<&- &
    lasting=$!
}

# Run attempt $tag for $claim in a session of its own, then those in line behind it.
begin() {
    note
    ! hand || return 0
    (
        trap - TERM
        exec 3<&-
        while :; do
            make_group
            way="nice -n $nice"
            [ "$nice" != 0 ] && [ -z "$group" ] || way=
            __warm=$PWD/$own/warm $way setsid /bin/sh -c \
                '[ -z "$3" ] || echo "$$" >"$3/cgroup.procs"; echo "$$" >"$1" && . "$2"; exit 227' \
                sh "$mine/pid" "./attempts/$tag/order" "$group" </dev/null >/dev/null 2>&1
            status=$?
            end_session
            [ -z "$group" ] || rmdir "$group" 2>/dev/null
            printf '%s\n' "$status" >"$mine/exit"
            once=1
            kill -s 0 "$$" 2>/dev/null && mind_lease && [ -z "$leaving" ] && follow && ! hand || break
        done
    ) &
    printf '%s\n' "$!" >"$mine/minder"
}

# What minds payload $mine may be killed alone: then that is waited for here.
mind_orphan() {
    [ ! -f "$mine/exit" ] && read -r minder kind 2>/dev/null <"$mine/minder" || return 0
    ! kill -s 0 "$minder" 2>/dev/null && [ ! -f "$mine/exit" ] && read -r tag <"$mine/tag" || return 0
    if [ "$kind" = lasting ]; then
        # A watchdog that finds nobody ends what is left, and tells so.
        [ -f "attempts/$tag/ended" ] ||
            __attended=$minder /bin/sh -c '. "$1"' sh "./attempts/$tag/order" </dev/null >/dev/null 2>&1
    else
        read -r leader 2>/dev/null <"$mine/pid" && ! kill -s 0 "$leader" 2>/dev/null || return 0
        end_session
    fi
    printf '137\n' >"$mine/exit"
}

# Take the claim that is in line behind $claim; false if none is, or the glidein leaves. That looks at what is taken once
# it has made `over`, so that either of the two sees the other.
follow() {
    ahead=$claim
    set +f
    for file in "$own"/claims/*; do
        after= mode=
        [ -f "$file" ] && read -r tag nice mode after <"$file"
        [ "$mode $after" = "run $ahead" ] || continue
        set -f
        claim=${file##*/}
        mine=$own/taken/$claim
        mkdir "$mine" 2>/dev/null || return 1
        [ ! -e "$own/over" ] || { printf 'refused\n' >"$mine/exit" && return 1; }
        note
        read -r minder <"$own/taken/$ahead/minder" && printf '%s\n' "$minder" >"$mine/minder"
        return 0
    done
    set -f
    return 1
}

# True if claim $1 is over, and if it never began, the one that was ahead of it.
is_over() {
    one=$1
    while [ -n "$one" ]; do
        at=$own/taken/$one
        [ -d "$at" ] || at=$own/past/$one
        [ -f "$at/exit" ] && read -r ended <"$at/exit" || return 1
        one=
        [ "$ended" != refused ] || [ ! -f "$at/ahead" ] || read -r one <"$at/ahead"
    done
    return 0
}

# Have the payload of $mine end.
release() {
    read -r tag <"$mine/tag" && true >"attempts/$tag/cancel"
}

# Put claims away whose end the broker has heard. It may ask once more, when it has forgotten that. What lasts does the
# same, without a process for it.
put_away() {
    [ -z "$bell" ] || return 0
    gone= past=
    set +f
    for file in "$own"/heard/*; do
        claim=${file##*/}
        [ -f "$file" ] || continue
        gone="$gone $own/claims/$claim" heard="$heard $file"
        [ ! -f "$own/taken/$claim/exit" ] || past="$past $own/taken/$claim"
    done
    set -f
    [ -z "$past" ] || mv $past "$own/past/"
    [ -z "$gone" ] || rm -f $gone $heard
    heard=
}

# Bring claim $claim to what the broker wants.
obey() {
    mine=$own/taken/$claim
    if [ -d "$own/past/$claim" ]; then
        # What lasts may have put it away since its file was read, which is gone then: nobody asks for it.
        [ -f "$own/claims/$claim" ] || return 0
        mv "$own/past/$claim" "$mine"
        fresh=1
        return
    fi
    if [ ! -d "$mine" ]; then
        mind_lease
        [ -z "$leaving" ] || return 0
        case $mode in end | back) ;; *) is_over "$after" || return 0 ;; esac
        if mkdir "$mine" 2>/dev/null; then
            # What lasts may have put it away since its file was read.
            [ ! -d "$own/past/$claim" ] || { rmdir "$mine" && return; }
            case $mode in
            end | back) printf '%s\n' "$after" >"$mine/ahead" && printf 'refused\n' >"$mine/exit" ;;
            *) begin ;;
            esac
            fresh=20
            return
        fi
    fi
    [ "$mode" != back ] || return 0
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
        [ -f "$file" ] && read -r tag nice mode after <"$file" && obey
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
    running= entries=
    clock
    set +f
    for mine in "$own"/taken/*; do
        [ -d "$mine" ] || continue
        claim=${mine##*/} status=
        [ ! -r "$mine/exit" ] || read -r status <"$mine/exit"
        [ -d "$mine" ] || continue # it was put away just now
        case $status in
        '') entries="${entries}runs $claim$newline" ;;
        refused) entries="${entries}refused $claim$newline" ;;
        *) entries="${entries}over $claim $status$newline" ;;
        esac
        [ -n "$status" ] || running="$running $claim"
        [ -n "$status$leaving" ] || printf '%s %s\n' "$beat" "$moment" >"$mine/lease"
    done
    set -f
    # Who reads before all is written misses the dot, and reads again.
    printf 'node %s\nbox %s\npriorities %s\nbeat %s\n%s%s.\n' "$node" "$boxed" "$priorities" "$beat" \
        "${fault:+fault $fault$newline}" "$entries" >"$own/state"
}

# Keep an agent warm, which takes a moment of a processor: not while the first payload begins, nor in many glideins at
# once, as soon as the site has the agent.
keep_warm() {
    [ "$turns" -gt 25 ] && [ "$spares" -lt 3 ] && [ -n "$agent" ] && [ -x "programs/$agent" ] || return 0
    [ -z "$spare" ] || ! kill -s 0 "$spare" 2>/dev/null || return 0
    if [ -z "$turn" ]; then
        set +f
        set -- glideins/*
        set -f
        turn=$((turns + $$ % (2 * $# - 1)))
    fi
    [ "$turns" -ge "$turn" ] || return 0
    spares=$((spares + 1))
    mkdir -p "$own/warm" && cp "programs/$warm" "$own/warm/start" && printf '%s\n' "$agent" >"$own/warm/agent" ||
        return 0
    setsid "$PWD/programs/$agent" --warm "$PWD/$own/warm" "$$" </dev/null >/dev/null 2>&1 3<&- &
    spare=$!
}

# Wait for the bell of what lasts, which needs no process for each look as `sleep` does; false if it is not there. As
# nobody else writes to the bell, and no payload may read from it, that comes to its end once the writer is gone.
hear_bell() {
    if [ -z "$bell" ]; then
        [ -n "$lasting" ] && read -r bell 2>/dev/null <"$own/starter" && [ "$bell" = "$lasting" ] || bell=
        [ -n "$bell" ] || return 1
        # A pipe without a writer would not open. This one must be gone before anything is started.
        { [ -p "$own/bell" ] && command exec 4<>"$own/bell" 3<"$own/bell" 4<&-; } 2>/dev/null || { bell= && return 1; }
    fi
    ! read -r word <&3 && [ -z "$rung$leaving" ] || return 0
    exec 3<&-
    bell=
    return 1
}

# Wait for the next look.
rest() {
    if [ -z "$rung" ] && ! hear_bell; then
        sleep 0.2 &
        nap=$!
        if [ -z "$rung" ]; then wait "$nap"; else kill "$nap"; fi 2>/dev/null
    fi
    nap= rung=
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
        read -r leader <"$own/taken/$claim/pid" || continue
        of_session "$leader"
        [ -z "$processes" ] || kill -s KILL $processes 2>/dev/null
    done
    [ -z "$lasting" ] || kill -s KILL "$lasting" 2>/dev/null
    remove_groups
    exit 0
}

read -r node 2>/dev/null </proc/sys/kernel/hostname || node=$(uname -n)
fault=
[ -r /proc/uptime ] && [ -r /proc/self/stat ] || fault="the node has no /proc"
for program in setsid renice nice; do
    command -v "$program" >/dev/null 2>&1 || fault="the node has no $program"
done
quick=
! command -v pgrep >/dev/null 2>&1 || quick=pgrep
priorities=down
find_groups
if [ -n "$groups" ] || nice -n 1 /bin/sh -c 'renice 0 -p "$$"' >/dev/null 2>&1; then priorities=both; fi
# Set boxed to what keeps payloads apart; only where that is no question is it not tried.
kinds=
[ "$boxes" != never ] || kinds=none
/bin/sh "$box" find "$own/box" "$boxing" $kinds || echo "not boxed: $box is missing" >"$own/box"
read -r boxed <"$own/box"
case $boxes:$boxed in always:not*) fault="no box can be made on the node: ${boxed#*: }" ;; esac
boxed=${boxed%% /*}
newline='
'
beat=0 known= most=$first running= heard= spare= spares=0 turn= lasting= starters=0 once= bell=
# What the archive compiles to is beside it (compiled.py).
serve='import sys; a = sys.argv[1]; i = sys.implementation.cache_tag; sys.path[:0] = [f"{a}.{i}-{sys.hexversion:x}", a]
from broker_core.worker.scripts.payloads.compiled import provide; provide()
from broker_core.worker.scripts.payloads.server import main
main(sys.argv[2], int(sys.argv[3]), sys.argv[4])'
[ -z "$fault" ] || { tell && exit 1; }
clock
since=$now looked=$now turns=0 fresh=0
while :; do
    [ "$((turns % 5))" -ne 0 ] || put_away
    [ -n "$leaving" ] || claims
    [ "$((turns % 5))" -ne 0 ] || mind_lease
    [ -z "$leaving" ] || leave
    # Every second; more often after a claim was taken, whose payload waits for a renewal of its lease; and what ended.
    for claim in $running; do
        mine=$own/taken/$claim
        mind_orphan
        [ ! -f "$mine/exit" ] || fresh=5 once=1
    done
    [ "$((turns % 5))" -ne 0 ] && [ "$fresh" -eq 0 ] || tell
    keep_warm
    keep_starter
    turns=$((turns + 1))
    [ "$fresh" -eq 0 ] || fresh=$((fresh - 1))
    rest
done
