#!/bin/sh
# The Job Starter: runs one attempt of one job in a directory of its own (CB-JS-01 to 06).
# Plain POSIX sh (dash, bash, busybox). All that depends on the job comes in variables (CB-JS-03):
#
#   __jobid               job identifier             __attempt         unique tag of this attempt
#   __directory           directory of the attempt   __notice          FIFO to tell of the start, or empty
#   __environment         list of NAME=VALUE         __input_file      list of needed input files
#   __input_base_url      where to get them; empty: they are in `job` already (file://, http://, https://)
#   __input_source        list beside __input_file of `MODE URL`, where to get each and its mode; empty: as above
#   __most_input          largest size of a file that is fetched, in units of 512 bytes; empty: no limit
#   __job                 the user's program         __arguments       list of its arguments
#   __standard_input  __standard_output  __standard_error              names below `job`
#   __interactive         1 or 0                     __interactive_agent_args
#   __interactive_agent   list of agents, of which the first is taken that this node can run
#   __agent_sums          list of the SHA-256 that they must have; an empty one: any
#   __agent_stamps        list of `INODE SIZE MTIME CTIME` that they had when they had those; empty ones: not known
#   __nodes               nodes used at this site    __subjob_index    index in an inter-cluster job
#   __output_file         list of names, folders and wildcards to bring back; `.`: all files but the inputs
#   __most_output         bytes that `.` brings back, in one file and in all; empty: no limit
#   __stay                names to list of other files, which stay here; empty: none
#   __output_base_url     where to send them; empty: they are read where they are
#   __wall_limit          seconds of wall time       __kill_grace      seconds between TERM and KILL
#   __file_limit          largest size of a file, in units of 512 bytes
#   __news                directory for news to a broker that looks in from afar; empty: it sees the markers
#   __attended            pid of a starter that lasts, and has the program: this is its watchdog; empty: none
#   __leader              pid of that program, which leads its session
#   __beat                seconds between two signs of life in `beat`, and looks for `cancel`; empty: none
#   __lease, __lease_file seconds that the program may run without a change of this file; empty: for ever
#   __use                 use.sh, which samples what the job uses and finds out what it ran out of; empty: no one does
#   __publish             folder of what programs publish with; empty: none
#   __software            list of the words of software.sh, itself the first; empty: the program needs none
#   __box                 list of the words of box.sh, itself the first; empty: the program is in no box
#   __mpi                 list of the words of mpi_start.sh, itself the first; empty: the program is started once
#
# Lists are joined with commas; each item is escaped: every byte but letters, digits and _./:=+@- is
# `\0` and three octal digits; an empty item is one backslash. `printf %b` turns that back.
#
# What it leaves in __directory: `claim` (made by mkdir, so that only one starter can have it), `job`
# (working directory), `started` and `ended` (whole only if the last line is a single dot), `outputs`
# (SHA-256 of each output file, their sizes, what stays: `stay SIZE NAME` with `\\` and `\n` in the name, and
# `stayed FILES BYTES` for the rest). In __news: links to `started`, `outputs` and `ended`
# as TAG.s, TAG.o and TAG.e, in this order, each whole.
#
# Exit status: 0 to 125 the program's own; 128+N: ended by signal N, as far as the shell can tell, else the
# program's own; 199: the program's own above 125;
# 220 download failed, 221 executable missing, 222 agent failed, 223 output upload failed,
# 224 wall limit, 225 output limit, 226 refused second start, 227 the starter itself failed,
# 228 no desk came back to the agent, 229 the software that was asked for is not there,
# 230 out of memory.

set -f
umask 077
trap '' HUP PIPE TERM INT
__ifs=$IFS

# Set __value to what item $1 stands for.
__decode() {
    case $1 in
    \\) __value= ;;
    *\\*)
        __value=$(printf '%b.' "$1")
        __value=${__value%.}
        ;;
    *) __value=$1 ;;
    esac
}

# Set __item to the first item of __list, and take it away from there.
__next() {
    __item=${__list%%,*}
    case $__list in
    *,*) __list=${__list#*,} ;;
    *) __list= ;;
    esac
}

# Set __uptime to the seconds since the machine started, or nothing.
__clock() {
    __uptime=
    if [ -r /proc/uptime ]; then read -r __uptime __rest </proc/uptime; fi
}

# The same, and set __time to those since the epoch, for news.
__date() {
    __clock
    __time=
    [ -z "$__news" ] || __time=$(date +%s)
}

# Tell the broker of marker $1 under the letter $2.
__tell() {
    [ -n "$__news" ] && [ -f "$__here/$1" ] || return 0
    __decode "$__news"
    ln -- "$__here/$1" "$__value/$__attempt.$2" 2>/dev/null && return
    cp -p -- "$__here/$1" "$__value/.$__attempt.$2" && mv -f -- "$__value/.$__attempt.$2" "$__value/$__attempt.$2"
}

# Record the end and leave: exit status of the program or -, kind of failure or -, reason (escaped names).
__end() {
    __date
    __code=$1 __kind=$2 __reason=$3
    rm -f "$__here/room" "$__here/said" "$__here/spent" "$__here/stay" "$__here/stay.sum" "$__here/kernel"
    {
        printf 'exit %s\nfailure %s\nuptime %s\ntime %s\nmissing %s\nreason %s\n%stimes\n' \
            "$__code" "$__kind" "$__uptime" "$__time" "$__missing" "$__reason" "$__terminated$__itself$__peak$__cpu"
        times
        printf '.\n'
    } >"$__here/ended"
    __tell outputs o
    __tell ended e
    case $__kind in
    download) exit 220 ;;
    executable-missing) exit 221 ;;
    agent) exit 222 ;;
    upload) exit 223 ;;
    wall-limit) exit 224 ;;
    output-limit) exit 225 ;;
    no-desk) exit 228 ;;
    software) exit 229 ;;
    out-of-memory) exit 230 ;;
    starter | lease | killed | lost) exit 227 ;;
    esac
    [ -z "$__itself" ] || exit 199
    [ "$__code" -gt 192 ] && exit 199
    [ "$__code" -gt 125 ] && [ "$__code" -lt 129 ] && exit 199
    exit "$__code"
}

