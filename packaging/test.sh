#!/bin/sh
# Lint, types, contracts and all tests, and the README's start on a bare Debian where root can make one.
# Words after it go to pytest, e.g. `sh packaging/test.sh tests/client`; then there is no bare Debian.
set -u
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$ROOT/packaging/environment.sh"
. "$ROOT/packaging/components.sh"
cd "$ROOT" || exit 1

whole=$#
make_environment requirements-dev.lock
provide_for_tests
qt_libraries xcb || {
    without "tests of windows: Qt does not find its libraries"
    set -- --ignore=tests/app --ignore=tests/end2end "$@"
}

step lint "$PYTHON" -m ruff check .
step types "$PYTHON" -m mypy
step contracts "$VENV/bin/lint-imports" --no-logo
step tests "$PYTHON" -m pytest -n 2 --dist worksteal --cov --cov-report=term ${unmarked:+-m "$unmarked"} "$@"
[ -n "$unmarked$*" ] || step coverage "$PYTHON" -m tests.architecture.coverage_list
[ "$whole" -gt 0 ] || step_fresh run
conclude
