"""What the login host of a site is like: its software and machine (CB-UPD-01)."""

from __future__ import annotations

from broker_core.sites.software import SOFTWARE, module_names, mpi_tags, software_tags

PROBE = (
    SOFTWARE
    + r"""
[ ! -r /etc/os-release ] || (
    . /etc/os-release
    say system "$NAME"
    say release "$VERSION_ID"
    say version "$VERSION_CODENAME"
)
say host "$(uname -n)"
say machine "$(uname -m)"
say model "$(sed -n 's/^model name[^:]*: *//p;T;q' /proc/cpuinfo 2>/dev/null)"
say cpus "$(getconf _NPROCESSORS_ONLN 2>/dev/null)"
for program in python3 bash perl gcc g++ gfortran R octave java apptainer singularity; do
    ! command -v "$program" >/dev/null 2>&1 || say program "$program"
done
"""
)
"""Prints what does not change while the site stays as it is."""
_MOST_MODULES = 1500


def tags(probe: dict[str, list[str]]) -> list[str]:
    """Run-time tags: programs, MPI implementations, and modules as `NAME-VERSION`, all in capitals."""
    programs = [name.upper().replace("+", "PLUS") for name in probe.get("program", ())]
    lines = "\n".join(probe.get("modules", ())).splitlines()
    names = [name.upper().replace("/", "-") for name in module_names(lines)[:_MOST_MODULES]]
    return list(
        dict.fromkeys(["CROSSDESK", "POSIX", *programs, *mpi_tags(probe), *names, *software_tags(probe)])
    )
