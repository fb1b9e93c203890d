"""Differences to other readers of the language."""

from __future__ import annotations

import tomllib
from pathlib import Path

LISTED = tomllib.loads(Path(__file__).with_name("differences.toml").read_text(encoding="utf-8"))
