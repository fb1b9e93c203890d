#!/bin/sh
# What the test job of a site runs on a node: says where it runs, that the files which it was sent are there and
# new ones can be written, and what the node is like.
#
#   site-test.sh [HOST PORT [speed]]
#
# HOST PORT: a connection there is tried; empty: none. speed: how fast the node packs a text is measured too.

export LC_ALL=C
printf 'host %s\n' "$(uname -n)"
printf 'system %s\n' "$(uname -srm)"
printf 'machine %s\n' "$(uname -m)"
printf 'model %s\n' "$(sed -n 's/^model name[^:]*: *//p;T;q' /proc/cpuinfo 2>/dev/null)"
[ ! -r /etc/os-release ] || (
    . /etc/os-release
    printf 'named %s\nrelease %s\nversion %s\n' "$NAME" "$VERSION_ID" "$VERSION_CODENAME"
)
printf 'user %s\n' "$(id -un 2>/dev/null || id -u)"
printf 'directory %s\n' "$(pwd)"
printf 'date %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)"

# Status 0: the address answers; 1: it does not; 2: nothing here can try it.
reaches() {
    if command -v python3 >/dev/null 2>&1; then
        python3 -c 'import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), 3).close()
except OSError:
    sys.exit(1)' "$1" "$2"
    elif command -v bash >/dev/null 2>&1 && command -v timeout >/dev/null 2>&1; then
        # shellcheck disable=SC2016
        timeout 3 bash -c ': <"/dev/tcp/$0/$1"' "$1" "$2" 2>/dev/null || return 1
    else
        return 2
    fi
}

# Prints how often a made-up text was packed, and the CPU time of that in hundredths of a second.
measure() {
    awk 'BEGIN {
        s = 1
        for (i = 0; i < 200000; i++) {
            s = (s * 16807) % 2147483647
            print s % 100003, s % 17
        }
    }' >speed.in
    spent
    begun=$hundredths rounds=0
    until [ "$((hundredths - begun))" -ge 200 ]; do
        gzip -9 -c speed.in >/dev/null || return
        rounds=$((rounds + 1))
        spent
    done
    printf 'speed %s %s\n' "$rounds" "$((hundredths - begun))"
    rm -f speed.in speed.times
}

# Sets `hundredths` to the CPU time of all programs that this one has run.
spent() {
    times >speed.times
    hundredths=$(awk 'NR == 2 { split($1, p, /[ms]/); printf "%d", (p[1] * 60 + p[2]) * 100 }' speed.times)
}

if [ -n "$1" ]; then
    reaches "$1" "$2"
    case $? in
    0) printf 'network yes\n' ;;
    1) printf 'network no\n' ;;
    esac
fi
# Says `yes`, or why a component of a job over sites that cannot reach each other does not start on this node.
overlay() {
    command -v python3 >/dev/null 2>&1 || { echo 'There is no python3 on this node.' && return; }
    answer=$(python3 -B ./overlay.py check 2>/dev/null) && [ -n "$answer" ] ||
        answer='python3 of this node is older than 3.7.'
    printf '%s\n' "$answer"
}
[ ! -r ./overlay.py ] || printf 'overlay %s\n' "$(overlay)"
[ "$3" != speed ] || measure
set -e
test -r ./site-test.sh
printf 'written by the test job\n' >site-test.out
test "$(cat site-test.out)" = 'written by the test job'
printf 'files ok\n'
