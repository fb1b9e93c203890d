# The demo job without a window: run it through the broker, tell its story, show its output, leave a picture.
# Sourced by run.sh.

crossdesk() { "$PYTHON" -m app.launch "$@"; }

id=$(crossdesk sample run neural-net) || exit 1
crossdesk job status "$id" --wait --timeout 300 >/dev/null
ended=$?

say ""
say "What happened to the job:"
crossdesk job logging-info "$id" || exit 1
say ""
say "What it wrote (the last lines):"
crossdesk job log "$id" | tail -n 8
[ "$ended" = 0 ] || fail "the demo job did not end well (crossdesk job status $id tells more)."

picture=${CROSSDESK_SCREENSHOT:-}
if [ -z "$picture" ]; then
    folder=$ROOT/build
    { mkdir -p "$folder" && [ -w "$folder" ]; } 2>/dev/null || folder=$PWD
    [ -w "$folder" ] || folder=${TMPDIR:-/tmp}
    picture=$folder/crossdesk-demo.png
fi
say ""
if ! qt_libraries offscreen; then
    say "There is no picture of the desktop: the libraries named above are missing. The job itself ran well."
    exit 0
fi
QT_QPA_PLATFORM=offscreen "$PYTHON" -m app.main --screenshot "$picture" --job "$id" ||
    fail "the desktop could not be drawn."
say "A picture of the desktop with this job: $picture"
