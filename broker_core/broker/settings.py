"""Settings of a broker: documented defaults, TOML files above them, and where each value came from."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from broker_core.broker.settings_fields import checked
from broker_core.broker.settings_limits import LimitSettings
from broker_core.broker.settings_matching import MatchSettings
from broker_core.broker.settings_scheduling import SchedulingSettings
from broker_core.errors import BadRequest


@dataclass(frozen=True)
class Settings(MatchSettings, SchedulingSettings, LimitSettings):
    """Effective settings, by subject in the base classes."""

    origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Setting to where its value came from: `default`, a file, or `command line`."""

    def table(self) -> list[tuple[str, Any, str, str]]:
        """Rows of (name, effective value, origin, meaning), by subject."""
        return [
            (name, getattr(self, name), self.origins.get(name, "default"), known.metadata["doc"])
            for name, known in _known().items()
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
