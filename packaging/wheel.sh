#!/bin/sh
# Build the wheel with the agent for nodes of clusters in it:
#     sh packaging/wheel.sh [FOLDER]
# FOLDER (dist) gets it. Where the agent cannot be built (see packaging/agent.sh), the wheel is made without, and says so.
set -eu
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$ROOT/packaging/environment.sh"
OUTPUT=${1:-$ROOT/dist}
sh "$ROOT/packaging/agent.sh" >&2 || say "The wheel is made without the agent: interactive jobs at other sites have a plain one."
choose_place
PYTHON=$VENV/bin/python
[ -x "$PYTHON" ] || choose_python
say "Building in $OUTPUT"
"$PYTHON" -m pip wheel -q --disable-pip-version-check --no-deps -w "$OUTPUT" "$ROOT" >&2
