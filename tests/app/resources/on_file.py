"""Made-up resources in a file, and a broker that reads them from there."""

from __future__ import annotations

import random
from pathlib import Path

from app.resources.countries import place_of

COUNTRIES = ("es", "de", "pl", "pt", "ie", "gr", "nl", "sk", "cy", "at", "it", "fr", "gb")
QUEUES = ("short", "long", "mpi")


def resources_toml(number: int, seed: int = 1) -> str:
    """So many computing elements, three to a site, as TOML."""
    rng = random.Random(seed)
    parts = ['[defaults]\nGlueHostOperatingSystemName = "Debian"\nGlueCEStateStatus = "Production"\n']
    for at in range(number):
        site, country = at // 3, COUNTRIES[at // 3 % len(COUNTRIES)]
        north, east = place_of(country) or (0.0, 0.0)
        total = rng.choice((8, 16, 64, 256))
        free = rng.choice((0, rng.randrange(total + 1)))
        parts.append(
            "[[resources]]\n"
            f'ce = "ce{site:05}.grid.{country}:2119/jobmanager-pbs-{QUEUES[at % 3]}"\n'
            f'site = "{country.upper()}-GRID-{site:05}"\n'
            f'GlueCEInfoLRMSType = "{rng.choice(("pbs", "slurm", "sge"))}"\n'
            f"GlueCEInfoTotalCPUs = {total}\nGlueCEStateFreeCPUs = {free}\n"
            f"GlueCEStateRunningJobs = {total - free}\n"
            f"GlueCEStateWaitingJobs = {0 if free else rng.randrange(40)}\n"
            f"GlueSiteLatitude = {north + rng.uniform(-1.5, 1.5):.2f}\n"
            f"GlueSiteLongitude = {east + rng.uniform(-1.5, 1.5):.2f}\n"
            f'GlueSiteCountry = "{country}"\n'
            f"GlueHostMainMemoryRAMSize = {rng.choice((1024, 2048, 4096))}\n"
            'GlueHostApplicationSoftwareRunTimeEnvironment = ["MPICH", "PACX-MPI", "VO-cms-8.2"]\n'
        )
    return "\n".join(parts)


def set_up(state_dir: Path, number: int) -> None:
    """Let the broker of a state directory, not started yet, know so many resources from a file."""
    state_dir.mkdir(parents=True, exist_ok=True)
    path = state_dir / "resources.toml"
    path.write_text(resources_toml(number))
    (state_dir / "broker.toml").write_text(f'[[sources]]\nname = "grid"\nkind = "file"\npath = "{path}"\n')
