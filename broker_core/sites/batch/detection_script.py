"""The script that looks what is at a host, and what it prints, read back."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from broker_core.sites.batch.system import BatchSystem

VARIABLES = (
    *("PATH", "LD_LIBRARY_PATH", "MODULEPATH", "SLURM_CONF"),
    *("SGE_ROOT", "SGE_CELL", "SGE_QMASTER_PORT", "SGE_EXECD_PORT", "SGE_CLUSTER_NAME"),
    *("PBS_CONF_FILE", "PBS_EXEC", "PBS_SERVER", "PBS_DEFAULT"),
    *("LSF_ENVDIR", "LSF_BINDIR", "LSF_SERVERDIR", "LSF_LIBDIR", "CONDOR_CONFIG"),
)
"""What batch systems need; often set by the profile of a login shell only, which scripts do not read."""
SEPARATOR = "@@@"
"""Line between a batch system's version and its queues."""
_SECONDS = 15
_MOST_MODULES = 1000

# Each probe prints a head (h), its lines of stdout (o) and stderr (e), and its exit status (s). A probe that
# hangs is ended, where the host has `timeout`.
_FRAME = (
    r"""
limit() { if command -v timeout >/dev/null 2>&1; then timeout -k 2 "$@"; else shift; "$@"; fi; }
probe() {
    printf 'h %s\n' "$1"
    { { { limit SECONDS sh -c "$2" </dev/null 4>&- 3>&1 1>&3 3>&-; echo "s $?" >&4; } 2>&1 >&3 3>&- |
        sed 's/^/e /' >&4; } 3>&1 | sed 's/^/o /'; } 4>&1
}
case ${SHELL:-} in */bash | */zsh | */ksh | */dash | */sh) login=$SHELL ;; *) login=/bin/sh ;; esac
mine=$(env | grep -E "^($wanted)=")
[ -n "$mine" ] || mine==
changed=$(limit SECONDS "$login" -lc 'echo; echo SEPARATOR; env' </dev/null 2>/dev/null |
    sed '1,/^SEPARATOR$/d' | grep -E "^($wanted)=" | grep -vxF -e "$mine")
exports=$(printf '%s\n' "$changed" | sed "s/'/'\\\\''/g; s/^\([A-Z_]*\)=\(.*\)\$/export \1='\2'/")
printf 'h variables\n'
printf '%s\n' "$changed" | sed 's/^/o /'
echo 's 0'
both() {
    printed=$(probe "plain.$1" "$2")
    printf '%s\n' "$printed"
    case $printed in *"
s 0"*) ;; *) [ -z "$changed" ] || probe "login.$1" "$exports
$2" ;; esac
}
login() { probe "$1" "$exports
$2"; }
""".replace("SECONDS", str(_SECONDS))
    .replace("VARIABLES", "|".join(VARIABLES))
    .replace("SEPARATOR", SEPARATOR)
)

_MPI = """
for one in mpiexec mpiexec.openmpi mpiexec.mpich mpiexec.hydra; do
    command -v $one >/dev/null || continue
    $one --version 2>&1 </dev/null | tr '\\n' ' ' | cut -c 1-2000; echo
done"""
_MODULES = (
    "if command -v bash >/dev/null; then bash -lc 'module -t avail' </dev/null 2>&1 || true; fi"
    f" | head -n {_MOST_MODULES}"
)
# Whether the user's own machine can be reached from there: no stranger is spoken to. A refusal is an answer.
_OUTBOUND = r"""
[ -n "${SSH_CONNECTION:-}" ] || exit 0
python3 - "${SSH_CONNECTION%% *}" <<'END'
import errno, ipaddress, socket, sys
address = sys.argv[1].partition("%")[0]
if not ipaddress.ip_address(address).is_loopback:
    try:
        socket.create_connection((address, 22), 3.0).close()
        print("yes")
    except OSError as error:
        unreachable = (errno.ENETUNREACH, errno.EHOSTUNREACH)
        print({errno.ECONNREFUSED: "yes"}.get(error.errno, "no" if error.errno in unreachable else ""))
END"""
_PROBES = {
    "host": 'uname -n; id -un; printf "%s\\n" "$HOME"',
    "python": 'python3 -c "import platform; print(platform.python_version())"',
    "mpi": _MPI,
    "modules": _MODULES,
    "outbound": _OUTBOUND,
}


@dataclass(slots=True)
class Probed:
    """What one probe left."""

    status: int = -1
    """Exit status; -1: it left none."""
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)


def detection_script(systems: Iterable[BatchSystem], given: Collection[str] = ()) -> str:
    """Text that looks for these batch systems and for all else that a `Detection` tells.

    `given`: variables that are set already, on which a login shell has no say.
    """
    lines = [f"wanted='{'|'.join(name for name in VARIABLES if name not in given)}'", _FRAME]
    for system in systems:
        text = f"{system.detect()} || exit\necho {SEPARATOR}\n{system.queues()}"
        lines.append(f"both {system.kind} {shlex.quote(text)}")
    lines += [f"login {name} {shlex.quote(text)}" for name, text in _PROBES.items()]
    return "\n".join([*lines, "echo 'h end'"])


def read_probes(out: str) -> dict[str, Probed]:
    """What the script printed, by probe; raises ValueError where it is not whole."""
    probes: dict[str, Probed] = {}
    now = Probed()
    for line in out.splitlines():
        sort, _, value = line.partition(" ")
        if sort == "h":
            now = probes[value] = Probed()
        elif sort == "o":
            now.out.append(value)
        elif sort == "e":
            now.err.append(value)
        elif sort == "s" and value.isdigit():
            now.status = int(value)
        else:
            raise ValueError(f"not a line of a detection: {line[:200]!r}")
    if "end" not in probes:
        raise ValueError(f"the detection is not whole: {out[-200:]!r}")
    return probes
