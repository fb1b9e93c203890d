#!/bin/sh
# Build the agent of interactive jobs with its own interpreter, for x86-64 nodes with glibc 2.28 or newer, and the
# library that carries jobs over several sites on nodes without network namespaces, for glibc 2.17 or newer:
#     sh packaging/agent.sh [--if-needed] [FOLDER]
# --if-needed: not where build/agent has it already, made of these sources; so run.sh calls it, beside all else.
# FOLDER (build/agent) gets crossdesk-agent-x86_64-linux and crossdesk-overlay-x86_64-linux.so. What they are made of
# is kept in a cache (CROSSDESK_AGENT_CACHE, ~/.cache/crossdesk/agent-build); delete that to have newer packages of
# Debian. Those are checked by Debian's signatures, all else by the hashes in this repository.
set -eu
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$ROOT/packaging/environment.sh"
HERE=$ROOT/packaging/agent
if_needed=false
[ "${1:-}" = --if-needed ] && if_needed=true && shift
OUTPUT=${1:-$ROOT/build/agent}
CACHE=${CROSSDESK_AGENT_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/crossdesk/agent-build}
DEBIAN_PACKAGES="libpython3.11-dev libpython3.11-minimal libpython3.11-stdlib python3.11-minimal libffi8 libffi-dev zlib1g-dev"
SOURCE=python3.11_3.11.2.orig.tar.gz
SOURCE_SHA256=2411c74bda5bbcfcddaf4531f66d1adc73f247f529aee981b029513aefdbf849
WHEELS="asyncssh av cffi cryptography typing-extensions"

# apt-get with lists and files of its own, so that it needs no rights and changes nothing of the system's; without
# the list of what is installed, which on another Debian is newer and not to be had from the archive of Debian 12.
apt_aside() {
    : >>status
    apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$PWD/sources" -o APT::Sandbox::User= \
        -o Dir::State::lists="$PWD/lists" -o Dir::State::status="$PWD/status" -o Dir::Cache="$PWD/cache" \
        "$@" >>told 2>&1
}