# Copy $1 (URL) to $2, and say why not. An address goes by standard input, as others see the words of a command.
__fetch() {
    trap - HUP TERM INT
    LC_ALL=C
    export LC_ALL
    case $1 in
    file://*) cp --reflink=auto -- "${1#file://}" "$2" 2>/dev/null || cp -- "${1#file://}" "$2" ;;
    http://* | https://*)
        __limit "$__most_input"
        if command -v curl >/dev/null 2>&1; then
            printf 'url = "%s"\n' "$1" | curl -q -gfsSL --proto '=http,https' --connect-timeout 30 --retry 2 \
                --speed-limit 1 --speed-time 120 -o "$2" -K -
        elif command -v wget >/dev/null 2>&1; then
            printf '%s\n' "$1" | wget -nv -t 3 -T 120 -O "$2" -i -
        elif command -v python3 >/dev/null 2>&1; then
            printf '%s\n' "$1" | python3 -c 'import shutil, sys, urllib.request
with urllib.request.urlopen(sys.stdin.readline().strip(), timeout=120) as there, open(sys.argv[1], "wb") as here:
    shutil.copyfileobj(there, here)' "$2"
        else
            echo "the node has neither curl nor wget nor python3"
            false
        fi
        ;;
    *) false ;;
    esac
}

# Set __shown to $1 (URL) without what may be secret in it: user, password, query.
__clean() {
    __shown=${1%%[?#]*}
    __rest=${__shown#*://}
    __host=${__rest%%/*}
    __shown=${__shown%%://*}://${__host##*@}${__rest#"$__host"}
}

# No file of this process may grow beyond $1 units of 512 bytes.
__limit() {
    [ -n "$1" ] || return 0
    case ${BASH_VERSION:+bash}:$SHELLOPTS: in
    bash:*:posix:* | :*) ulimit -f "$1" ;;
    *) ulimit -f $(($1 / 2)) ;;
    esac
}

# Copy file $1 to $2 (URL).
__send() {
    case $2 in
    file://*) cp -- "$1" "${2#file://}" ;;
    http://* | https://*) curl -fsS -T "$1" -- "$2" ;;
    *) false ;;
    esac
}

# Get input file __value with mode $1 from $2 (URL), or end.
__get() {
    __why=$(__fetch "$2" "./$__value" 2>&1 && chmod "$1" "./$__value" 2>&1) && return
    __status=$?
    [ ! -f "$__here/cancel" ] || __end - killed "Canceled as its owner asked."
    __why=$(printf %s "${__why##*: }" | tr '\\\n' '  ' | LC_ALL=C tr -cd ' -~')
    case $2 in
    file://*) __end - download "The input file $__item could not be put into the job's directory: $__why." ;;
    esac
    [ "$__status" -ne 153 ] || __why="it has more than $((__most_input / 2)) KiB"
    __clean "$2"
    __end - download "The input file $__item could not be fetched from $__shown: ${__why:-no reason was given}."
}

# Have the input files in place (CB-JS-02): get what is not there, look at what should be.
__inputs() {
    __sources=$__input_source
    __list=$__input_file
    while [ -n "$__list" ]; do
        __next
        __source=${__sources%%,*}
        case $__sources in *,*) __sources=${__sources#*,} ;; *) __sources= ;; esac
        __decode "$__source"
        __source=$__value
        __decode "$__item"
        if [ -n "$__source" ]; then
            __get "${__source%% *}" "${__source#* }"
        elif [ -n "$__input_base_url" ]; then
            (__fetch "$__base/$__value" "./$__value") >/dev/null 2>&1 ||
                __end - download "The input file $__item could not be fetched from $__input_base_url."
        fi
        [ -f "./$__value" ] || __end - download "The input file $__item is not in the job's directory."
    done
    rm -rf "$__here/held"
}

# Set __program to the path of $1: in the job's directory, absolute, or looked up in PATH as $2.
__find() {
    __program=
    case $1 in
    */*) if [ -f "$1" ] && [ -x "$1" ]; then __program=$1; fi ;;
    *)
        IFS=:
        for __folder in $2; do
            if [ -f "$__folder/$1" ] && [ -x "$__folder/$1" ]; then
                __program=$__folder/$1
                break
            fi
        done
        IFS=$__ifs
        ;;
    esac
    [ -n "$__program" ]
}

# Tell of a missing interpreter: an existing program that starts with `#!` and could not be run.
__interpreter() {
    __first=
    read -r __first <"$__program" || return 1
    case $__first in '#!'*) ;; *) return 1 ;; esac
    __first=${__first#??}
    set -- $__first
    [ -n "$1" ] && [ ! -x "$1" ]
}

# True if file $1 has SHA-256 $2. One that has stamp $3 was found to have it, and has not changed since.
__has_sum() {
    [ -n "$3" ] && [ "$(stat -L -c '%i %s %Y %Z' -- "$1" 2>/dev/null)" = "$3" ] ||
        [ "$(sha256sum <"$1")" = "$2  -" ]
}

# Set __why to what keeps this node from running agent $1 with SHA-256 $2 (empty: any) and stamp $3, or to nothing.
__unsuited() {
    __why=
    case ${1##*/} in
    *x86_64-linux*)
        [ "$(uname -m)" = x86_64 ] || __why="the node is no x86-64 machine"
        case $(getconf GNU_LIBC_VERSION 2>/dev/null) in
        *' 2.2'[89]* | *' 2.'[3-9][0-9]* | *' 2.'[1-9][0-9][0-9]* | *' '[3-9].*) ;;
        *) __why="${__why:-the node has no GNU C library of version 2.28 or newer}" ;;
        esac
        ;;
    esac
    [ -n "$__why" ] || __find "$1" "$PATH" || __why="its file is missing at the site, or cannot be run there"
    [ -n "$__why" ] || [ -z "$2" ] || __has_sum "$1" "$2" "$3" || __why="its copy at the site is damaged"
    [ -z "$__why" ]
}

# Set __agent to the first agent of the list that this node can run, and __lacking to why no better one is taken.
__choose_agent() {
    __sums=$__agent_sums __stamps=$__agent_stamps
    __list=$__interactive_agent
    __lacking=
    while [ -n "$__list" ]; do
        __next
        __decode "$__item"
        __sum=${__sums%%,*}
        case $__sums in *,*) __sums=${__sums#*,} ;; esac
        [ "$__sum" != "\\" ] || __sum=
        __path_of_agent=$__value __item=${__stamps%%,*}
        case $__stamps in *,*) __stamps=${__stamps#*,} ;; esac
        __decode "$__item"
        if __unsuited "$__path_of_agent" "$__sum" "$__value"; then
            __agent=$__program
            return
        fi
        __lacking=${__lacking:-$__why}
    done
    __end - agent "The interactive agent $__interactive_agent cannot be used: $__lacking."
}

