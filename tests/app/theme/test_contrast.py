"""Every text can be read on every ground, and every field be seen: the contrast of the tokens."""

from __future__ import annotations

import pytest

from app.theme.tokens import TOKENS, Mode, value

GROUNDS = ("ground", "surface", "raised", "sunken", "hover", "selection")
UNDER_FIELDS = ("ground", "surface", "raised", "sunken")
TEXTS = (
    "text", "muted", "faint", "accent", "accent-hover", "positive", "warning", "negative",
    *(name for name in TOKENS if name.startswith("code-")),
    *(name for name in TOKENS if name.startswith("state-") and not name.endswith("-soft")),
)  # fmt: skip
"""Tokens that words are written in; `faint` is that of placeholders and of what is disabled."""
PAIRS = (
    *((name, ground) for name in TEXTS for ground in GROUNDS),
    *((name.removesuffix("-soft"), name) for name in TOKENS if name.endswith("-soft")),
    *(("accent-text", ground) for ground in ("accent", "accent-hover", "negative")),
    ("selection-text", "selection"),
    ("text", "find"),
)
WORN = (Mode.LIGHT, Mode.DARK, Mode.CONTRAST)


def _luminance(color: str) -> float:
    """Relative luminance of `#rrggbb`, as WCAG 2.2 defines it."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast of two colors `#rrggbb`, 1 to 21."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _weak(mode: Mode, pairs: tuple[tuple[str, str], ...], least: float) -> dict[tuple[str, str], float]:
    told = {pair: round(contrast(value(pair[0], mode), value(pair[1], mode)), 2) for pair in pairs}
    return {pair: ratio for pair, ratio in told.items() if ratio < least}


def test_the_measure_is_that_of_the_guidelines() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("mode", WORN)
def test_text_stands_out_from_every_ground(mode: Mode) -> None:
    assert _weak(mode, PAIRS, 4.5) == {}


@pytest.mark.parametrize("mode", WORN)
def test_borders_of_fields_stand_out_from_what_is_around_them(mode: Mode) -> None:
    assert _weak(mode, tuple(("border-field", ground) for ground in UNDER_FIELDS), 3.0) == {}
