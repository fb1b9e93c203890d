"""What this machine remembers about the window: one JSON file, typed by its defaults."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from platformdirs import user_config_path

log = logging.getLogger(__name__)

DEFAULTS: dict[str, Any] = {
    "theme": "system",
    "font_size": 13,
    "compact": False,
    "notify": "all",
    "wrap_logs": True,
    "default_site": "",
    "output_folder": "",
    "welcomed": False,
    "expiry_told": [],
    "inspector_share": 0.35,
    "geometry": "",
    "layout": "",
    "columns": [],
    "resource_columns": [],
    "sort": ["submitted", True],
    "query": "",
    "page": "jobs",
    "open_tabs": [],
    "front_tab": [],
    "selected_jobs": [],
    "unfolded": {},
    "saved_queries": [],
    "projects": {},
    "templates": [],
    "presets": [],
    "recent_actions": [],
    "recent_files": [],
    "console_font": "",
    "console_splits": {},
    "console_parts": {},
    "roamed": 0.0,
}
"""Every preference with its default; a stored value of another type is ignored."""


class Preferences:
    """Read once, written whole and atomically on each change."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or user_config_path("crossdesk") / "desktop.json"
        self._values = dict(DEFAULTS)
        self._values.update(self._stored())
        self.on_change: list[Callable[[str], None]] = []
        """Called with the name of each preference that the user changed."""

    def _stored(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            log.warning("The preferences in %s cannot be read and are left aside: %s", self._path, error)
            return {}
        if not isinstance(found, dict):
            return {}
        if found.get("notifications") is False:  # as versions before this one said it
            found.setdefault("notify", "none")
        return {name: value for name, value in found.items() if type(value) is type(DEFAULTS.get(name))}

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __setitem__(self, name: str, value: Any) -> None:
        if type(value) is not type(DEFAULTS[name]):
            raise TypeError(f"{name} is a {type(DEFAULTS[name]).__name__}, not {value!r}")
        if self._values[name] != value:
            self._values[name] = value
            self._write()
            for tell in self.on_change:
                tell(name)

    def update(self, values: Mapping[str, Any]) -> None:
        """Take over values of the right types at once, telling nobody."""
        self._values.update(values)
        self._write()

    def _write(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=".desktop-")
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(self._values, stream, indent=1)
            os.replace(name, self._path)
        except OSError as error:
            log.warning("The preferences cannot be kept in %s: %s", self._path, error)
