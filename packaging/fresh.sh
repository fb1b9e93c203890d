#!/bin/sh
# The README's commands on a bare Debian: a root with nothing but python3, made here, and removed in every case.
#     sh packaging/fresh.sh [trixie] [run | test [WORDS...]]
# Debian 12, or 13 with the word trixie; sh packaging/run.sh must end well and leave its picture. With the word
# test, sh packaging/test.sh WORDS too. What is tried is the last commit, in a clone. Needs root and a network.
set -u
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$ROOT/packaging/environment.sh"
. "$ROOT/packaging/components.sh"

suite=bookworm
[ "${1:-}" = trixie ] && suite=$1 && shift
case ${1:-} in
test) and_test=true && shift ;;
run | "") and_test=false ;;
*) fail "sh packaging/fresh.sh [trixie] [run | test [WORDS...]]; $1 is none of these." ;;
esac
is_root || fail "only root may make a bare Debian."
provide fresh || fail "a bare Debian cannot be made without$lacking."

BASE=${TMPDIR:-/tmp}
BARE=$BASE/crossdesk-fresh.$$
child=""

# What killed runs left.
for old in "$BASE"/crossdesk-fresh.*; do
    [ -d "$old" ] && ! kill -0 "${old##*.}" 2>/dev/null && rm -rf --one-file-system "$old"
done

remove() {
    trap '' HUP INT TERM
    if [ -n "$child" ]; then
        # Unshare ignores softer signals; the kernel then ends all that is in the namespace, which may take a moment.
        kill -KILL "$child" 2>/dev/null
        wait "$child" 2>/dev/null
    fi
    rm -rf --one-file-system "$BARE" 2>/dev/null || { sleep 2 && rm -rf --one-file-system "$BARE"; }
}
trap remove EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Run something in namespaces of its own, with which every process of it ends; in the background, since a shell
# hears no signal while a program in front runs.
attended() {
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc "$@" &
    child=$!
    wait "$child"
    ended=$?
    child=""
    return $ended
}

# What a machine has and such a root lacks: its own name, and certificates that its network wants.
furnish() {
    printf '127.0.0.1 localhost %s\n' "$(uname -n)" >"$BARE/etc/hosts"
    for file in /usr/local/share/ca-certificates/*.crt; do
        [ -e "$file" ] || continue
        mkdir -p "$BARE/usr/local/share/ca-certificates"
        cp "$file" "$BARE/usr/local/share/ca-certificates/"
    done
    git clone -q --no-hardlinks "$ROOT" "$BARE/root/crossdesk"
}

# By pivot_root, since user namespaces cannot be made in a chroot.
# shellcheck disable=SC2016 # the inner shell's variables
ENTER='
set -eu
cd "$1"; shift
mount --bind . .; cd "$PWD"
mount -t proc proc proc; mount --rbind /dev dev; mount --rbind /sys sys; mount -t tmpfs tmpfs tmp
mkdir .old; pivot_root . .old; cd /; umount -l /.old; rmdir /.old
cd /root/crossdesk
env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 CROSSDESK_FRESH=1 "$@"'
inside() {
    say ""
    say "== $suite: $*"
    attended sh -c "$ENTER" sh "$BARE" "$@"
}

say "Making a bare root of Debian $suite in $BARE"
mkdir "$BARE" || fail "$BARE cannot be made."
attended mmdebstrap --quiet --variant=minbase --include=python3 "$suite" "$BARE" || fail "the root could not be made."
furnish || fail "the root could not be furnished, or $ROOT is not a checkout of git."
inside sh packaging/run.sh || fail "run.sh ended with $? on $suite."
[ -s "$BARE/root/crossdesk/build/crossdesk-demo.png" ] || fail "run.sh left no picture on $suite."
if $and_test; then inside sh packaging/test.sh "$@" || fail "test.sh ended with $? on $suite."; fi
say "All is well on a bare Debian $suite."
