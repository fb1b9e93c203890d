#!/bin/sh
# The queue of a host without a batch system (POSIX sh; needs Linux, flock and setsid of util-linux or busybox).
#
#   host_queue.sh release ID... | cancel ID... | status PREFIX | queues | nodes | enough COUNT MODEL | leave
#   host_queue.sh run JOB TRY | end JOB | finish JOB
#
# There is no daemon. A job is a file, named ID:CPUS:NAME, that goes from folder to folder: held, queued,
# starting (with .TRY at its end), running, and away. Whoever holds the lock may move files; it is the kernel's, so
# it ends with its holder. `run` is the leader of a job's session; if it is killed, the job counts as running
# as long as any of its processes lives, and the next `status` does what `run` would have done.
#
# All processes of a job have CROSSDESK_JOB=(folder)/(file's name) in their environment, or belong to its session.
# First come, first served: a job that needs more processors or GPUs than are free holds back those behind it.
# A job that needs GPUs has a file in gpus (COUNT MODEL), and once it is started one in given (UUID,UUID).

set -u
umask 077
me=$0
read -r boot </proc/sys/kernel/random/boot_id || exit 1
read -r host </proc/sys/kernel/hostname || exit 1
queue=$HOME/.crossdesk/queue/$host.$boot

lock() {
    exec 9>"$queue/lock"
    flock -w 30 9 || {
        echo "The lock $queue/lock is held for 30 seconds by another process." >&2
        exit 1
    }
}

unlock() {
    exec 9>&-
}

# Print the number of processors that jobs may use.
slots() {
    if [ "${CROSSDESK_SLOTS:-0}" -gt 0 ] 2>/dev/null; then
        echo "$CROSSDESK_SLOTS"
    else
        env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc 2>/dev/null || getconf _NPROCESSORS_ONLN || echo 1
    fi
}

# Set `stamp` to the start time of process $1 and `session` to its session; false if there is none.
look() {
    line=
    read -r line 2>/dev/null <"/proc/$1/stat" || return 1
    set -- ${line##*) }
    session=$4 stamp=${20}
    [ "$1" != Z ]
}

# Print the processes of job $1 but this one.
members() {
    if printf 'a\0b\0' | grep -qzx b 2>/dev/null; then
        marked=$(grep -lsFxz "CROSSDESK_JOB=$queue/$1" /proc/[0-9]*/environ)
    else
        marked=$(
            for file in /proc/[0-9]*/environ; do
                if tr '\0' '\n' <"$file" | grep -qxF "CROSSDESK_JOB=$queue/$1"; then echo "$file"; fi
            done 2>/dev/null
        )
    fi
    for file in $marked; do
        file=${file#/proc/}
        file=${file%/environ}
        if [ "$file" != $$ ] && look "$file"; then echo "$file"; fi
    done
    leader=
    if [ -r "$queue/leaders/$1" ]; then read -r leader born <"$queue/leaders/$1" || leader=; fi
    [ -n "$leader" ] || return 0
    # A number of a process is used again only when nothing is left of its session.
    if [ -d "/proc/$leader" ] && look "$leader" && [ "$stamp" != "$born" ]; then return 0; fi
    for file in /proc/[0-9]*; do
        file=${file#/proc/}
        if look "$file" && [ "$session" = "$leader" ] && [ "$file" != $$ ]; then echo "$file"; fi
    done
}

# True while a process of job $1 is there; its leader is looked at first, as that costs nothing.
alive() {
    leader=
    if [ -r "$queue/leaders/$1" ]; then read -r leader born <"$queue/leaders/$1" || leader=; fi
    if [ -n "$leader" ] && look "$leader" && [ "$stamp" = "$born" ]; then return 0; fi
    [ -n "$(members "$1")" ]
}

# Send signal $1 to all processes of job $2; false if there is none.
signal() {
    found=1
    for process in $(members "$2"); do
        if kill -s "$1" "$process" 2>/dev/null; then found=0; fi
    done
    return $found
}

# Run this script with words $2 and on as a session of its own; $1 is its CROSSDESK_JOB.
detach() {
    mark=$1
    shift
    env -i HOME="$HOME" PATH="$PATH" CROSSDESK_SLOTS="${CROSSDESK_SLOTS:-}" CROSSDESK_JOB="$mark" \
        setsid sh "$me" "$@" </dev/null >/dev/null 2>&1 8>&- 9>&- &
}

# Ask NVIDIA's driver, which takes no answer for one.
driver() {
    if command -v timeout >/dev/null 2>&1; then timeout 10 nvidia-smi "$@"; else nvidia-smi "$@"; fi
}

# Print the GPUs, `gpu UUID, NAME` each, after those in which a program is, `used UUID` each.
gpus() {
    command -v nvidia-smi >/dev/null 2>&1 || return 0
    driver --query-compute-apps=gpu_uuid --format=csv,noheader | sed 's/^/used /'
    driver --query-gpu=uuid,name --format=csv,noheader | sed 's/^/gpu /'
}

# Print the GPUs of a list of model $1, `idle:UUID` or `used:UUID` each.
fitting() {
    used=' '
    while read -r word uuid name; do
        uuid=${uuid%,}
        words="  $(printf %s "$name" | tr '[:upper:]' '[:lower:]' | tr -cs '[:alnum:]' ' ')  "
        case "$word $words" in
        used*) used="$used$uuid " ;;
        gpu*" $1 "*) case $used in *" $uuid "*) echo "used:$uuid" ;; *) echo "idle:$uuid" ;; esac ;;
        esac
    done
}

