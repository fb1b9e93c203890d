#!/bin/sh
# The long forms of the tests: hundreds of kills, millions of cases. Words after it go to pytest.
set -u
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$ROOT/packaging/environment.sh"
cd "$ROOT" || exit 1
make_environment requirements-dev.lock
exec "$PYTHON" -m pytest --soak --timeout 7200 -n 2 --dist worksteal "$@"
