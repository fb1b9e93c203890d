# The system's components that tests and benchmarks take: what shows that one is there, which packages bring it,
# and what is left out without it. Sourced by test.sh, soak.sh, bench.sh and fresh.sh, after environment.sh.

OPENLDAP_PACKAGES="slapd ldap-utils glue-schema bdii openssl"
CLUSTER_PACKAGES="slurm-wlm slurm-wlm-basic-plugins munge gridengine-master gridengine-exec gridengine-client
    nordugrid-arc-arex nordugrid-arc-client nordugrid-arc-test-utils nordugrid-arc-plugins-needed
    nordugrid-arc-plugins-arcrest openssh-server openssh-client rsync csh tcsh iproute2 nftables"
CLUSTER_FILES="/usr/sbin/slurmctld /usr/sbin/munged /usr/sbin/sge_qmaster /usr/share/arc/arc-arex-start
    /usr/sbin/sshd /usr/bin/rsync /usr/bin/bsd-csh /usr/bin/tcsh /usr/sbin/ip /usr/sbin/nft"

# Set what is known of the component $1: what it is for, its programs and files, its packages; or, of one that is an
# environment for Python, only the folder here whose requirements.lock says what is in it.
component() {
    needs="" packages="" environment=""
    case $1 in
    tools) purpose="programs of developers" needs="git curl wget" packages=$needs ;;
    display)
        purpose="programs for tests in a real window"
        needs="Xvfb xdotool import openbox dunst dbus-daemon xauth xdpyinfo /usr/libexec/at-spi-bus-launcher"
        packages="xvfb xdotool imagemagick openbox dunst dbus xauth x11-utils at-spi2-core"
        ;;
    openldap)
        purpose="a real information system"
        needs="/usr/sbin/slapd /etc/ldap/schema/Glue-CE.schema /etc/bdii/BDII.schema"
        packages=$OPENLDAP_PACKAGES
        ;;
    cluster) purpose="real clusters" needs=$CLUSTER_FILES packages=$CLUSTER_PACKAGES ;;
    accounting)
        purpose="a real Slurm with accounting"
        needs="/usr/sbin/slurmdbd /usr/sbin/mariadbd /usr/sbin/slurmctld"
        packages="slurmdbd mariadb-server slurm-wlm slurm-wlm-basic-plugins munge"
        ;;
    console)
        purpose="programs that the console must run, and other shells"
        needs="vim htop tmux less busybox shellcheck"
        packages=$needs
        ;;
    software)
        purpose="module systems, containers and boxes"
        needs="ch-run ch-image docker-registry bwrap setpriv lua5.3 tclsh dpkg-deb apt-get"
        packages="charliecloud-runtime charliecloud-builders python3-lark python3-requests docker-registry"
        packages="$packages bubblewrap util-linux lua5.3 lua-posix lua-filesystem lua-json lua-term tcl"
        ;;
    kerberos)
        purpose="a real realm of Kerberos, and what its Python package is built with"
        needs="/usr/sbin/krb5kdc /usr/sbin/kadmin.local kinit krb5-config gcc /usr/sbin/sshd"
        packages="krb5-kdc krb5-admin-server krb5-user libkrb5-dev gcc libc6-dev openssh-server openssh-client"
        # Debian's own Python has its headers in a package of their own, which the build takes as well.
        case $("$PYTHON" -c 'import sys; print(sys.base_prefix)' 2>/dev/null) in
        /usr) needs="$needs /usr/include/$(basename "$(readlink -f "$PYTHON")")/Python.h" packages="$packages python3-dev" ;;
        esac
        ;;
    browser) purpose="a browser without a window" needs="chromium-headless-shell" packages=$needs ;;
    mpi) purpose="a compiler for programs of MPI" needs="gcc" packages="gcc libc6-dev" ;;
    vnc)
        purpose="a VNC server and its viewer"
        needs="Xtigervnc xtigervncviewer Xvfb"
        packages="tigervnc-standalone-server tigervnc-viewer xvfb"
        ;;
    small_jobs) purpose="HyperQueue and Parsl" environment=$1 ;;
    fresh) purpose="what makes a bare Debian" needs="mmdebstrap git" packages="mmdebstrap git" ;;
    *) fail "there is no component $1." ;;
    esac
}