# True if the host has $1 GPUs of model $2; the driver, which may take a second, is asked once a minute.
enough() {
    if [ -z "$(find "$queue/devices" -mmin -1 2>/dev/null)" ]; then
        gpus >"$queue/devices.$$" && mv "$queue/devices.$$" "$queue/devices" || exit 1
    fi
    found=$(fitting "$2" <"$queue/devices" | grep -c .)
    [ "$found" -ge "$1" ] || {
        echo "The host has $found GPUs${2:+ of model $2}, the job needs $1." >&2
        exit 1
    }
}

# Print the GPUs that jobs under way were given.
given() (
    for file in "$queue"/given/*; do
        job=${file##*/}
        for way in "$queue/running/$job" "$queue/starting/$job".*; do
            if [ -e "$way" ] && read -r list <"$file"; then echo "$list" | tr , '\n'; fi
        done
    done
)

# With the lock: choose GPUs for job $1, first those without a program; false if too few are free.
give() (
    read -r count model <"$queue/gpus/$1" || exit 1
    taken=" $(given | tr '\n' ' ')"
    gpus >"$queue/devices" || exit 1
    idle='' used=''
    for gpu in $(fitting "$model" <"$queue/devices"); do
        uuid=${gpu#*:}
        case $taken:$gpu in
        *" $uuid "*) ;;
        *:idle:*) idle="$idle $uuid" ;;
        *) used="$used $uuid" ;;
        esac
    done
    chosen='' job=$1
    set -- $idle $used
    [ $# -ge "$count" ] || exit 1
    for uuid do
        [ "$count" -gt 0 ] || break
        chosen=$chosen${chosen:+,}$uuid count=$((count - 1))
    done
    echo "$chosen" >"$queue/new" && mv "$queue/new" "$queue/given/$job"
)

# With the lock: forget what was asked and given for jobs that are gone.
tidy() {
    for file in "$queue"/gpus/*; do
        [ -e "$file" ] || return 0
        job=${file##*/}
        for file in "$queue"/held/"$job" "$queue"/queued/"$job" "$queue"/running/"$job" "$queue"/starting/"$job".*; do
            [ ! -e "$file" ] || continue 2
        done
        rm -f "$queue/gpus/$job" "$queue/given/$job"
    done
}

# With the lock: start what fits.
dispatch() {
    free=$(slots)
    for file in "$queue"/starting/* "$queue"/running/*; do
        [ -e "$file" ] || continue
        file=${file##*/}
        file=${file#*:}
        free=$((free - ${file%%:*}))
    done
    number=0
    for file in "$queue"/queued/*; do
        [ -e "$file" ] || return 0
        job=${file##*/}
        cpus=${job#*:}
        cpus=${cpus%%:*}
        [ "$cpus" -le "$free" ] || return 0
        [ ! -e "$queue/gpus/$job" ] || give "$job" || return 0
        free=$((free - cpus))
        number=$((number + 1))
        mv "$file" "$queue/starting/$job.$$-$number" || return 1
        detach "$queue/$job" run "$job" "$$-$number"
    done
}

# With the lock: put right what killed processes left.
repair() {
    for file in "$queue"/starting/*; do
        [ -e "$file" ] || break
        job=${file##*/}
        job=${job%.*}
        # If it is late rather than dead, it finds its file gone and ends.
        [ -n "$(members "$job")" ] || mv "$file" "$queue/queued/$job" 2>/dev/null
    done
    for file in "$queue"/running/*; do
        [ -e "$file" ] || break
        job=${file##*/}
        if ! alive "$job"; then
            rm -f "$file" "$queue/leaders/$job" "$queue/canceled/$job"
        elif [ -e "$queue/canceled/$job" ]; then
            detach "" end "$job"
        fi
    done
    tidy
}

# Keep the job of id $1 from starting; false if it is not about to (any more).
take() {
    for file in "$queue/starting/$1":*; do
        [ -e "$file" ] || return 1
        mv "$file" "$queue/gone" 2>/dev/null || return 1
    done
}

