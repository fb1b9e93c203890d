#!/bin/sh
# Lint, types, contracts and all tests. Words after it go to pytest, e.g. `sh packaging/test.sh tests/client`.
set -u
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$ROOT/packaging/environment.sh"
cd "$ROOT" || exit 1

make_environment requirements-dev.lock

left_out=""
failed=""

# What a missing component means: a failure in CI, a line in the list elsewhere.
without() {
    left_out="$left_out
  - $1"
    [ "${CI:-}" = true ] && failed="$failed missing-component"
    return 0
}

step() {
    name=$1
    shift
    say ""
    say "== $name"
    "$@" || failed="$failed $name"
}

# Tests that carry a mark are left out.
unmarked=""
leave_out() {
    unmarked="${unmarked:+$unmarked and }not $1"
    without "tests marked $1: $2"
}

needed=""
for tool in Xvfb xdotool import openbox dunst dbus-daemon xauth xdpyinfo; do has "$tool" || needed="$needed $tool"; done
# shellcheck disable=SC2086 # lists of words
if [ -n "$needed" ] && ! apt_install "programs for tests in a real window ($needed)" $TEST_PACKAGES; then
    leave_out display "they need$needed"
fi
# shellcheck disable=SC2086 # a list of words
if [ ! -x /usr/sbin/slapd ] || [ ! -e /etc/ldap/schema/Glue-CE.schema ] || [ ! -e /etc/bdii/BDII.schema ]; then
    apt_install "a real information system for the tests" $LDAP_PACKAGES ||
        leave_out openldap "they need a real OpenLDAP server with the GLUE schemas"
fi
needed=""
for tool in /usr/sbin/slurmctld /usr/sbin/munged /usr/sbin/sge_qmaster /usr/share/arc/arc-arex-start /usr/sbin/sshd \
    /usr/bin/csh /usr/sbin/ip /usr/sbin/nft; do
    [ -e "$tool" ] || [ -e "${tool#/usr}" ] || needed="$needed $tool"
done
# shellcheck disable=SC2086 # a list of words
if [ -n "$needed" ] && ! apt_install "real clusters for the tests ($needed)" $SITE_PACKAGES; then
    leave_out cluster "they need$needed"
fi
is_root || leave_out cluster "they start clusters, which only root may"
needed=""
for tool in vim htop tmux less busybox shellcheck; do has "$tool" || needed="$needed $tool"; done
# shellcheck disable=SC2086 # a list of words
if [ -n "$needed" ] && ! apt_install "programs that the console must run, and other shells ($needed)" $CONSOLE_PACKAGES; then
    leave_out console "they need$needed"
fi
if [ "$(uname -sm)" != "Linux x86_64" ] || ! has apt-get || ! has dpkg-deb || ! has flock; then
    leave_out agent_file "they build from packages of Debian 12 on x86-64"
fi
qt_libraries xcb || {
    without "tests of windows: Qt does not find its libraries"
    set -- --ignore=tests/app --ignore=tests/end2end "$@"
}

is_root || leave_out root "they mount file systems, which only root may"
"$PYTHON" -m tests.crash.control_group || leave_out control_group "no control groups can be made here"

step lint "$PYTHON" -m ruff check .
step types "$PYTHON" -m mypy
step contracts "$VENV/bin/lint-imports" --no-logo
step tests "$PYTHON" -m pytest -n 2 --dist worksteal --cov --cov-report=term ${unmarked:+-m "$unmarked"} "$@"
[ -n "$unmarked$*" ] || step coverage "$PYTHON" -m tests.architecture.coverage_list

say ""
[ -n "$left_out" ] && say "Not run here:$left_out"
[ -n "$failed" ] && fail "failed:$failed"
say "All passed."