# The programs and files among the words that are not there.
absent() {
    for one; do
        case $one in
        /*) [ -e "$one" ] || [ -e "${one#/usr}" ] ;;
        *) has "$one" ;;
        esac || printf ' %s' "$one"
    done
}

# What brings many packages lies in an environment of its own, $VENV/$1, made by the lock file $2.
own_environment() {
    own=$VENV/$1
    [ "$(cat "$own/.lock" 2>/dev/null)" != "$(cksum <"$2")" ] || return 0
    say "Setting up the environment of $1 (once, and after each change of its lock file)"
    "$PYTHON" -m venv --clear "$own" >&2 || return 1
    "$own/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r "$2" >&2 || return 1
    cksum <"$2" >"$own/.lock"
}

# True when the component $1 is there, after installing what can be had; $lacking is what is not.
provide() {
    component "$1"
    if [ -n "$environment" ]; then
        lacking=" the packages of packaging/$environment/requirements.lock"
        own_environment "$environment" "$ROOT/packaging/$environment/requirements.lock"
        return
    fi
    # shellcheck disable=SC2086 # lists of words
    {
        lacking=$(absent $needs)
        [ -z "$lacking" ] && return 0
        # What was installed is looked at, not what apt says: of a list only a part may exist here.
        apt_install "$purpose ($lacking)" $packages || :
        lacking=$(absent $needs)
    }
    [ -z "$lacking" ]
}

left_out=""
unmarked=""
failed=""

# What a missing component means: a failure in CI, a line in the list elsewhere.
without() {
    left_out="$left_out
  - $1"
    [ "${CI:-}" = true ] && failed="$failed missing-component"
    return 0
}

# Tests that carry the mark $1 are left out, for the reason $2.
leave_out() {
    unmarked="${unmarked:+$unmarked and }not $1"
    without "tests marked $1: $2"
}

# Provide all that tests need; $unmarked chooses those that can run here.
provide_for_tests() {
    for mark in tools display openldap cluster accounting console software kerberos browser mpi; do
        provide "$mark" || leave_out "$mark" "they need$lacking"
    done
    is_root || leave_out cluster "they start clusters, which only root may"
    is_root || leave_out accounting "they start clusters, which only root may"
    is_root || leave_out kerberos "they start an SSH server, which only root may"
    if [ "$(uname -sm)" != "Linux x86_64" ] || ! has apt-get || ! has dpkg-deb || ! has flock; then
        leave_out agent_file "they build from packages of Debian 12 on x86-64"
    fi
    is_root || leave_out root "they mount file systems, which only root may"
    "$PYTHON" -m tests.crash.control_group || leave_out control_group "no control groups can be made here"
}

step() {
    name=$1
    shift
    say ""
    say "== $name"
    "$@" || failed="$failed $name"
}

# A step that goes on beside those that follow it; step_awaited shows its words.
step_beside() {
    beside=$1
    shift
    beside_words=$(mktemp)
    "$@" >"$beside_words" 2>&1 &
    beside_pid=$!
}

# Wait for the step that was begun beside others, and tell of it.
step_awaited() {
    step "$beside" wait "$beside_pid"
    cat "$beside_words"
    rm "$beside_words"
}

# The README's commands on a bare Debian, where one can be made; the words go to fresh.sh.
step_fresh() {
    if [ -n "${CROSSDESK_FRESH:-}" ]; then
        say "This is a bare Debian already: none is made within it."
    elif ! is_root; then
        without "the README's commands on a bare Debian: only root may make one"
    elif ! provide fresh; then
        without "the README's commands on a bare Debian: it needs$lacking"
    else
        step fresh sh "$ROOT/packaging/fresh.sh" "$@"
    fi
}

# Tell what was left out and what failed, and end.
conclude() {
    say ""
    [ -n "$left_out" ] && say "Not run here:$left_out"
    [ -n "$failed" ] && fail "failed:$failed"
    say "All passed."
}
