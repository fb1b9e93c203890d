#!/bin/sh
# Make the lock files anew from pyproject.toml; needs uv. Commit the result. What is locked installs with the oldest
# Python that was tried, that of Debian 12: newer packages ask for a later patch of 3.11.
set -eu
cd "$(dirname -- "$0")/.."
uv=$(command -v uv || printf '%s' .venv/bin/uv)
lock() {
    "$uv" pip compile -q --universal --python-version 3.11.2 --generate-hashes --no-annotate --no-strip-extras \
        --no-emit-index-url --no-emit-find-links --custom-compile-command "sh packaging/lock.sh" "$@"
}
lock pyproject.toml -o packaging/requirements.lock
lock --extra dev pyproject.toml -o packaging/requirements-dev.lock
lock packaging/agent/requirements.in -o packaging/agent/requirements.lock
lock packaging/kerberos/requirements.in -o packaging/kerberos/requirements.lock
lock packaging/mpi/mpich.in -o packaging/mpi/mpich.lock
lock packaging/mpi/openmpi.in -o packaging/mpi/openmpi.lock
lock packaging/notebook/requirements.in -o packaging/notebook/requirements.lock
lock packaging/small_jobs/requirements.in -o packaging/small_jobs/requirements.lock
lock packaging/plugins/snakemake/requirements.in -o packaging/plugins/snakemake/requirements.lock
