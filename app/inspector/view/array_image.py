"""Arrays as pictures, and their values as a distribution. No widgets."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QImage

from broker_core.jobs.published.records import is_picture

_STOPS = (
    (68, 1, 84), (72, 40, 120), (62, 74, 137), (49, 104, 142), (38, 130, 142),
    (31, 158, 137), (53, 183, 121), (109, 205, 89), (180, 222, 44), (253, 231, 37),
)  # fmt: skip
"""Dark blue to yellow: even steps for the eye, in gray too, and for those who see few colors."""
_LEVELS = 256
_BINS = 64
_MOST_SIDE = 4096


def _table() -> np.ndarray:
    """Level to color, as 0xffRRGGBB."""
    stops = np.array(_STOPS, float)
    at = np.linspace(0, len(stops) - 1, _LEVELS)
    red, green, blue = (
        np.interp(at, np.arange(len(stops)), part).round().astype(np.uint32) for part in stops.T
    )
    colors: np.ndarray = 0xFF000000 | red << 16 | green << 8 | blue
    return colors.astype(np.uint32)


_COLORS = _table()


def plane_of(values: np.ndarray, number: int) -> np.ndarray:
    """A picture or plane as it is, and one plane of three dimensions."""
    return values if values.ndim < 3 or is_picture(values) else values[min(number, len(values) - 1)]


def planes_of(values: np.ndarray) -> int:
    """How many planes there are to choose from."""
    return len(values) if values.ndim == 3 and not is_picture(values) else 1


def extent_of(values: np.ndarray) -> tuple[float, float] | None:
    """Least and greatest of the finite values; None where there is none."""
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else None


def image_of(plane: np.ndarray) -> QImage:
    """A picture; the values of a plane become colors from the least to the greatest, others are clear.

    Of what is larger than a screen by far only every second, third ... pixel is taken.
    """
    step = max(1, -(-max(plane.shape[:2]) // _MOST_SIDE))
    plane = plane[::step, ::step]
    colors = _pixels(plane) if plane.ndim == 3 else _colors(plane)
    height, width = colors.shape
    content = np.ascontiguousarray(colors)
    return QImage(content.data, width, height, 4 * width, QImage.Format.Format_ARGB32).copy()


def _pixels(picture: np.ndarray) -> np.ndarray:
    parts = picture.astype(np.uint32)
    alpha = parts[..., 3] if picture.shape[2] == 4 else np.uint32(255)
    made: np.ndarray = alpha << 24 | parts[..., 0] << 16 | parts[..., 1] << 8 | parts[..., 2]
    return made.astype(np.uint32)


def _colors(plane: np.ndarray) -> np.ndarray:
    values = plane.astype(float)
    low, high = extent_of(values) or (0.0, 0.0)
    finite = np.isfinite(values)
    share = (np.where(finite, values, low) - low) / ((high - low) or 1.0)
    levels = (share * (_LEVELS - 1)).astype(int)
    return np.where(finite, _COLORS[levels], np.uint32(0)).astype(np.uint32)


def distribution(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges of bins, and how many values are in each."""
    finite = values[np.isfinite(values)].astype(float)
    counts, edges = np.histogram(finite, bins=_BINS)
    return edges, counts
