#!/bin/sh
# Looks for a file that was never sent, and gives up with a clear message.
echo "checking $1"
if [ ! -r "$1" ]; then
    echo "error: $1 is not here; add it to InputSandbox and submit again" >&2
    exit 7
fi
echo "all is well"
