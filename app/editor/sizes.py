"""Sizes and counts in words."""

from __future__ import annotations

_UNITS = ("KiB", "MiB", "GiB", "TiB")


def size_text(size: int) -> str:
    """Bytes as people read them: `17 bytes`, `1.2 MiB`."""
    if size < 1024:
        return "1 byte" if size == 1 else f"{size} bytes"
    value = float(size)
    for unit in _UNITS:
        value /= 1024
        if value < 1023.95 or unit == _UNITS[-1]:
            break
    return f"{value:.1f} {unit}"


def counted(number: int, one: str, many: str) -> str:
    """`1 file`, `2 files`, `10,000 jobs`."""
    return f"{number:,} {one if number == 1 else many}"