# True if the glidein around this, if any, keeps this very agent warm.
__is_warm() {
    [ -n "$__warm" ] && [ -p "$__warm/bell" ] || return 1
    { read -r __first <"$__warm/agent"; } 2>/dev/null
    [ "$__first" = "${__agent##*/}" ]
}

# Make an empty file for output $1; folders on the way too.
__output() {
    case $1 in
    */*) mkdir -p -- "./${1%/*}" 2>/dev/null ;;
    esac
    true 2>/dev/null >"./$1" || __end - starter "The file $2 for standard output cannot be made."
}

# True if a shell can export variable $1 without harm to itself; `env` has to set the others.
__plain() {
    case $1 in
    __* | _ | [!A-Za-z_]* | *[!A-Za-z0-9_]* | '') return 1 ;;
    IFS | PS[0-9] | OPT* | LINENO | PPID | *UID | GROUPS | RANDOM | SRANDOM | SECONDS | EPOCH* | SHELLOPTS) return 1 ;;
    BASH* | DIRSTACK | HIST* | FUNC* | PIPESTATUS | HOSTNAME | HOSTTYPE | PWD | OLDPWD | LC_* | LANG*) return 1 ;;
    MACHTYPE | OSTYPE | SHLVL | MAIL* | ENV | PATH | POSIXLY_CORRECT | COMP_* | COMPREPLY | READLINE* | REPLY) return 1 ;;
    COLUMNS | LINES | FIGNORE | GLOB* | IGNOREEOF | TIMEFORMAT | TMOUT | histchars | auto_resume | COPROC | MAPFILE) return 1 ;;
    esac
}

# For a batch script, which may be away from its own system: set what only the node knows. $@: the job's variables;
# CROSSDESK_BATCH_SCRIPT has the script's system, its CPUs, and those of one node.
__as_batch_script() {
    __list= __array= __kept=
    for __pair do
        case $__pair in
        CROSSDESK_BATCH_SCRIPT=*) __list=${__pair#*=} ;;
        SLURM_ARRAY_TASK_ID=*) __array=1 ;;
        esac
    done
    [ -n "$__list" ] || return 0
    set -- $__list
    # What the batch system says of itself counts more than what the script asked for.
    for __name in SLURM_JOB_PARTITION SLURM_JOB_ACCOUNT SLURM_JOB_QOS PBS_QUEUE PBS_O_QUEUE QUEUE LSB_QUEUE; do
        eval "__value=\$$__name"
        [ -z "$__value" ] || __kept="$__kept $__name "
    done
    # One line for each CPU: its node.
    if [ -r "$PE_HOSTFILE" ]; then
        cat "$PE_HOSTFILE"
    elif [ -r "${PBS_NODEFILE:-$LSB_DJOB_HOSTFILE}" ]; then
        sed 's/$/ 1/' "${PBS_NODEFILE:-$LSB_DJOB_HOSTFILE}"
    elif [ -n "$SLURM_JOB_NODELIST" ]; then
        # As 4(x2),3 for three nodes; one task has all CPUs of its node.
        __rest=${SLURM_TASKS_PER_NODE:-1}
        [ "$__rest" != 1 ] || __rest=$3
        scontrol show hostnames "$SLURM_JOB_NODELIST" | while read -r __name; do
            __item=${__rest%%,*}
            __number=${__item%%"("*} __times=1
            case $__item in *x*) __times=${__item##*x} ;; esac
            printf '%s %s\n' "$__name" "$__number"
            __times=$((${__times%")"} - 1))
            if [ "$__times" -gt 0 ]; then
                __rest="$__number(x$__times)${__rest#"$__item"}"
            else
                __rest=${__rest#*,}
            fi
        done
    else
        printf '%s %s\n' "$(uname -n)" "$2"
    fi 2>/dev/null | while read -r __name __number __rest; do
        while [ "$__number" -gt 0 ]; do
            printf '%s\n' "$__name"
            __number=$((__number - 1))
        done
    done >"$__here/hosts"
    sort "$__here/hosts" | uniq -c | while read -r __number __name; do
        printf '%s %s main UNDEFINED\n' "$__name" "$__number"
    done >"$__here/pe_hosts"
    __name=$(cut -d ' ' -f 1 "$__here/pe_hosts" | tr '\n' ' ')
    __name=${__name% }
    __times=$(($(wc -l <"$__here/pe_hosts")))
    __number=${SLURM_JOB_ID:-${JOB_ID:-${LSB_JOBID:-${PBS_JOBID%%[!0-9]*}}}}
    [ -n "$__number" ] || __number=$(printf %s "$__attempt" | cksum)
    __number=${__number%% *}
    case $1 in
    slurm)
        # Those of a handed-over array number its attempts, and not the tasks of the script.
        unset SLURM_ARRAY_TASK_ID SLURM_ARRAY_TASK_COUNT SLURM_ARRAY_TASK_MIN SLURM_ARRAY_TASK_MAX \
            SLURM_ARRAY_TASK_STEP SLURM_ARRAY_JOB_ID
        [ -z "$__array" ] || export SLURM_ARRAY_JOB_ID="$__number"
        [ -n "$SLURM_JOB_NODELIST" ] || SLURM_JOB_NODELIST=$(printf %s "$__name" | tr ' ' ,)
        [ -n "$SLURM_TASKS_PER_NODE" ] ||
            SLURM_TASKS_PER_NODE=$(cut -d ' ' -f 2 "$__here/pe_hosts" | tr '\n' ,)
        export SLURM_JOB_NUM_NODES="$__times" SLURM_NNODES="$__times" SLURM_TASKS_PER_NODE="${SLURM_TASKS_PER_NODE%,}" \
            SLURM_SUBMIT_HOST="${SLURM_SUBMIT_HOST:-$(uname -n)}"
        export SLURM_SUBMIT_DIR="$PWD" SLURM_JOB_ID="$__number" SLURM_JOBID="$__number" SLURM_JOB_NODELIST \
            SLURM_NODELIST="$SLURM_JOB_NODELIST" SLURM_CPUS_ON_NODE="${SLURM_CPUS_ON_NODE:-$3}" \
            SLURM_JOB_CPUS_PER_NODE="${SLURM_JOB_CPUS_PER_NODE:-$3}" SLURM_PROCID="${SLURM_PROCID:-0}" \
            SLURM_LOCALID="${SLURM_LOCALID:-0}" SLURM_NODEID="${SLURM_NODEID:-0}" \
            SLURMD_NODENAME="${SLURMD_NODENAME:-$(uname -n)}"
        ;;
    pbs)
        unset PBS_ARRAY_INDEX PBS_ARRAYID
        [ -r "$PBS_NODEFILE" ] || PBS_NODEFILE=$__here/hosts
        export PBS_O_HOST="${PBS_O_HOST:-$(uname -n)}" PBS_NUM_NODES="$__times" PBS_O_WORKDIR="$PWD" PBS_JOBDIR="$PWD" PBS_JOBID="${PBS_JOBID:-$__number}" PBS_NODEFILE
        ;;
    sge)
        [ -r "$PE_HOSTFILE" ] || PE_HOSTFILE=$__here/pe_hosts
        export SGE_O_HOST="${SGE_O_HOST:-$(uname -n)}" NHOSTS="$__times" SGE_O_WORKDIR="$PWD" JOB_ID="$__number" PE_HOSTFILE
        ;;
    lsf)
        [ -r "$LSB_DJOB_HOSTFILE" ] || LSB_DJOB_HOSTFILE=$__here/hosts
        export LSB_SUB_HOST="${LSB_SUB_HOST:-$(uname -n)}" LS_SUBCWD="$PWD" LSB_JOBID="$__number" LSB_DJOB_HOSTFILE LSB_HOSTS="$(tr '\n' ' ' <"$__here/hosts")" \
            LSB_MCPU_HOSTS="$(cut -d ' ' -f 1,2 "$__here/pe_hosts" | tr '\n' ' ')"
        ;;
    condor) export _CONDOR_SCRATCH_DIR="$PWD" _CONDOR_JOB_IWD="$PWD" ;;
    esac
}

# Print the /proc/PID/environ files that hold the mark; only GNU grep reads zero-ended lines itself.
__marked() {
    set +f
    # Where it can do that it finds this shell at least.
    __found=$(grep -lsFxz "CROSSDESK_ATTEMPT=$__attempt" /proc/[0-9]*/environ 2>/dev/null)
    case $__found in
    */proc/"$$"/environ*)
        printf '%s\n' "$__found"
        return
        ;;
    esac
    for __file in /proc/[0-9]*/environ; do
        if tr '\0' '\n' 2>/dev/null <"$__file" | grep -qxF "CROSSDESK_ATTEMPT=$__attempt"; then
            printf '%s\n' "$__file"
        fi
    done 2>/dev/null
}

