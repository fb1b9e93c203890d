#!/bin/sh
# Make the lock files anew from pyproject.toml; needs uv. Commit the result.
set -eu
cd "$(dirname -- "$0")/.."
uv=$(command -v uv || printf '%s' .venv/bin/uv)
lock() {
    file=$1
    shift
    "$uv" pip compile -q --universal --python-version 3.11 --generate-hashes --no-annotate \
        --no-emit-index-url --no-emit-find-links --custom-compile-command "sh packaging/lock.sh" \
        "$@" pyproject.toml -o "packaging/$file"
}
lock requirements.lock
lock requirements-dev.lock --extra dev
