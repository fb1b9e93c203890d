# What a job uses, for the Job Starter's watchdog, and whether it ran out of memory or time, for its end.
# Read by job_starter.sh where it is needed; by itself it does nothing and starts no process.
#
# Samples go to `.crossdesk-use` in the job's directory, a line each:
#   SECONDS CPU MEMORY DISK GPU GPU_MEMORY
# seconds since the first look at the job, CPU time in hundredths of seconds, memory and disk in KiB, GPUs in
# percent and MiB; `-` for what is not known. Later ones are further apart, so that the file stays small.

# Set __group to the folder of the control group that the batch system made for this job alone, or to nothing;
# __api to 1 or 2, the version of the interface.
__find_group() {
    __group= __api=
    while IFS=: read -r __number __names __path; do
        case $__path in
        */job_* | */slurm*/* | */htcondor/* | */pbs_jobs* | */pbspro* | */lsf/* | */GE/*) ;;
        *) continue ;;
        esac
        case $__number:$__names in
        0:) [ -n "$__group" ] || __group=/sys/fs/cgroup$__path __api=2 ;;
        *:memory | *:memory,* | *:*,memory) __group=/sys/fs/cgroup/memory$__path __api=1 ;;
        esac
    done 2>/dev/null </proc/self/cgroup
    # A step of Slurm's has a group within that of its job.
    while [ -n "$__group" ] && [ ! -r "$__group/memory.stat" ]; do
        case ${__group#/sys/fs/cgroup/} in */*) __group=${__group%/*} ;; *) __group= ;; esac
    done
}

# Set __value to what file $1 says of name $2, or to nothing.
__said_of() {
    __value=
    while read -r __name __number __rest; do
        if [ "$__name" = "$2" ]; then
            __value=$__number
            return
        fi
    done 2>/dev/null <"$1"
}

# Set __cpu and __memory by the files of the control group; false where they do not say.
__by_group() {
    if [ "$__api" = 2 ]; then
        __said_of "$__group/memory.stat" anon
        __memory=$((${__value:-0} / 1024))
        __said_of "$__group/cpu.stat" usage_usec
        [ -n "$__value" ] || return 1
        __cpu=$((__value / 10000))
    else
        __said_of "$__group/memory.stat" total_rss
        [ -n "$__value" ] || return 1
        __memory=$((__value / 1024))
        __value=
        __account=/sys/fs/cgroup/cpuacct${__group#/sys/fs/cgroup/memory}/cpuacct.usage
        { read -r __value <"$__account"; } 2>/dev/null || return 1
        __cpu=$((__value / 10000000))
    fi
    __looked_through=1
}

# Set __cpu and __memory by the processes of the starter's session, and __looked_through to how many there are.
__by_session() {
    __cpu=0 __memory=0
    set +f
    set -- /proc/[0-9]*/stat
    set -f
    __looked_through=$#
    # A shell reads a byte at a time: not of every process, where something else can find those of the session.
    if command -v pgrep >/dev/null 2>&1; then
        set --
        for __process in $(LC_ALL=C pgrep -s "$__session" 2>/dev/null); do set -- "$@" "/proc/$__process/stat"; done
    fi
    for __file in "$@"; do
        { read -r __line <"$__file"; } 2>/dev/null || continue
        set -- ${__line##*) }
        [ "$4" = "$__session" ] || continue
        __cpu=$((__cpu + ${12} + ${13} + ${14} + ${15}))
        __memory=$((__memory + ${22}))
    done
    __memory=$((__memory * __page))
}

# Set __session to that of the starter, or of process __leader, and __page to the KiB of a page.
__know_session() {
    { read -r __line </proc/${__leader:-$$}/stat; } 2>/dev/null
    set -- ${__line##*) }
    __session=${4:-} __page=4
    __said_of /proc/${__leader:-$$}/status VmRSS:
    if [ "${22:-0}" -gt 0 ] && [ "${__value:-0}" -gt 0 ]; then
        __value=$((__value / ${22}))
        for __size in 4 16 64; do [ "$__value" -lt $((__size * 3 / 4)) ] || __page=$__size; done
    fi
}

# Set __disk to the KiB in the job's directory: rarely, and the more so the longer it takes.
__by_disk() {
    [ "$__moment" -ge "$__disk_due" ] || return 0
    __disk=$(du -sk . 2>/dev/null)
    __disk=${__disk%%[!0-9]*}
    __clock
    __disk_due=$((__moment + 300 + (${__uptime%.*} - __first - __moment) * 1000))
}

# Set __gpu and __gpu_memory, where the job was given GPUs, over all of them.
__by_gpu() {
    __gpu=- __gpu_memory=-
    [ -n "${CUDA_VISIBLE_DEVICES:-}" ] && [ "$__moment" -ge "$__gpu_due" ] || return 0
    __gpu_due=$((__moment + 60))
    __found=$(nvidia-smi --query-gpu=utilization.gpu,memory.used --format=csv,noheader,nounits \
        -i "$CUDA_VISIBLE_DEVICES" 2>/dev/null) || {
        __gpu_due=$((__moment + 100000))
        return 0
    }
    # A part of a GPU has no figure of its own: `[N/A]`, with which a shell that counted would end.
    case $__found in '' | *[!0-9,[:space:]]*) return 0 ;; esac
    set -- $__found
    [ $# -lt 2 ] || __gpu=0 __gpu_memory=0
    while [ $# -ge 2 ]; do
        __gpu=$((__gpu + ${1%,})) __gpu_memory=$((__gpu_memory + $2))
        shift 2
    done
}

# Take a sample if one is due. Without pgrep a look costs 0.2 ms of CPU for each process on the node, 0.4 ms where the
# node is busy, and the pause until the next is at least a thousand times as long.
__sample_use() {
    __clock
    __moment=${__uptime%.*}
    [ -n "$__moment" ] || return 0
    if [ -z "${__first:-}" ]; then
        __first=$__moment __disk_due=0 __gpu_due=0 __due=0 __disk=-
        __find_group
        __know_session
        __said_of /proc/vmstat oom_kill
        [ -z "$__value" ] || [ -z "${__here:-}" ] || { echo "kills $__value" >"$__here/kernel"; } 2>/dev/null
    fi
    __moment=$((__moment - __first))
    [ "$__moment" -ge "$__due" ] || return 0
    [ -n "$__group" ] && __by_group || __by_session
    __by_disk
    __by_gpu
    [ ! -h .crossdesk-use ] || rm -f .crossdesk-use
    printf '%s %s %s %s %s %s\n' "$__moment" "$__cpu" "$__memory" "${__disk:--}" "$__gpu" "$__gpu_memory" \
        >>.crossdesk-use
    __due=$((__moment + __looked_through / 2))
    [ "$__due" -ge $((__moment + __moment / 500)) ] || __due=$((__moment + __moment / 500))
}

# Set __peak to the line that tells the most KiB of memory that were seen, or to nothing. The program can write there.
__find_peak() {
    __peak=
    [ -f .crossdesk-use ] && [ ! -h .crossdesk-use ] || return 0
    set -- $(head -c 524288 .crossdesk-use 2>/dev/null | sort -k3,3n 2>/dev/null | tail -n 1)
    case ${3:-} in
    '' | *[!0-9]* | ????????????????*) ;;
    *) __peak="memory $3
" ;;
    esac
}

# Set __spent to `memory` or `time`, and __because to the reason, where the kernel or the batch system says that the
# program, which was ended with __status, ran out of it.
__find_spent() {
    __spent= __because=
    __find_group
    if [ "$__api" = 2 ]; then
        __said_of "$__group/memory.events" oom_kill
    elif [ "$__api" = 1 ]; then
        __said_of "$__group/memory.oom_control" oom_kill
    fi
    if [ -n "$__group" ] && [ "${__value:-0}" -gt 0 ]; then
        __spent=memory __because="It ran out of memory: the node's kernel ended a process of it at the limit"
        __value=
        { read -r __value <"$__group/memory.max" || read -r __value <"$__group/memory.limit_in_bytes"; } 2>/dev/null
        case $__value in
        '' | *[!0-9]* | ????????????????*) __because="$__because." ;;
        *) __because="$__because of $((__value / 1048576)) MB." ;;
        esac
        return
    fi
    if [ "$__status" -eq 137 ] && __said_of "$__here/started" pid && [ "${__value:-0}" -gt 0 ] &&
        dmesg 2>/dev/null | grep -q "[Kk]illed process $__value "; then
        __spent=memory __because="It ran out of memory: the node's kernel ended it."
        return
    fi
    { [ -n "$__terminated" ] || [ "$__status" -eq 137 ]; } && [ -f "/proc/$$/fd/2" ] || return 0
    # What the batch system said of it stands where the starter itself complains.
    case $(sed -n "/${SLURM_JOB_ID:-.}/p" "/proc/$$/fd/2" 2>/dev/null | tail -n 5) in
    *'DUE TO TIME LIMIT'* | *'walltime '*'exceeded limit'* | *TERM_RUNLIMIT*)
        __spent=time __because="Its batch system ended it at the time limit."
        ;;
    *oom-kill* | *oom_kill* | *xceeded*memory* | *'mem '*'exceeded limit'* | *TERM_MEMLIMIT*)
        __spent=memory __because="It ran out of memory: its batch system ended it at the limit."
        ;;
    esac
}

# The same, where a process of the program was killed by nobody who says so, and the kernel ended one for want of
# memory since the first look at the job.
__find_kernel_kill() {
    [ "$__status" -eq 137 ] && [ -z "$__terminated$__spent" ] && __said_of "$__here/kernel" kills || return 0
    [ -n "$__value" ] || return 0
    __kills=$__value
    __said_of /proc/vmstat oom_kill
    if [ "${__value:-0}" -gt "$__kills" ]; then
        __spent=memory __because="It ran out of memory: meanwhile the node's kernel ended processes for want of it."
    fi
}
