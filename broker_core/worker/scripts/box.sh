#!/bin/sh
# Keeps a program and its children in one directory of a node, without rights there (CB-SEC). Plain POSIX sh.
#
#   box.sh find FILE BOXING [KIND]
#   box.sh run FILE BOXING [read=PATH | write=PATH]... -- DIRECTORY PROGRAM [WORD]...
#   box.sh tell FILE BOXING [read=PATH | write=PATH]... -- DIRECTORY PROGRAM [WORD]...
#
# BOXING: an archive with what makes a box of Landlock. `find` tries what can be done here, and leaves a line in
# FILE: `bubblewrap`, `bubblewrap loose` (a signal for the program ends its box too), `landlock PYTHON`, or
# `not boxed: REASON`. KIND: no other kind is tried. `run` becomes PROGRAM, in the box that FILE names. Behind that line
# is software of the account, a folder or file on each line, which programs may read.
#
# `tell` prints what `run` would become, each word with a zero byte behind it: nothing, unless that is bubblewrap, and
# DIRECTORY/scratch has to be made. Those words expect that HUP, INT, QUIT, TERM, USR1 and USR2 are ignored.
# Where standard input is a terminal that no session has, that is the program's.
# The program may write to DIRECTORY/job, in which it starts, to DIRECTORY/scratch, and to each PATH of `write=`.
# Exit status 125: there is no such box.

# What every program needs, readable and never written.
system="/usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt /sys /cvmfs /nix"
devices="/dev/nvidia* /dev/dri /dev/kfd /dev/infiniband"

fail() {
    printf 'box: %s\n' "$1" >&2
    exit 125
}

