# What run.sh, test.sh, soak.sh and bench.sh share: a Python, an environment with locked packages, and the
# system's libraries. Sourced by them; needs ROOT (the project's folder).

say() { printf '%s\n' "$*" >&2; }
fail() { say "crossdesk: $*"; exit 1; }

OFFSCREEN_PACKAGES="libgl1 libegl1 libxkbcommon0 libfontconfig1 libdbus-1-3 libglib2.0-0"
XCB_PACKAGES="libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libxcb-xkb1 libxkbcommon-x11-0"
WAYLAND_PACKAGES="libwayland-client0 libwayland-cursor0 libwayland-egl1"

is_root() { [ "$(id -u)" = 0 ]; }
has() { command -v "$1" >/dev/null 2>&1; }

# The first Python from 3.11 to 3.14, or nothing.
find_python() {
    for candidate in ${CROSSDESK_PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        has "$candidate" || continue
        if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

apt_quietly() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; }

# Install the packages; where one has no candidate here, which stops all of a list, those that have one.
apt_those_that_exist() {
    unknown=""
    apt_quietly "$@" && return 0
    apt-get update && apt_quietly "$@" && return 0
    existing=""
    for package; do
        if apt-get install -s --no-install-recommends "$package"; then
            existing="$existing $package"
        else
            unknown="$unknown $package"
        fi
    done
    # shellcheck disable=SC2086 # a list of words
    [ -n "$unknown" ] && [ -n "$existing" ] && apt_quietly $existing
}

# While packages are installed, none of them may start a service of its own.
forbid_services() {
    policy=/usr/sbin/policy-rc.d
    [ -e "$policy" ] && policy="" && return 0
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy"
}
allow_services() { [ -z "$policy" ] || rm -f "$policy"; }

# Install system packages, or say exactly what to type; the words after $1 are the packages.
apt_install() {
    why=$1
    shift
    if is_root && has apt-get; then
        say "Installing $why: $*"
        told=${TMPDIR:-/tmp}/crossdesk-apt.$$
        forbid_services
        if apt_those_that_exist "$@" >"$told" 2>&1; then
            installed=0
            [ -z "$unknown" ] || say "Left out, since this system has no such package:$unknown"
        else
            installed=1
            tail -n 5 "$told" >&2
            say "The packages could not be installed."
        fi
        allow_services
        rm -f "$told"
        return $installed
    fi
    say "Missing: $why. On Debian or Ubuntu install it with"
    say "    sudo apt-get install $*"
    return 1
}

choose_python() {
    PYTHON=$(find_python) || {
        found=$(python3 --version 2>&1) || found="no python3 at all"
        fail "Python 3.11 to 3.14 is needed; found here: $found. Install one, or name it in CROSSDESK_PYTHON."
    }
}

# Where the environment lives: in the project's folder, or in the user's cache if that cannot be written.
choose_place() {
    if [ -n "${CROSSDESK_VENV:-}" ]; then
        VENV=$CROSSDESK_VENV
    elif mkdir -p "$ROOT/.venv" 2>/dev/null && [ -w "$ROOT/.venv" ]; then
        VENV=$ROOT/.venv
    else
        mark=$(printf '%s' "$ROOT" | cksum | cut -d ' ' -f 1)
        VENV=${XDG_CACHE_HOME:-$HOME/.cache}/crossdesk/venv-$mark
        mkdir -p "$(dirname "$VENV")" || fail "$VENV cannot be made."
    fi
}

make_venv() {
    if ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
        version=$("$PYTHON" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        apt_install "virtual environments for Python" "python$version-venv" ||
            fail "without that no environment can be made."
    fi
    say "Making an environment in $VENV"
    "$PYTHON" -m venv --clear "$VENV" || fail "the environment could not be made in $VENV."
}

# Make the environment hold what the lock file $1 says; does nothing if it already does.
make_environment() {
    lock=$ROOT/packaging/$1
    choose_place
    if [ -x "$VENV/bin/python" ] && "$VENV/bin/python" -c 'import pip' 2>/dev/null; then
        PYTHON=$VENV/bin/python
    else
        choose_python
        make_venv
        PYTHON=$VENV/bin/python
    fi
    wanted="$(cksum <"$lock") $("$PYTHON" -c 'import sys; print(*sys.version_info[:3])') $ROOT"
    stamp=$VENV/.crossdesk-$1
    [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] && return 0
    (
        if has flock; then flock 9; fi
        install_locked "$lock"
    ) 9>"$VENV/.crossdesk-lock" || exit 1
    printf '%s' "$wanted" >"$stamp"
    newly_made=true
}
newly_made=false
build_agent_at_set_up() { if $newly_made; then build_agent_aside; fi; }

# Build the agent for nodes of clusters beside all else, where it is missing or made of other sources. What hinders
# that stands in build/agent/log, and the console says so where a job would need it.
build_agent_aside() {
    { [ "$(uname -sm)" = "Linux x86_64" ] && has apt-get && has setsid; } || return 0
    { mkdir -p "$ROOT/build/agent" && [ -w "$ROOT/build/agent" ]; } 2>/dev/null || return 0
    setsid nice -n 10 sh "$ROOT/packaging/agent.sh" --if-needed </dev/null >"$ROOT/build/agent/log" 2>&1 &
}

install_locked() {
    say "Setting up the packages (once, and after each change of the lock file)"
    if [ -n "${CROSSDESK_UNLOCKED:-}" ]; then
        extra=""
        case $1 in *-dev.lock) extra="[dev]" ;; esac
        "$PYTHON" -m pip install -q "$ROOT$extra" >&2 && "$PYTHON" -m pip uninstall -q -y crossdesk >&2 || return 1
    elif ! "$PYTHON" -m pip install -q --disable-pip-version-check --require-hashes -r "$1" >&2; then
        say "crossdesk: the locked packages could not be installed; pip says why above."
        say "With other versions than the tested ones, unchecked: CROSSDESK_UNLOCKED=1 sh packaging/run.sh"
        return 1
    fi
    site=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))') || return 1
    printf '%s\n' "$ROOT" >"$site/crossdesk-source.pth"
    command_of crossdesk app.launch
    command_of crossdesk-relay broker_core.interactive.relay
}

