#!/bin/sh
# Benchmarks: `sh packaging/bench.sh [NAME...]` prints one JSON line each; without names it runs all of them.
set -u
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$ROOT/packaging/environment.sh"
cd "$ROOT" || exit 1
make_environment requirements-dev.lock
qt_libraries offscreen || say "Benchmarks of the desktop cannot run."
exec "$PYTHON" -m tests.benchmarks.run "$@"
