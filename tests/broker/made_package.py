"""A package as pip leaves it in a folder of the search path."""

from __future__ import annotations

from pathlib import Path


def add_package(folder: Path, module: str, source: str, points: str) -> None:
    """Put a module there, and the entry points that its package names."""
    about = folder / f"{module}-1.dist-info"
    about.mkdir()
    name = module.replace("_", "-")
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(points)
    (folder / f"{module}.py").write_text(source)