# Send signal $1 to every process of this attempt but the starter and its watchdog; false if there is none.
__signal() {
    if [ ! -r /proc/self/environ ]; then
        kill -s TERM 0
        return 1
    fi
    set -- "$1" $(__marked)
    __number=$1 __found=1
    shift
    for __process do
        __process=${__process#/proc/}
        __process=${__process%/environ}
        case $__process in "$$" | "$__self") continue ;; esac
        kill -s "$__number" "$__process" 2>/dev/null && __found=0
    done
    return "$__found"
}

# Let this watchdog end at USR1.
__obey() {
    __nap= __dozing= __over= __beside=
    # Between its start and the note of its number a nap would be left behind.
    trap 'if [ -n "$__dozing" ]; then __over=1; else __leave; fi' USR1
    trap - TERM
}

# Start the agent that is wanted beside the program; one that was brought before ends. Without one that this node
# can run the reason is left for the broker.
__bring() {
    __name= __sum= __item=
    { read -r __name && read -r __sum && read -r __item; } <"$__here/beside"
    rm -f "$__here/beside"
    __dismiss
    if ! __unsuited "$__here/../../programs/$__name" "$__sum"; then
        printf '{"key":"","fingerprint":"","node":"%s","unfit":"%s"}\n' "$(uname -n)" "$__why" >.crossdesk-agent.part
        mv -f .crossdesk-agent.part .crossdesk-agent
        return
    fi
    __decode "$__item"
    (
        trap - HUP PIPE TERM INT QUIT USR1
        export CROSSDESK_SESSION="$__value"
        [ -z "$__box" ] || export CROSSDESK_BOX="$__box"
        __list=$__environment
        while [ -n "$__list" ]; do
            __next
            __decode "$__item"
            if __plain "${__value%%=*}"; then export "${__value?}"; fi
        done
        unset $(env | sed -n 's/^\(__[a-z_]*\)=.*/\1/p')
        exec "$__program" /bin/cat
    ) </dev/null >/dev/null 2>&1 &
    __beside=$!
}

# End the agent beside the program; it says goodbye to its desks, which takes a moment.
__dismiss() {
    if [ -n "$__beside" ]; then
        kill -s TERM "$__beside"
        __left=50
        while [ -f .crossdesk-agent ] && [ "$__left" -gt 0 ]; do
            sleep 0.1
            __left=$((__left - 1))
        done
        kill -s KILL "$__beside"
        wait "$__beside"
        __beside=
        (set +f && rm -rf -- "$__here"/.crossdesk-spool-*)
    fi 2>/dev/null
    rm -f .crossdesk-agent .crossdesk-agent.part
}

__leave() {
    [ -z "$__beside" ] || __dismiss
    [ -z "$__nap" ] || { kill "$__nap" && wait "$__nap"; } 2>/dev/null
    exit 0
}

# Wait for $1 seconds in a watchdog.
__doze() {
    __dozing=1
    sleep "$1" &
    __nap=$! __dozing=
    [ -z "$__over" ] || __leave
    wait "$__nap"
}

# Wait for $1 seconds, or until the broker asks for something: it is not kept waiting for the next sign of life.
__idle() {
    __left=$1
    while [ "$__left" -gt 0 ]; do
        [ "$__left" -lt 3 ] && __step=$__left || __step=3
        __doze "$__step"
        __left=$((__left - __step))
        { [ ! -f "$__here/cancel" ] && [ ! -f "$__here/beside" ] && ! __is_turned; } || return 0
    done
}

