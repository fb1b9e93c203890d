"""Settings of a broker: documented defaults, TOML files above them, and where each value came from."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from broker_core.errors import BadRequest
from broker_core.jdl.limits import DESCRIPTION_MAX
from broker_core.policies.ordering import ORDERINGS

MB = 1_000_000
SANDBOX_LIMITS = {"embedded": 1000 * MB, "shared": 10 * MB, "compatible": MB}
"""`input_sandbox_max` of each mode in bytes (CB-UAM-08; `compatible` is the published default)."""


def _setting(default: Any, doc: str) -> Any:
    return field(default=default, metadata={"doc": doc})


@dataclass(frozen=True, slots=True)
class Settings:
    """Effective settings. Durations in seconds, sizes in bytes."""

    mode: str = _setting("embedded", "embedded, shared or compatible: chooses the sandbox limit")
    input_sandbox_max: int = _setting(0, "bytes of a job's input sandbox; 0: as the mode says")
    description_max: int = _setting(DESCRIPTION_MAX, "bytes of one description's text")
    request_max: int = _setting(256 * MB, "bytes of one request's body, uploads of files apart")
    output_max: int = _setting(2000 * MB, "bytes that one output file of a local job may grow to")
    cpus: int = _setting(0, "processors that the local site offers; 0: as many as the machine has")
    policy: str = _setting("best-fit", "order of sites for a job: " + ", ".join(ORDERINGS))
    rematch_interval: float = _setting(120.0, "a waiting job is matched again at the latest after this")
    infeasible_timeout: float = _setting(3600.0, "a job that no known resource can ever run is aborted then")
    max_rematch: int = _setting(5, "rounds of matching after failures at sites, before a job is aborted")
    temp_bad_period: float = _setting(600.0, "longest time for which a site that fails is left alone")
    log_bytes: int = _setting(5 * MB, "size at which the log file is turned over; three old ones are kept")
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Setting to where its value came from: `default`, a file, or `command line`."""

    @property
    def sandbox_limit(self) -> int:
        """Bytes that the input sandbox of one job may have in all."""
        return self.input_sandbox_max or SANDBOX_LIMITS[self.mode]

    def table(self) -> list[tuple[str, Any, str, str]]:
        """Rows of (name, effective value, origin, meaning), in the order of the fields."""
        return [
            (
                known.name,
                getattr(self, known.name),
                self.origins.get(known.name, "default"),
                known.metadata["doc"],
            )
            for known in _known()
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


def _known() -> list[Any]:
    return [known for known in fields(Settings) if known.name != "origins"]


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
    default = {known.name: known.default for known in _known()}.get(name, MISSING)
    if default is MISSING:
        raise BadRequest(f"There is no setting {name}.", place=origin, remedy="Remove it.")
    if isinstance(default, float) and type(value) is int:
        value = float(value)
    if type(value) is not type(default) or (not isinstance(value, str) and value < 0):
        wanted = type(default).__name__
        raise BadRequest(f"The setting {name} must be a {wanted} that is not negative.", place=origin)
    if name == "mode" and value not in SANDBOX_LIMITS:
        raise BadRequest(
            f"The mode {value!r} is unknown.", place=origin, remedy="Use " + ", ".join(SANDBOX_LIMITS) + "."
        )
    if name == "policy" and value not in ORDERINGS:
        raise BadRequest(
            f"The policy {value!r} is unknown.", place=origin, remedy="Use " + ", ".join(ORDERINGS) + "."
        )
    return value
