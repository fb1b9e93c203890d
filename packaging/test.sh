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

needed=""
for tool in Xvfb xdotool import openbox; do has "$tool" || needed="$needed $tool"; done
# shellcheck disable=SC2086 # lists of words
if [ -n "$needed" ] && ! apt_install "programs for tests in a real window ($needed)" $TEST_PACKAGES; then
    without "tests marked display: they need$needed"
    set -- -m "not display" "$@"
fi
qt_libraries xcb || {
    without "tests of windows: Qt does not find its libraries"
    set -- --ignore=tests/app --ignore=tests/end2end "$@"
}

step lint "$PYTHON" -m ruff check .
step types "$PYTHON" -m mypy
step contracts "$VENV/bin/lint-imports" --no-logo
step tests "$PYTHON" -m pytest -n 2 --dist worksteal --cov --cov-report=term "$@"

say ""
[ -n "$left_out" ] && say "Not run here:$left_out"
[ -n "$failed" ] && fail "failed:$failed"
say "All passed."