# Become bubblewrap; $@: what is behind its options for all programs.
by_bubblewrap() {
    shown="--unshare-user-try --unshare-pid --unshare-ipc --unshare-cgroup-try --die-with-parent --cap-drop ALL"
    shown="$shown --dev /dev --proc /proc --tmpfs /tmp"
    # Root may write to the settings of the kernel without any rights, as they are its files.
    [ ! -w /proc/sys/kernel/core_pattern ] || shown="$shown --ro-bind /proc/sys /proc/sys"
    for path in $system; do
        [ -e "$path" ] || continue
        # Each thing that is bound takes a while.
        if [ -h "$path" ] && [ "$path" -ef "/usr$path" ] 2>/dev/null; then
            shown="$shown --symlink usr$path $path"
        else
            shown="$shown --ro-bind $path $path"
        fi
    done
    set +f
    for path in $devices; do [ ! -e "$path" ] || shown="$shown --dev-bind $path $path"; done
    # Names of hosts are often looked up by a file that is elsewhere.
    names=/etc
    [ ! -h /etc/resolv.conf ] || names=$(readlink -f /etc/resolv.conf 2>/dev/null)
    case $names in
    /etc | /etc/* | /usr/* | *' '*) ;;
    *) [ ! -f "$names" ] || shown="$shown --ro-bind $names $names" ;;
    esac
    set -f
    $become bwrap $shown "$@"
}

try_bubblewrap() {
    command -v bwrap >/dev/null 2>&1 || { why="bubblewrap is not installed" && return 1; }
    said=$(by_bubblewrap -- readlink /proc/self/ns/pid 2>&1)
    case $said in
    "$(readlink /proc/self/ns/pid)") why="bubblewrap has no effect" && return 1 ;;
    'pid:['*']') ;;
    *) why=$(printf '%s\n' "${said:-bubblewrap said nothing}" | tail -n 1) && return 1 ;;
    esac
    found=bubblewrap
    env --default-signal=TERM true 2>/dev/null || found="bubblewrap loose"
}

try_landlock() {
    python=$(command -v python3) || { why="Landlock needs a python3, which is not installed" && return 1; }
    # Behind a name that only starts another one each start would pay for both.
    python=$("$python" -I -S -c 'import sys; print(sys.executable)' 2>/dev/null || echo "$python")
    why=$("$python" -I -S "$boxing" 2>&1 | tail -n 1)
    found="landlock $python"
    [ -z "$why" ]
}

# Note a path that programs may read: not what they read anyway, nor one in which more may be than software.
offer() {
    case $1 in *[!A-Za-z0-9_./+@:=-]*) return ;; esac
    [ -e "$1" ] || return 0
    for path in $system; do case $1/ in "$path"/*) return ;; esac; done
    case $1/ in "$PWD"/*) return ;; esac
    case $PWD/ in "$1"/*) return ;; esac
    case ${HOME:-/}/ in "$1"/*) return ;; esac
    for path in $offered; do case $1/ in "$path"/*) return ;; esac; done
    offered="$offered $1"
}

# Note what belongs to folder $1 of programs: what is installed beside it.
offer_beside() {
    root=${1%/*}
    case $1 in
    /*/shims) offer "$root" ;;
    /*/bin | /*/sbin | /*/condabin)
        names="bin sbin condabin lib lib64 libexec pyvenv.cfg"
        # A home directory has other things in folders of these names.
        case $root in "${HOME:-/}" | "${HOME:-}/.local") ;; *) names="$names share etc include ssl" ;; esac
        for name in $names; do offer "$root/$name"; done
        ;;
    /*) offer "$1" ;;
    esac
}

# Print the software that the account has by itself, as Conda and pyenv install it: those that PATH and
# LD_LIBRARY_PATH of the node name, and where the Python of an environment comes from.
find_software() {
    offered= fields=$IFS IFS=:
    set -- $PATH
    IFS=$fields
    for folder do
        offer_beside "$folder"
        [ -r "${folder%/*}/pyvenv.cfg" ] || continue
        while read -r key sign folder; do [ "$key $sign" != 'home =' ] || offer_beside "$folder"; done \
            <"${folder%/*}/pyvenv.cfg"
    done
    IFS=:
    set -- ${LD_LIBRARY_PATH-}
    IFS=$fields
    for folder do case $folder in /*) offer "$folder" ;; esac; done
    # Each thing that is bound takes a while: what is in a folder that was found behind it is not bound once more.
    for one in $offered; do
        for path in $offered; do case $one in "$path"/*) continue 2 ;; esac; done
        printf '%s\n' "$one"
    done
}

find_box() {
    reasons=
    for kind in ${1:-bubblewrap landlock}; do
        found= why="no box was wanted"
        case $kind in bubblewrap | landlock) "try_$kind" && break ;; esac
        found= reasons=${reasons:+$reasons; }$why
    done
    reasons=$(printf '%s' "$reasons" | LC_ALL=C tr -cd ' -~')
    { printf '%s\n' "${found:-not boxed: $reasons}" && find_software; } >"$file.new" && mv -f "$file.new" "$file"
}

# Have the program find its display: of the secrets beside its directory, that one.
show_display() {
    case ${XAUTHORITY-} in
    *..* | *' '*) ;;
    "$1"/.crossdesk-spool-*) [ ! -f "$XAUTHORITY" ] || secret=$XAUTHORITY ;;
    esac
    number=${DISPLAY-}
    number=${number#:}
    case $number in
    *[!0-9]* | '') ;;
    *) [ ! -S "/tmp/.X11-unix/X$number" ] || door=/tmp/.X11-unix/X$number ;;
    esac
}

# True where the program is to have a terminal that no session has yet.
is_free_terminal() { [ -t 0 ] && ! (: </dev/tty) 2>/dev/null; }

# Have it for this session: who opens one without having one takes it. Without it the program runs all the same.
take_terminal() { ! is_free_terminal || true </proc/self/fd/0 || true; } 2>/dev/null

# Become the program in a box of bubblewrap.
run_by_bubblewrap() {
    left=$#
    while [ "$1" != -- ]; do
        case $1 in
        read=*) set -- "$@" --ro-bind-try "${1#*=}" "${1#*=}" ;;
        write=*) set -- "$@" --bind-try "${1#*=}" "${1#*=}" ;;
        *) fail "it cannot do $1" ;;
        esac
        shift
        left=$((left - 1))
    done
    here=$2
    shift 2
    left=$((left - 2))
    secret= door=
    show_display "$here"
    [ "$what" = tell ] || mkdir -p "$here/scratch" || fail "its directory cannot be written"
    [ -z "$secret" ] || set -- "$@" --ro-bind "$secret" "$secret"
    [ -z "$door" ] || set -- "$@" --ro-bind "$door" "$door"
    set -- "$@" --bind "$here/job" "$here/job" --bind "$here/scratch" "$here/scratch" --chdir "$here/job" --
    # What comes to all processes of a group is for the program; its box ends with it.
    if [ "$how" != loose ]; then
        trap '' HUP INT QUIT TERM USR1 USR2
        set -- "$@" env --default-signal=HUP,INT,QUIT,TERM,USR1,USR2
        case $1 in *=*) set -- "$@" /bin/sh -c 'exec "$0" "$@"' ;; esac
    fi
    # A shell gives its terminal back to the group that it had it from, which has no number here if it is outside.
    if [ "$what" = run ] && is_free_terminal; then
        if command -v setsid >/dev/null 2>&1; then set -- "$@" setsid -c; else take_terminal; fi
    fi
    while [ "$left" -gt 0 ]; do
        set -- "$@" "$1"
        shift
        left=$((left - 1))
    done
    by_bubblewrap "$@"
}

# Become the program in a box of Landlock, with a /tmp of its own.
run_by_landlock() {
    here=
    for word do
        [ "$here" != -- ] || { here=$word && break; }
        [ "$word" != -- ] || here=--
    done
    secret= door=
    show_display "$here"
    mkdir -p "$here/scratch" || fail "its directory cannot be written"
    export TMPDIR="$here/scratch" HOME="$here/scratch"
    set +f
    for path in $devices; do [ ! -e "$path" ] || set -- "write=$path" "$@"; done
    exec "$how" -I -S "$boxing" ${secret:+"read=$secret"} "write=$here/scratch" "$@"
}

# Set kind and how to the box that FILE names, and software to words for what programs may read.
know_box() {
    kind= how= software=
    [ ! -r "$file" ] || {
        read -r kind how
        while read -r path; do software="$software read=$path"; done
    } <"$file"
}

run() {
    know_box
    set -- $software "$@"
    case $kind in
    bubblewrap) run_by_bubblewrap "$@" ;;
    landlock)
        take_terminal
        run_by_landlock "$@"
        ;;
    not) take_terminal ;;
    *) fail "it is not known which can be made here" ;;
    esac
    while [ "$1" != -- ]; do shift; done
    shift 2
    exec "$@"
}

tell() {
    know_box
    [ "$kind $how" = 'bubblewrap ' ] || exit 0
    become='printf %s\0'
    run_by_bubblewrap $software "$@"
}

set -f
become=exec what=$1 file=$2 boxing=$3
shift 3
case $what in
tell) tell "$@" ;;
find) find_box "$@" ;;
run) run "$@" ;;
*) fail "it cannot do $what" ;;
esac