# The system's own sources of Debian 12, with those of source packages; of another Debian, its archive's.
debian_sources() {
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -r "$file" ] || continue
        sed -n 's/^deb \(.* bookworm[^ ]* .*\)/deb \1\ndeb-src \1/p' "$file" >"$1/$(basename "$file" .list).list"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        if [ -r "$file" ] && grep -q '^Suites:.*\<bookworm\>' "$file"; then
            sed 's/^Types:.*/Types: deb deb-src/' "$file" >"$1/$(basename "$file")"
        fi
    done
    cat "$1"/* 2>/dev/null | grep -q bookworm && return 0
    archive=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
        sed -n 's/^\(deb \(\[[^]]*\] \)\{0,1\}\|URIs: *\)\([^ ]*\/debian\)\/\{0,1\}\( .*\)\{0,1\}$/\3/p' | head -n 1)
    [ -n "$archive" ] || return 0
    signed=""
    for keys in /usr/share/keyrings/debian-archive-keyring.gpg /usr/share/keyrings/debian-archive-keyring.pgp; do
        [ -r "$keys" ] && signed="[signed-by=$keys] "
    done
    for kind in deb deb-src; do printf '%s %s%s bookworm main\n' "$kind" "$signed" "$archive"; done >"$1/archive.list"
}

# Packages and sources of CPython, unpacked in $DEBIAN.
fetch_debian() {
    say "Fetching CPython of Debian 12"
    fresh=$CACHE/debian.$$
    mkdir -p "$fresh/apt/sources" "$fresh/apt/lists/partial" "$fresh/apt/cache/archives/partial" "$fresh/python"
    debian_sources "$fresh/apt/sources"
    (
        cd "$fresh/apt"
        # shellcheck disable=SC2086 # a list of words
        apt_aside update && apt_aside download $DEBIAN_PACKAGES &&
            apt_aside source --download-only --tar-only python3.11
    ) || {
        tail -n 5 "$fresh/apt/told" >&2
        fail "Debian 12's packages of CPython cannot be had; its sources must be among those of apt."
    }
    printf '%s  %s\n' "$SOURCE_SHA256" "$fresh/apt/$SOURCE" | sha256sum -c - >/dev/null ||
        fail "the sources of CPython are not those that are known; see $fresh."
    separator='{'
    for package in "$fresh"/apt/*.deb; do
        dpkg-deb -x "$package" "$fresh"
        printf '%s"%s": "%s"' "$separator" "$(dpkg-deb -f "$package" Package)" "$(dpkg-deb -f "$package" Version)"
        separator=', '
    done >"$fresh/versions.json"
    printf '}\n' >>"$fresh/versions.json"
    tar xzf "$fresh/apt/$SOURCE" -C "$fresh/python" --strip-components=1 --wildcards '*/Modules/_ctypes/*.[ch]'
    rm -rf "$fresh/apt" "$DEBIAN"
    mv "$fresh" "$DEBIAN"
}

# The hashes that the lock files have for the wheels.
locked_wheels() {
    cat "$HERE/requirements.lock"
    for name in $WHEELS; do
        sed -n "/^$name==/,/[^\\\\]\$/p" "$ROOT/packaging/requirements-dev.lock"
    done
}

# Wheels, unpacked in $UNPACKED.
fetch_wheels() {
    say "Fetching a compiler and the libraries"
    fresh=$CACHE/wheels.$$
    mkdir -p "$fresh"
    locked_wheels >"$fresh/wanted"
    "$PYTHON" -m pip download -q --disable-pip-version-check --require-hashes --no-deps --only-binary=:all: \
        --implementation cp --python-version 3.11 --platform manylinux_2_28_x86_64 \
        --platform manylinux2014_x86_64 --platform manylinux2010_x86_64 -r "$fresh/wanted" -d "$fresh" >&2 ||
        fail "the libraries cannot be had; pip says why above."
    for wheel in "$fresh"/*.whl; do "$PYTHON" -m zipfile -e "$wheel" "$fresh" && rm "$wheel"; done
    chmod 755 "$fresh/ziglang/zig"
    rm -rf "$UNPACKED"
    mv "$fresh" "$UNPACKED"
}

# True if the broker of these sources finds both, and finds the agent made of them.
is_current() (
    cd "$ROOT" && PYTHONPATH=$ROOT "$PYTHON" -c 'import sys
from broker_core.interactive.sessions.agent_programs import agents
from broker_core.launching.overlay_library import BUILT_LIBRARY
from broker_core.system.built_files import built_paths
found = agents("")
library = any(path.is_file() for path in built_paths(BUILT_LIBRARY))
sys.exit(found.frozen is None or bool(found.older) or not library)'
)

[ "$(uname -sm)" = "Linux x86_64" ] || fail "the agent is built on Linux on x86-64."
for tool in apt-get dpkg-deb flock; do has "$tool" || fail "$tool is needed: the agent is made of packages of Debian 12."; done
choose_place
PYTHON=$VENV/bin/python
[ -x "$PYTHON" ] || choose_python
mkdir -p "$CACHE" "$OUTPUT"
exec 9>"$CACHE/lock"
flock 9
DEBIAN=$CACHE/debian-$(printf '%s' "$DEBIAN_PACKAGES $SOURCE" | sha256sum | cut -c 1-12)
UNPACKED=$CACHE/wheels-$(locked_wheels | sha256sum | cut -c 1-12)
if $if_needed && is_current; then exit 0; fi
printf '%s\n' "$$" >"$OUTPUT/building"
trap 'rm -f "$OUTPUT/building"' EXIT
rm -rf "$CACHE"/debian.* "$CACHE"/wheels.*
[ -d "$DEBIAN" ] || fetch_debian
[ -d "$UNPACKED" ] || fetch_wheels
say "Building in $OUTPUT"
ZIG_GLOBAL_CACHE_DIR=$CACHE/zig ZIG_LOCAL_CACHE_DIR=$CACHE/zig PYTHONHOME=$DEBIAN/usr PYTHONHASHSEED=0 \
    PYTHONDONTWRITEBYTECODE=1 "$DEBIAN/usr/bin/python3.11" -s "$HERE/build.py" "$DEBIAN" "$UNPACKED" "$OUTPUT"
(cd "$OUTPUT" && sha256sum crossdesk-agent-x86_64-linux crossdesk-overlay-x86_64-linux.so)