# Wait for the wall-time limit, then end everything.
__watch() {
    __obey
    __doze "$__wall_limit"
    __stop wall-limit
}

# Set __renewal to what the lease's file says, __before and __now to the moments around that: hundredths of
# seconds since the machine started. What a glidein of this node writes has its own moment behind it: __renewed.
__look_at_lease() {
    __clock
    __before=${__uptime%.*}${__uptime#*.}
    __renewal= __renewed=
    if [ -r "$__lease_path" ]; then read -r __renewal __renewed <"$__lease_path"; fi
    __clock
    __now=${__uptime%.*}${__uptime#*.}
}

# End everything when the lease is over; else set __length to the seconds until it has to be looked at again.
__mind_lease() {
    __look_at_lease
    # What is another one now was renewed at some time since the look before.
    [ "$__renewal" = "$__last" ] || __last=$__renewal __since=$__looked
    __looked=$__before
    __left=$((__lease - (__now - __since) / 100))
    [ "$__left" -gt 0 ] || __stop lease
    __length=$((__lease / 8 + 1))
    [ "$__length" -le "$__beat" ] || __length=$__beat
    [ "$__length" -le "$__left" ] || __length=$__left
}

# Give signs of life; end everything when the broker asks for it, or when the lease is over.
__attend() {
    __obey
    __last=$__renewal __since=$__before __looked=$__before __first= __halted=
    while :; do
        __clock
        printf '%s\n' "$__uptime" >"$__here/beat"
        [ ! -f "$__here/cancel" ] || __stop killed
        [ ! -f "$__here/beside" ] || __bring
        ! __is_turned || __turn
        kill -s 0 "${__attended:-$$}" 2>/dev/null || __bury
        __length=$__beat
        [ -z "$__lease" ] || __mind_lease
        __idle "$__length"
        # A job that is over before this pays nothing for it.
        [ -z "$__use" ] || __look_at_use
    done
}

# True if the program is to stand still and does not, or the reverse.
__is_turned() {
    if [ -f "$__here/pause" ]; then [ -z "$__halted" ]; else [ -n "$__halted" ]; fi
}

# Have the program stand still, or go on. What it starts meanwhile is found in the second pass.
__turn() {
    if [ -f "$__here/pause" ]; then
        __halted=1
        __halt STOP
        __halt STOP
    else
        __halted=
        __halt CONT
    fi
}

# Send signal $1 to every process of this attempt but the starter, the watchdogs and what these wait for, and an agent.
__halt() {
    read -r __self __rest </proc/self/stat
    for __process in $(__marked); do
        __process=${__process#/proc/}
        __process=${__process%/environ}
        { read -r __parent <"/proc/$__process/stat"; } 2>/dev/null || continue
        __parent=${__parent##*) }
        __parent=${__parent#* }
        __parent=${__parent%% *}
        case " $$ $__self $__watchdogs $__beside " in *" $__process "*) continue ;; esac
        case " $__self $__watchdogs " in *" $__parent "*) continue ;; esac
        kill -s "$1" "$__process" 2>/dev/null
    done
}

# Note what the job uses now.
__look_at_use() {
    if [ -z "$__first" ]; then
        __decode "$__use"
        . "$__value"
    fi
    __sample_use
}

# True if the lease says when it was renewed, and is not over. It counts from then.
__is_renewed() {
    case $__renewed in '' | *[!0-9]*) return 1 ;; esac
    [ "$(((__now - __renewed) / 100))" -lt "$__lease" ] && __before=$__renewed
}

# Wait for a renewal of the lease, so that nothing begins that the broker may believe to be over.
__await_lease() {
    __decode "$__lease_file"
    __lease_path=$__value
    __look_at_lease
    __last=$__renewal __since=$__now __tries=20
    while [ "$__renewal" = "$__last" ] && ! __is_renewed; do
        [ ! -f "$__here/cancel" ] || return 0
        [ "$(((__now - __since) / 100))" -lt "$__lease" ] ||
            __end - lease "The broker was not heard from for $__lease seconds, so the program was not started."
        if [ "$__tries" -gt 0 ]; then sleep 0.1; else sleep 1; fi
        __tries=$((__tries - 1))
        __look_at_lease
    done
}

# End everything because of $1; does not return.
__stop() {
    printf '%s\n' "$1" >"$__here/stopped"
    __end_all
    exit 0
}

# The starter was killed, by the program or another: end what it left, which its batch system may not see.
__bury() {
    __end_all
    __end - lost "The Job Starter was killed on its node; all processes of the job were ended too."
}

# TERM, a grace, KILL until nothing is left.
__end_all() {
    trap '' USR1 TERM
    read -r __self __rest </proc/self/stat
    __signal TERM
    # Who stands still does not hear it.
    [ ! -f "$__here/pause" ] || __signal CONT
    __left=${__kill_grace:-5}
    while [ "$__left" -gt 0 ] && __signal 0; do
        sleep 1
        __left=$((__left - 1))
    done
    while __signal KILL; do sleep 0.1; done
}

# True if the program ended with __status by itself, and not by a signal: of its end by that signal this shell
# would have told, as it does of another's.
__ended_itself() {
    [ "$__status" -gt 128 ] && [ "$__status" -le 192 ] || return 1
    [ -z "$__agent$__box" ] && [ "$__said" != /dev/null ] && [ ! -s "$__said" ] || return 1
    __number=$((__status - 128))
    case $(kill -l "$__number" 2>/dev/null) in
    # These end nothing.
    CHLD | CONT | STOP | TSTP | TTIN | TTOU | URG | WINCH) return 0 ;;
    esac
    {
        (
            trap - HUP PIPE TERM INT QUIT
            ulimit -c 0
            exec /bin/sh -c "kill -$__number \$\$"
        ) 2>/dev/null
        :
    } 2>"$__said"
    [ -s "$__said" ]
}

# Run `find` with these words on the files in all folders that are to be brought back.
__in_folders() {
    __list=$__folders
    while [ -n "$__list" ]; do
        __next
        __decode "$__item"
        find "./${__value%/}/" -type f "$@"
    done
}

# Set __value to the pattern of `find -path` for file $1 alone.
__pattern() {
    __value=$1
    case $__value in
    *[][*?\\]*) __value=$(printf '%s.' "$__value" | sed 's/[][*?\\]/\\&/g') && __value=${__value%.} ;;
    esac
}