# Begin to end the job of id $1, if it runs.
end_running() {
    for file in "$queue/running/$1":*; do
        [ -e "$file" ] || continue
        : >"$queue/canceled/${file##*/}"
        detach "" end "${file##*/}"
    done
}

release() {
    lock
    cd "$queue" || exit 1
    some='' count=0
    for id do
        for file in held/"$id":*; do
            if [ -e "$file" ]; then some="$some $file" count=$((count + 1)); fi
        done
        # Many by one command; their names have neither blanks nor wildcards.
        if [ $count -ge 500 ]; then
            mv $some queued/ || exit 1
            some='' count=0
        fi
    done
    [ -z "$some" ] || mv $some queued/ || exit 1
    dispatch
}

cancel() {
    lock
    cd "$queue" || exit 1
    some='' count=0
    for id do
        waits=
        for file in held/"$id":* queued/"$id":*; do
            if [ -e "$file" ]; then some="$some $file" count=$((count + 1)) waits=1; fi
        done
        [ -n "$waits" ] || take "$id" || end_running "$id"
        if [ $count -ge 500 ]; then
            rm -f $some
            some='' count=0
        fi
    done
    rm -f $some
    dispatch
}

status() {
    lock
    repair
    dispatch
    unlock
    echo "host $host"
    for state in held queued starting running; do
        for file in "$queue/$state"/*:"$1"*; do
            [ -e "$file" ] || continue
            file=${file##*/}
            [ $state != starting ] || file=${file%.*}
            echo "$state ${file%%:*} ${file##*:}"
        done
    done
    echo .
}

queues() {
    total=$(slots)
    used=0 jobs=0 waiting=0 memory=0
    for file in "$queue"/starting/* "$queue"/running/*; do
        [ -e "$file" ] || continue
        file=${file##*/}
        file=${file#*:}
        used=$((used + ${file%%:*})) jobs=$((jobs + 1))
    done
    for file in "$queue"/queued/*; do
        if [ -e "$file" ]; then waiting=$((waiting + 1)); fi
    done
    if [ -r /proc/meminfo ]; then
        while read -r key value rest; do
            if [ "$key" = MemTotal: ]; then memory=$((value / 1024)); fi
        done </proc/meminfo
    fi
    echo "processors $total used $used running $jobs waiting $waiting memory $memory"
}

# Describe the queue, then the GPUs, with those that jobs have as used ones.
nodes() {
    queues
    given | sed 's/^/used /'
    gpus
}

# Take the queue of this host away, those of its earlier boots too, and what is empty then; not if it has a job.
leave() {
    lock
    for state in held queued starting running; do
        for file in "$queue/$state"/*; do
            [ ! -e "$file" ] || return 0
        done
    done
    rm -rf "${queue%/*}/$host".????????-????-????-????-????????????
    cd "${queue%/*}" || exit 1
    for place in */; do
        [ ! -d "$place" ] || return 0
    done
    rm -f ./*.sh
    cd ../.. && rmdir .crossdesk/queue .crossdesk 2>/dev/null
    :
}

# The leader of a job's session: run job $1, unless its file is gone.
run() {
    mv "$queue/starting/$1.$2" "$queue/running/$1" 2>/dev/null || exit 0
    look $$ && echo "$$ $stamp" >"$queue/leaders/$1"
    gpus=
    if [ -r "$queue/given/$1" ]; then read -r gpus <"$queue/given/$1"; fi
    sh "$queue/running/$1" "$queue/$1" "$gpus"
    # By another process, because this one is one of the job's.
    exec env -i HOME="$HOME" PATH="$PATH" CROSSDESK_SLOTS="${CROSSDESK_SLOTS:-}" setsid sh "$me" finish "$1"
}

# End job $1: the starter has five seconds to write down how its program ended.
end() {
    [ -e "$queue/running/$1" ] || exit 0
    exec 8>>"$queue/canceled/$1"
    flock -n 8 || exit 0
    signal TERM "$1"
    left=25
    while [ $left -gt 0 ] && alive "$1"; do
        sleep 0.2
        left=$((left - 1))
    done
    finish "$1"
}

# Kill what is left of job $1, and let the next ones start.
finish() {
    left=300
    while signal KILL "$1" && [ $left -gt 0 ]; do
        sleep 0.1
        left=$((left - 1))
    done
    lock
    repair
    [ -e "$queue/running/$1" ] || rm -f "$queue/canceled/$1"
    dispatch
}

mkdir -p "$queue/held" "$queue/queued" "$queue/starting" "$queue/running" "$queue/leaders" "$queue/canceled" \
    "$queue/gpus" "$queue/given" || exit 1
"$@"
