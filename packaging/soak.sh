#!/bin/sh
# The long forms of the tests: hundreds of kills, millions of cases; then all tests on a bare Debian, which
# --without-fresh as the first word leaves out. Other words go to pytest; with them there is no bare Debian.
set -u
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$ROOT/packaging/environment.sh"
. "$ROOT/packaging/components.sh"
cd "$ROOT" || exit 1

whole=$#
[ "${1:-}" = --without-fresh ] && shift
make_environment requirements-dev.lock
provide_for_tests
qt_libraries xcb || without "tests of windows: Qt does not find its libraries"
step tests "$PYTHON" -m pytest --soak --timeout 7200 -n 2 --dist worksteal ${unmarked:+-m "$unmarked"} "$@"
[ "$whole" -gt 0 ] || step_fresh test
conclude