# For some files: list those that come home, with hashes and sizes, and note those that stay. One look at the
# sizes is all where everything comes home.
# Arguments: 0: no file comes home, 1: those come that are within the limit; bytes that come home (empty: all);
# names of what stays that are listed at the most; file for that; standard output and error, which always come.
__sort='
any=$1 most=$2 names=$3 note=$4 out=$5 err=$6
shift 6
line="
"
sizes=$(stat -c %s -- "$@" 2>/dev/null) || sizes=$(for file do wc -c <"$file"; done)
sum=0 listed=0 more=0 bytes=0
[ ! -r "$note.sum" ] || read -r sum listed more bytes <"$note.sum"
here=$sum
for size in $sizes; do here=$((here + size)); done
if [ "$any" = 1 ] && [ "$here" -le "${most:-$here}" ]; then
    sha256sum -- "$@"
    printf "size %s\n" $sizes
    printf "%s %s %s %s\n" "$here" "$listed" "$more" "$bytes" >"$note.sum"
    exit
fi
{
    for size in $sizes; do
        [ $# -gt 0 ] || break
        file=$1 comes=
        shift
        case $file in
        "$out" | "$err")
            [ "$any" = 1 ] || continue
            comes=1
            ;;
        *) [ "$any" = 0 ] || [ $((sum + size)) -gt "$most" ] || comes=1 sum=$((sum + size)) ;;
        esac
        if [ -n "$comes" ]; then
            printf "%s\0" "$file"
            printf "size %s\n" "$size" >&4
        elif [ "$listed" -ge "$names" ] || [ ${#file} -gt 1000 ]; then
            more=$((more + 1)) bytes=$((bytes + size))
        else
            case $file in
            *"$line"* | *\\*)
                file=$(printf "%s." "$file" | sed -e ":a" -e "\$!{" -e N -e ba -e "}" \
                    -e "s/\\\\/\\\\\\\\/g" -e "s/\n/\\\\n/g")
                file=${file%.}
                ;;
            esac
            printf "stay %s %s\n" "$size" "$file" >&3
            listed=$((listed + 1))
        fi
    done
    printf "%s %s %s %s\n" "$sum" "$listed" "$more" "$bytes" >"$note.sum"
} 3>>"$note" 4>>"$note" | if [ "$any" = 1 ]; then xargs -0 sha256sum --; fi
'

# Go through the regular files of the job that are neither input files nor $@, nor in folders to be brought.
__others() {
    [ $# -le 200 ] || set --
    for __file do
        shift
        __pattern "$__file"
        set -- "$@" ! -path "$__value"
    done
    for __list in "$__input_file" "$__folders"; do
        while [ -n "$__list" ]; do
            __next
            __decode "$__item"
            __pattern "./${__value%/}"
            set -- "$@" ! -path "$__value" ! -path "$__value/*"
        done
    done
    find . -type f "$@" -exec /bin/sh -c "$__sort" sh "${__all:-0}" "$__most_output" "${__stay:-0}" \
        "$__here/stay" "./$__out" "./$__err" {} +
    [ ! -s "$__here/stay" ] || cat "$__here/stay"
    [ ! -s "$__here/stay.sum" ] || read -r __item __item __more <"$__here/stay.sum"
    case ${__more:-0 0} in '0 0') ;; *) printf 'stayed %s\n' "$__more" ;; esac
}

# Set __unready to why the program of a job with software was not started, or to nothing.
__look_at_software() {
    __unready=
    if [ -s .crossdesk-software ] && [ "$__status" -le 128 ]; then
        read -r __unready <.crossdesk-software
        case $__unready in
        *:) __unready="$__unready $(tail -n 1 -- "./$__err" 2>/dev/null | LC_ALL=C tr -cd '\40-\133\135-\176')" ;;
        esac
    fi
    rm -f .crossdesk-software
    [ ! -d "$__here/image" ] || { chmod -R u+rwx "$__here/image" && rm -rf "$__here/image"; } 2>/dev/null
}

