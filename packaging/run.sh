#!/bin/sh
# Set up CrossDesk and open it; the words after it go to the program. Without a display: run a demo job.
set -u
ROOT=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$ROOT/packaging/environment.sh"

make_environment requirements.lock

# A command needs no window.
case ${1:-} in
job | site | policy | replica | jdl | broker | desk | sample | sim | queue | slots | config | --help | --version)
    build_agent_at_set_up
    exec "$PYTHON" -m app.launch "$@"
    ;;
esac
build_agent_aside

if [ -n "${WAYLAND_DISPLAY:-}" ] && [ -z "${DISPLAY:-}" ]; then
    qt_libraries wayland || fail "no window can be opened without these libraries."
    exec "$PYTHON" -m app.launch "$@"
elif [ -n "${DISPLAY:-}" ]; then
    qt_libraries xcb || fail "no window can be opened without these libraries."
    exec "$PYTHON" -m app.launch "$@"
fi
say "There is no display: running the demo job without a window."
. "$ROOT/packaging/demo.sh"
