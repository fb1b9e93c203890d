"""Settings of a broker: documented defaults, TOML files above them, and where each value came from."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any

from broker_core.errors import BadRequest
from broker_core.settings.field import checked
from broker_core.settings.information import InformationSettings
from broker_core.settings.interactive import InteractiveSettings
from broker_core.settings.limits import LimitSettings
from broker_core.settings.matching import MatchSettings
from broker_core.settings.scheduling import SchedulingSettings

DEFAULT = "default"
"""Origin of what nobody set."""


@dataclass(frozen=True)
class Settings(InformationSettings, MatchSettings, SchedulingSettings, InteractiveSettings, LimitSettings):
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