# Clear up after a box. What was linked to from inside is no output: it is not the job's.
__leave_box() {
    find . -type l -exec /bin/sh -c '
        here=$(pwd -P)
        for link do
            case $(readlink -f -- "$link") in "$here"/*) ;; *) rm -f -- "$link" ;; esac
        done' sh {} + 2>/dev/null
    { rm -rf "$__here/scratch" || { chmod -R u+rwX "$__here/scratch" && rm -rf "$__here/scratch"; }; } 2>/dev/null
}

# List the output files with their hashes, note what is missing, send what is to be sent.
__outputs() {
    __list=$__output_file
    __folders=
    __all=
    set --
    [ ! -f .crossdesk-use ] || set -- ./.crossdesk-use
    if [ -f .crossdesk-data ] && [ ! -h .crossdesk-data ]; then
        # What was published beyond 1 GiB does not come home.
        [ -z "$(find .crossdesk-data -size +2097152)" ] ||
            dd if=/dev/null of=.crossdesk-data bs=1048576 seek=1024 2>/dev/null
        set -- "$@" ./.crossdesk-data
    fi
    case ,$__list, in *,.,*) __all=1 __list= ;; esac
    while [ -n "$__list" ]; do
        __next
        __decode "$__item"
        if [ -f "./$__value" ]; then
            set -- "$@" "./$__value"
            continue
        fi
        if [ -d "./$__value" ] && [ ! -h "./${__value%/}" ] &&
            find "./${__value%/}/" -type f 2>/dev/null | grep -q .; then
            __folders=${__folders:+$__folders,}$__item
            continue
        fi
        IFS=
        set +f
        __any=
        for __file in ./$__value; do
            if [ -f "$__file" ]; then
                set -- "$@" "$__file"
                __any=1
            fi
        done
        set -f
        IFS=$__ifs
        [ -n "$__any" ] || __missing=${__missing:+$__missing,}$__item
    done
    [ -n "$*$__folders$__all$__stay" ] || return 0
    __sizes='stat -L -c "size %s" -- "$@" || for __file do printf "size %s\n" "$(wc -c <"$__file")"; done'
    {
        [ $# -eq 0 ] || sha256sum -- "$@"
        __in_folders -exec sha256sum -- {} +
        [ $# -eq 0 ] || eval "$__sizes"
        __in_folders -exec /bin/sh -c "$__sizes" sh {} +
        [ -z "$__all$__stay" ] || __others "$@"
    } >"$__here/outputs" 2>/dev/null
    [ -n "$__output_base_url" ] || return 0
    for __file do
        __send "$__file" "$__target/${__file#./}" 2>/dev/null || return 1
    done
    __in_folders -print | while IFS= read -r __file; do
        __send "$__file" "$__target/${__file#./}" 2>/dev/null || exit 1
    done
}

__decode "$__directory"
__here=$__value
__missing=
__terminated=
__itself=
__cpu=
__peak=
cd -- "$__here" 2>/dev/null || exit 227
if [ -n "$__attended" ]; then
    cd job 2>/dev/null || exit 227
    __watchdogs=
    __decode "$__lease_file"
    __lease_path=$__value
    __look_at_lease
    __attend
fi
if ! mkdir claim 2>/dev/null; then
    # A link is the claim of a lasting starter.
    { [ -d claim ] || [ -h claim ]; } && exit 226
    exit 227
fi
[ -d job ] || mkdir job 2>/dev/null || __end - starter "The job's directory could not be made."
cd job 2>/dev/null || __end - starter "The job's directory cannot be entered."
# Room on the disk that is given back for the record of the end: a job may have used up the rest.
[ -z "$__news" ] || printf '%8192s' '' >"$__here/room"
__decode "$__input_base_url"
__base=$__value
__decode "$__output_base_url"
__target=$__value
[ -z "$__input_file" ] || __inputs

__path=$PATH
set --
__list=$__environment
while [ -n "$__list" ]; do
    __next
    __decode "$__item"
    case $__value in PATH=*) __path=${__value#PATH=} ;; esac
    set -- "$@" "$__value"
done

__decode "$__job"
__program=$__value
# With software of its own it is looked for when that is there.
[ -n "$__software" ] || __find "$__value" "$__path" || {
    if [ -e "$__value" ] && [ "$__value" != "${__value#*/}" ]; then
        __end - executable-missing "The program $__job is there, but it is not an executable file."
    fi
    __end - executable-missing "There is no program $__job at this site."
}
__user_program=$__program
__agent=
if [ "$__interactive" = 1 ] && [ -n "$__interactive_agent" ]; then
    __choose_agent
    __program=$__user_program
