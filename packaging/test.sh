#!/bin/sh
# Lint, types, contracts and all tests, and the README's start on a bare Debian where root can make one.
# Words after it go to pytest, e.g. `sh packaging/test.sh tests/client`; then there are no plug-ins and no bare
# Debian.
set -u
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$ROOT/packaging/environment.sh"
. "$ROOT/packaging/components.sh"
cd "$ROOT" || exit 1

# Snakemake borrows the rest of our packages.
snakemake_tests() {
    own_environment snakemake "$ROOT/packaging/plugins/snakemake/requirements.lock" || return 1
    borrowed=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') || return 1
    for site in "$own"/lib/python3*/site-packages; do
        printf '%s\n' "$ROOT" "$borrowed" >"$site/borrowed.pth"
    done
    "$own/bin/python" -m pytest packaging/plugins/snakemake
}

# The tests leave a sixth of two processors idle, since they wait for sites.
beside_the_tests() {
    step types "$PYTHON" -m mypy
    if [ "$whole" -eq 0 ]; then
        step psij "$PYTHON" -m pytest packaging/plugins/psij
        step snakemake snakemake_tests
    fi
    [ -z "$failed" ] || say "failed:$failed"
    [ -z "$failed" ]
}

# Where it is set, each of the thousands of processes of the tests compiles all sources anew.
unset PYTHONDONTWRITEBYTECODE

whole=$#
make_environment requirements-dev.lock
provide_for_tests
own_environment notebook "$ROOT/packaging/notebook/requirements.lock" ||
    leave_out notebook "JupyterLab could not be installed"
own_environment kerberos "$ROOT/packaging/kerberos/requirements.lock" ||
    leave_out kerberos "the Python package gssapi could not be built"
# Each in an environment of its own: they have files of the same names.
{ own_environment mpich "$ROOT/packaging/mpi/mpich.lock" && own_environment openmpi "$ROOT/packaging/mpi/openmpi.lock"; } ||
    leave_out mpi "MPICH or Open MPI could not be installed"
qt_libraries xcb || {
    without "tests of windows: Qt does not find its libraries"
    set -- --ignore=tests/app --ignore=tests/end2end "$@"
}

step_beside "beside the tests" beside_the_tests
step lint "$PYTHON" -m ruff check .
step contracts "$VENV/bin/lint-imports" --no-logo
step tests "$PYTHON" -m pytest -n 2 --dist worksteal --cov --cov-report=term ${unmarked:+-m "$unmarked"} "$@"
step_awaited
[ -n "$unmarked$*" ] || step coverage "$PYTHON" -m tests.architecture.coverage_list
[ "$whole" -gt 0 ] || step_fresh run
conclude
