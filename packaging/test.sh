#!/bin/sh
# Lint, types, contracts and all tests, and the README's start on a bare Debian where root can make one.
# Words after it go to pytest, e.g. `sh packaging/test.sh tests/client`; then there are no plug-ins and no bare
# Debian.
set -u
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$ROOT/packaging/environment.sh"
. "$ROOT/packaging/components.sh"
cd "$ROOT" || exit 1

# Snakemake brings fifty packages: they lie in an environment of their own, which borrows the rest of ours.
snakemake_tests() {
    lock=$ROOT/packaging/plugins/snakemake/requirements.lock
    own=$VENV/snakemake
    if [ "$(cat "$own/.lock" 2>/dev/null)" != "$(cksum <"$lock")" ]; then
        say "Setting up Snakemake (once, and after each change of its lock file)"
        "$PYTHON" -m venv --clear "$own" || return 1
        "$own/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r "$lock" || return 1
        borrowed=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') || return 1
        for site in "$own"/lib/python3*/site-packages; do
            printf '%s\n' "$ROOT" "$borrowed" >"$site/borrowed.pth"
        done
        cksum <"$lock" >"$own/.lock"
    fi
    "$own/bin/python" -m pytest packaging/plugins/snakemake
}

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
if [ "$whole" -eq 0 ]; then
    step psij "$PYTHON" -m pytest packaging/plugins/psij
    step snakemake snakemake_tests
fi
[ -n "$unmarked$*" ] || step coverage "$PYTHON" -m tests.architecture.coverage_list
[ "$whole" -gt 0 ] || step_fresh run
conclude