fi
__decode "$__standard_input"
__in=${__value:-/dev/null}
[ -r "$__in" ] || __end - download "The file $__standard_input for standard input cannot be read."
# A program in a box has what is open here, also what it could not see; and by a folder all that is around that.
__seen=
if [ -n "$__box" ] && [ -z "$__agent" ]; then
    [ ! -d "$__in" ] || __end - download "The file $__standard_input for standard input is a directory."
    case $__in in /dev/null) ;; /*) __seen=$__in __in=/dev/null ;; esac
fi
__decode "${__standard_output:-std.out}"
__out=$__value
__output "$__out" "${__standard_output:-std.out}"
__decode "${__standard_error:-std.err}"
__err=$__value
[ "$__err" = "$__out" ] || __output "$__err" "${__standard_error:-std.err}"

[ -z "$__lease" ] || __await_lease
[ ! -f "$__here/cancel" ] || __end - killed "Canceled as its owner asked."
__watchdogs=
if [ -n "$__wall_limit" ]; then
    __watch </dev/null >/dev/null 2>&1 &
    __watchdogs=$!
fi
if [ -n "$__beat" ]; then
    __attend </dev/null >/dev/null 2>&1 &
    __watchdogs="$__watchdogs $!"
fi

# A batch system asks to end by TERM, to all processes: at a time limit, or when a job is canceled there.
trap '__terminated="terminated 1
"' TERM
# Where the shell tells of an end by a signal. As bash tells in its own mode alone, it is in that meanwhile.
__said=/dev/null
true 2>/dev/null >"$__here/said" && __said=$__here/said
__posix=
case ${BASH_VERSION:+bash}:$SHELLOPTS: in
bash:*:posix:*)
    case $(export -p) in
    *POSIXLY_CORRECT*) ;;
    *) set +o posix && __posix=1 ;;
    esac
    ;;
esac
{
(
    [ -z "$__posix" ] || set -o posix
    trap - HUP PIPE TERM INT QUIT
    export CROSSDESK_SERVICES="$PWD/.crossdesk-services" CROSSDESK_PARAMETERS="$PWD/.crossdesk-parameters"
    __decode "$__publish"
    case $__value in /* | '') ;; *) __value=$PWD/$__value ;; esac
    __publish=$__value
    export CROSSDESK_DATA="$PWD/.crossdesk-data" CROSSDESK_PUBLISH="$__publish" PATH="$PATH${__publish:+:$__publish}"
    __as_batch_script "$@"
    for __pair do
        shift
        case $__kept in *" ${__pair%%=*} "*) continue ;; esac
        if __plain "${__pair%%=*}"; then export "${__pair?}"; else set -- "$@" "$__pair"; fi
    done
    [ -z "$__publish" ] || export PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}$__publish"
    if [ $# -gt 0 ]; then
        set -- /usr/bin/env -- "$@"
        case $__agent$__program in *=*) set -- "$@" /bin/sh -c 'exec "$0" "$@"' ;; esac
    fi
    if [ -n "$__agent" ]; then
        [ -z "$__lacking" ] || export CROSSDESK_AGENT_LACKING="$__lacking"
        ! __is_warm || set -- "$@" /bin/sh "$__warm/start" "$__warm"
        set -- "$@" "$__agent"
        __list=$__interactive_agent_args
        while [ -n "$__list" ]; do
            __next
            __decode "$__item"
            set -- "$@" "$__value"
        done
    fi
    [ -z "$__box" ] || [ -z "$__agent" ] || export CROSSDESK_BOX="$__box"
    # The agent is outside of the box, all else inside. Modules may bring the MPI, so they are loaded first.
    __place=$__here
    for __list in "$__box" "$__software" "$__mpi"; do
        [ -n "$__list" ] || continue
        set -- "$@" /bin/sh
        while [ -n "$__list" ]; do
            __next
            __decode "$__item"
            set -- "$@" "$__value"
        done
        set -- "$@" "$__place"
        [ -z "$__seen" ] || set -- "$@" /bin/sh -c 'exec "$@" <"$0"' "$__seen"
        __seen=
        [ -z "$__box" ] || __place=$__here/scratch
    done
    set -- "$@" "$__program"
    __list=$__arguments
    while [ -n "$__list" ]; do
        __next
        __decode "$__item"
        set -- "$@" "$__value"
    done
    __pid=0
    if [ -r /proc/self/stat ]; then read -r __pid __rest </proc/self/stat; fi
    __date
    __node=
    if [ -r /proc/sys/kernel/hostname ]; then read -r __node </proc/sys/kernel/hostname; fi
    # What could not be told to have begun would be begun again.
    printf 'pid %s\nstarter %s\nuptime %s\ntime %s\nnode %s\n.\n' \
        "$__pid" "$$" "$__uptime" "$__time" "$__node" >"$__here/started" || [ -z "$__news" ] ||
        { rm -f "$__here/started" && exit 227; }
    __tell started s
    if [ -p "$__notice" ]; then printf '%s %s\n' "$__attempt" "$__pid" 1<>"$__notice"; fi
    exec <"$__in" >>"./$__out"
    if [ "$__err" = "$__out" ]; then exec 2>&1; else exec 2>>"./$__err"; fi
    __limit "$__file_limit"
    unset __jobid __environment __input_file __input_source __input_base_url __most_input __job __arguments __directory \
        __standard_input __standard_output __standard_error __interactive __interactive_agent \
        __interactive_agent_args __agent_sums __agent_stamps __nodes __subjob_index __output_file __output_base_url __wall_limit __most_output __stay \
        __kill_grace __file_limit __notice __news __beat __lease __lease_file __attempt __software __mpi __use __publish __box __warm __seen
    exec "$@"
)
__status=$?
# The subshell is not the last command of the group: some shells would tell elsewhere.
} 2>"$__said"
[ "$__status" -le 128 ] || ! __ended_itself || __itself="itself 1
"
# Of an agent that was warm before, and of its program, this shell knows no processor's time.
[ ! -f "$__here/spent" ] || { read -r __first <"$__here/spent" && __cpu="cpu $__first
"; }
[ -z "$__posix" ] || set -o posix
# The batch system's TERM may come to the program a little before it comes here; whoever started ranks on other nodes,
# where it came first, ends with a status of its own.
case $__news:$__status:$__mpi in ?*:137:* | ?*:143:* | ?*:[1-9]*:?*) [ -n "$__terminated" ] || sleep 1 ;; esac
trap '' TERM
# An agent takes its contact away before it ends; one that could not was killed itself.
__why=
if [ -n "$__agent" ] && [ -z "$__terminated" ] && [ -f .crossdesk-agent ] && [ "$__status" -gt 128 ]; then
    __why="The interactive agent was killed by signal $((__status - 128)), and the program ended with it."
fi

for __process in $__watchdogs; do
    [ -f "$__here/stopped" ] || kill -s USR1 "$__process" 2>/dev/null
    wait "$__process" 2>/dev/null
done
[ -n "$__agent" ] || [ ! -f .crossdesk-agent ] || rm -f .crossdesk-agent
# Who asked for the end meant all of it, and batch systems miss what has left the job's process group.
# A session ends with its job, also where its agent was killed and could not clear up; no rank outlives its launcher,
# and nothing the box of its program.
if [ -n "$__terminated$__agent$__mpi$__box" ] || [ -f "$__here/cancel" ]; then
    __self=$$
    while __signal KILL; do sleep 0.1; done
fi
if [ -n "$__agent" ]; then
    (set +f && rm -rf -- "$__here"/.crossdesk-spool-* .crossdesk-agent*)
    find . -type s -exec rm -f -- {} + 2>/dev/null
fi
[ -z "$__box" ] || __leave_box
__kind= __unready=
[ ! -f "$__here/stopped" ] || read -r __kind <"$__here/stopped"
[ -z "$__software$__mpi" ] || __look_at_software
__sent=0 __spent=
if [ -n "$__use" ] && { [ "$__status" -ne 0 ] || [ -f .crossdesk-use ]; }; then
    __decode "$__use"
    if [ -r "$__value" ]; then
        . "$__value"
        __find_peak
        [ "$__status" -eq 0 ] || { __find_spent && __find_kernel_kill; }
    fi
fi
[ ! -f .crossdesk-services ] || rm -f .crossdesk-services
for __file in .crossdesk-parameters .crossdesk-parameters.part .crossdesk-parameters.used .crossdesk-parameters.used.new; do
    [ ! -f "$__file" ] || rm -f "$__file"
done
[ -z "$__output_file" ] || __outputs || __sent=1
if [ -n "$__news" ] && [ ! -f "$__here/started" ]; then
    __end - starter "The start could not be recorded, so nothing was started; the disk may be full."
fi
case $__kind in
wall-limit) __end "$__status" wall-limit "The wall-time limit of $__wall_limit seconds was reached." ;;
lease) __end "$__status" lease "The broker was not heard from for $__lease seconds." ;;
killed) __end "$__status" killed "Canceled as its owner asked." ;;
esac
case $__spent in
memory) __end "$__status" out-of-memory "$__because" ;;
time) __end "$__status" wall-limit "$__because" ;;
esac
[ -z "$__unready" ] || __end - software "$__unready"
if [ -n "$__agent" ] && [ -f "$__here/agent-failure" ]; then
    { read -r __why && read -r __kind; } <"$__here/agent-failure"
    [ "$__kind" = no-desk ] || __kind=agent
    __end "$__status" "$__kind" "$__why"
fi
if [ "$__status" -ne 0 ] && [ -n "$__file_limit" ]; then
    if [ "$__status" -eq 153 ] || [ -n "$(find . -type f -size +$((__file_limit - 1)) 2>/dev/null)" ]; then
        __end "$__status" output-limit "A file reached the limit of $((__file_limit / 2)) KiB."
    fi
fi
case $__status in
126 | 127) [ -n "$__software" ] || ! __interpreter || __end - executable-missing "The interpreter that $__job names in its first line is missing." ;;
esac
[ "$__sent" -eq 0 ] || __end "$__status" upload "An output file could not be sent to $__output_base_url."
__end "$__status" - "$__why"
