"""Curves of very many points, thinned to what a screen can show. No widgets."""

from __future__ import annotations

import numpy as np


def thinned(x: np.ndarray, y: np.ndarray, pixels: int) -> tuple[np.ndarray, np.ndarray]:
    """Keep the least and the greatest value per pixel; few points are returned as they are."""
    if len(y) <= 2 * pixels:
        return x, y
    size = len(y) // pixels
    kept = size * pixels
    parts = np.where(np.isnan(y[:kept]), 0.0, y[:kept]).reshape(pixels, size)
    base = np.arange(pixels) * size
    picks = np.stack((base + parts.argmin(1), base + parts.argmax(1)), axis=1)
    places = np.concatenate((np.sort(picks, axis=1).ravel(), np.arange(kept, len(y))))
    return x[places], y[places]
