"""What software a host has, asked in one script, and the tags by which its site shows that (CB-TAG-01)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from broker_core.resources.tags import CONTAINER, MODULE, MORE, PYTHON
from broker_core.sites.local_shell import printed_here

_MOST_NAMES, _MOST_TEXT = 1500, 60_000
"""Modules that are published of one site, and letters of their names in all."""
_SECONDS = 60.0
_MARK = re.compile(r"\([^()]*\)$|\s*<[^<>]*>$")
_NAME = re.compile(r"[A-Za-z0-9](?:[\w.+/-]*[\w+])?", re.ASCII)
SOFTWARE = r"""
say() { [ -z "$2" ] || printf '\036%s %s' "$1" "$2"; }
limit() { if command -v timeout >/dev/null 2>&1; then timeout -k 2 "$@"; else shift; "$@"; fi; }
for program in apptainer singularity ch-run; do
    ! command -v "$program" >/dev/null 2>&1 || say runtime "$program"
done
say python "$(limit 5 python3 -c 'import platform; print(platform.python_version())' 2>/dev/null)"
for program in uv conda mamba micromamba; do
    ! command -v "$program" >/dev/null 2>&1 || say python "$program"
done
# There are file systems that need minutes for this list.
say modules "$(limit 20 sh -c '
    for start in /etc/profile.d/z00_lmod.sh /etc/profile.d/lmod.sh /etc/profile.d/modules.sh \
        /usr/share/lmod/lmod/init/sh /usr/share/modules/init/sh; do
        [ -z "$LMOD_CMD$MODULES_CMD" ] || break
        command -v module >/dev/null 2>&1 || [ ! -r "$start" ] || . "$start" >/dev/null 2>&1
    done
    if command -v module >/dev/null 2>&1; then module -t avail 2>&1
    elif [ -n "$LMOD_CMD$MODULES_CMD" ]; then "${LMOD_CMD:-$MODULES_CMD}" sh -t avail 2>&1 >/dev/null; fi
' </dev/null 2>/dev/null | head -n 5000)"
for program in ompi_info mpichversion mpiexec.mpich mpiexec.openmpi mpirun impi_info; do
    ! command -v "$program" >/dev/null 2>&1 || say mpi "$program"
done
# Not all installations have names that tell them apart.
for program in "$(command -v mpiexec)" "$@"; do
    [ -x "$program" ] || continue
    case $(limit 5 "$program" --version 2>/dev/null </dev/null) in
    *HYDRA*) say mpi mpiexec.mpich ;;
    *'Open MPI'* | *OpenRTE*) say mpi mpiexec.openmpi ;;
    esac
done
say asked software
"""
"""Prints the runtimes of containers, what makes Python environments, the names of modules, and
implementations of MPI; words of the script: launchers that are not in PATH."""
_MPI = {
    "ompi_info": "OPENMPI",
    "mpiexec.openmpi": "OPENMPI",
    "mpichversion": "MPICH",
    "mpiexec.mpich": "MPICH",
    "mpirun": "MPI",
    "impi_info": "INTELMPI",
}


def answers(out: str) -> dict[str, list[str]]:
    """What such a script printed: word to its values."""
    found: dict[str, list[str]] = {}
    for part in out.split("\x1e")[1:]:
        word, _, value = part.partition(" ")
        found.setdefault(word, []).append(value)
    return found


def module_names(lines: Iterable[str]) -> list[str]:
    """Names of modules in a terse list; the folders that hold them, and words about errors, are left out."""
    names = (_MARK.sub("", line.strip()) for line in lines)
    return sorted({name for name in names if _NAME.fullmatch(name)})


def software_tags(found: Mapping[str, Sequence[str]]) -> list[str]:
    """Tags of what SOFTWARE told; a list that was not asked for, or not had, has none."""
    if "asked" not in found:
        return []
    modules = _bounded(module_names("\n".join(found.get("modules", ())).splitlines()))
    runtimes, pythons = found.get("runtime", ()), found.get("python", ())
    # A bare word says that the list is there, and empty: what modules bring is not known beforehand.
    closed = () if modules else ("",)
    return [
        *(f"{MODULE}{name}" for name in modules),
        *(f"{CONTAINER}{name}" for name in runtimes or closed),
        *(f"{PYTHON}{name}" for name in pythons or closed),
    ]


def mpi_tags(found: Mapping[str, Sequence[str]]) -> list[str]:
    """Tags of the implementations of MPI that SOFTWARE told."""
    return list(dict.fromkeys(_MPI[name] for name in found.get("mpi", ()) if name in _MPI))


async def software_here(launchers: Iterable[str] = ()) -> list[str]:
    """Tags of the software of this machine, with what `launchers` of MPI outside of PATH stand for; empty
    where it does not answer in time."""
    found = answers(await printed_here(SOFTWARE, *launchers, seconds=_SECONDS))
    return [*mpi_tags(found), *software_tags(found)]


def _bounded(names: list[str]) -> list[str]:
    """As many as are published, and the sign that there are more."""
    room, count = _MOST_TEXT, 0
    for name in names[:_MOST_NAMES]:
        room -= len(name)
        count += room >= 0
    return names if count == len(names) else [*names[:count], MORE]
