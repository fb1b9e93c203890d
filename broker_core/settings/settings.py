"""Settings of a broker: documented defaults, TOML files above them, and where each value came from."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from broker_core.errors import BadRequest
from broker_core.information import configuration
from broker_core.information.configuration import ReplicaSettings
from broker_core.information.updater import SourceSettings
from broker_core.policies.built_in import BEST_FIT, POLICIES
from broker_core.policies.queues import FCFS, QUEUES
from broker_core.resources.tags import MPI_TAGS, SLOTS_TAG
from broker_core.settings.field import checked, setting
from broker_core.settings.glideins import GlideinSettings
from broker_core.settings.interactive import InteractiveSettings
from broker_core.settings.limits import LimitSettings

BATCH_CAPACITIES = ("total", "free")
SET_MODES = ("minimal", "listing", "incremental")
DEFAULT = "default"
"""Origin of what nobody set."""


@dataclass(frozen=True)
class SchedulingSettings:
    """Durations in seconds."""

    policy: str = setting(
        BEST_FIT, f"order of the sites that match a job: {', '.join(POLICIES)}, or a plug-in"
    )
    queue_policy: str = setting(FCFS, "who may pass whom in the queue", choices=tuple(QUEUES))
    gather_timeout: float = setting(
        3600.0, "a job over several sites that is not complete in MPI_Init by then is matched again"
    )
    mpiexec: str = setting(
        "", "mpiexec of MPICH on this machine, for jobs over several sites; empty: beside Python, or in PATH"
    )
    application_launchers: str = setting(
        "", "folder of launchers for ApplicationLauncher: NAME.py, NAME.py.sig, and the file allowed_signers"
    )
    overlay_library: str = setting(
        "",
        "path of the library that carries jobs over several sites on nodes without network namespaces; empty:"
        " the one that is installed with the broker",
    )
    launcher_address: str = setting(
        "", "address of this machine that nodes of sites call for such jobs; empty: that of its way out"
    )
    rematch_interval: float = setting(120.0, "a waiting job is matched again at the latest after this")
    infeasible_timeout: float = setting(3600.0, "a job that no known resource can ever run is aborted then")
    interactive_start: float = setting(
        120.0, "an interactive job that its site keeps in the queue for longer is refused"
    )
    interactive_elsewhere: float = setting(
        10.0, "an interactive job that its site keeps in the queue for longer starts elsewhere, where it can"
    )
    max_rematch: int = setting(5, "rounds of matching after failures at sites, before a job is aborted")
    temp_bad_period: float = setting(600.0, "longest time for which a site that fails is left alone")
    first_bad_period: float = setting(
        5.0,
        "time for which it is left alone after its first failure, four times as long after each further one:"
        " a fault that passes costs seconds; as much as temp_bad_period is that long at once",
    )
    exclusive_interval: float = setting(120.0, "a chosen resource is kept from others at most so long")
    stale_after: float = setting(
        0.0, "a resource not heard of for so long is not matched; 0: three intervals of its source"
    )
    cache: bool = setting(True, "false: every source is asked anew for each round of matching")


@dataclass(frozen=True)
class MatchSettings:
    """How descriptions are read, and what a resource must offer."""

    batch_capacity: str = setting(
        "total", "CPUs of a site that a batch job is compared with: total or free", choices=BATCH_CAPACITIES
    )
    max_site_queue: int = setting(100, "with more waiting jobs than this a site comes last")
    set_matching: str = setting(
        "minimal", "how sets of sites are sought: minimal, listing or incremental", choices=SET_MODES
    )
    max_ces_per_set: int = setting(4, "most computing elements that one job may be spread over")
    max_groups: int = setting(1000, "most sets of computing elements that are listed for a job")
    slots_tag: str = setting(
        SLOTS_TAG, "pattern of the tag that limits the CPUs of a job, with queue and count", pattern=True
    )
    mpi_tags: Mapping[str, str] = setting(dict(MPI_TAGS), "tag that a site must show for each kind of MPI")


@dataclass(frozen=True)
class InformationSettings:
    """Tables; their own settings are described in `information/configuration.py`."""

    sources: tuple[SourceSettings, ...] = setting(
        (), "who is asked about resources, a [[sources]] table each", parse=configuration.sources
    )
    network_test: str = setting(
        "1.1.1.1:443", "HOST:PORT where test jobs try whether nodes reach the network; empty: they do not"
    )
    replicas: ReplicaSettings = setting(  # noqa: RUF009 - it makes a field
        ReplicaSettings(), "the catalogue that knows where files are", parse=configuration.replicas
    )


@dataclass(frozen=True)
class Settings(
    InformationSettings,
    MatchSettings,
    SchedulingSettings,
    InteractiveSettings,
    GlideinSettings,
    LimitSettings,
):
    """Effective settings, by subject in the base classes."""

    origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Setting to where its value came from: `default`, a file, or `command line`."""

    def table(self) -> list[tuple[str, Any, str, str]]:
        """Rows of (name, effective value, origin, meaning), by subject; a value of a table has its own."""
        return [
            (name, value, self.origins.get(known.name, DEFAULT) if given else DEFAULT, known.metadata["doc"])
            for known in _known().values()
            for name, value, given in _rows(known.name, getattr(self, known.name))
        ]


def load(files: Iterable[Path], given: Mapping[str, Any] | None = None) -> Settings:
    """Read settings from TOML `files` (the later wins) and values `given` on the command line.

    Raises BadRequest that names the file and the setting, for what is not TOML, unknown or of a wrong type.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for path in files:
        for name, value in _read(path).items():
            values[name], origins[name] = _checked(name, value, str(path)), str(path)
    for name, value in (given or {}).items():
        if value is not None:
            values[name], origins[name] = _checked(name, value, "command line"), "command line"
    return Settings(**values, origins=origins)


def _rows(name: str, value: Any) -> Iterator[tuple[str, Any, bool]]:
    """Name, value, and whether it was set, of a setting or of all values of a table."""
    if isinstance(value, tuple) and value and all(map(is_dataclass, value)):
        for one in value:
            yield from _rows(f"{name}.{one.name}", one)
    elif is_dataclass(value):
        for part in fields(value):
            own = getattr(value, part.name)
            yield f"{name}.{part.name}", own, own != _default(part)
    else:
        yield name, value, True


def _default(part: Field[Any]) -> Any:
    return part.default_factory() if part.default_factory is not MISSING else part.default


def _known() -> dict[str, Field[Any]]:
    return {known.name: known for known in fields(Settings) if known.name != "origins"}


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise BadRequest(
            f"The settings file cannot be read: {error}.", place=str(path), remedy="Correct it or remove it."
        ) from error


def _checked(name: str, value: Any, origin: str) -> Any:
    known = _known().get(name)
    if known is None:
        raise BadRequest(f"There is no setting {name}.", place=origin, remedy="Remove it.")
    return checked(known, value, origin)