# Make the command $1 run the module $2.
command_of() {
    [ -e "$VENV/bin/$1" ] && return 0
    printf '#!/bin/sh\nexec "%s" -m %s "$@"\n' "$PYTHON" "$2" >"$VENV/bin/$1" && chmod 755 "$VENV/bin/$1"
}

# Libraries that a part of Qt ($1, relative to PySide6/Qt) does not find, one a line.
missing_libraries() {
    qt=$("$PYTHON" -c 'import importlib.util as u; print(u.find_spec("PySide6").submodule_search_locations[0])')/Qt
    ldd "$qt/$1" 2>/dev/null | sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' | sort -u
}

# True when windows can be drawn at the level offscreen, xcb or wayland, after installing what is missing.
qt_libraries() {
    case $1 in
    offscreen) part=lib/libQt6Gui.so.6 packages=$OFFSCREEN_PACKAGES ;;
    xcb) part=plugins/platforms/libqxcb.so packages="$OFFSCREEN_PACKAGES $XCB_PACKAGES" ;;
    wayland) part=plugins/platforms/libqwayland.so packages="$OFFSCREEN_PACKAGES $WAYLAND_PACKAGES" ;;
    esac
    missing=$(missing_libraries "$part")
    [ -z "$missing" ] && [ -z "$(missing_libraries plugins/platforms/libqoffscreen.so)" ] && return 0
    # shellcheck disable=SC2086 # a list of words
    apt_install "libraries for windows ($(printf '%s' "$missing" | tr '\n' ' '))" $packages || return 1
    [ -z "$(missing_libraries "$part")" ]
}
