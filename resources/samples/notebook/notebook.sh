#!/bin/sh
# JupyterLab at a free port of the node, open to who has its token alone. The desk hears of both from one line in the
# file that CROSSDESK_SERVICES names; the token is in no log.
command -v jupyter >/dev/null || { echo "There is no jupyter here: see PythonEnvironment or Modules." >&2; exit 127; }
umask 077
JUPYTER_TOKEN=$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')
export JUPYTER_TOKEN
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])') || exit 1
printf '{"name": "JupyterLab", "port": %d, "path": "/lab", "token": "%s"}\n' "$port" "$JUPYTER_TOKEN" \
    >>"$CROSSDESK_SERVICES"
set -- --no-browser --ip=127.0.0.1 --port="$port" --ServerApp.port_retries=0
[ "$(id -u)" -ne 0 ] || set -- "$@" --allow-root
exec jupyter lab "$@"
